import ArgumentParser
import Tandem

/// The new key of a store: from a file, the environment, or a prompt.
struct NewKeyOptions: ParsableArguments {
    /// The environment variable with the new key.
    static let variable = "TANDEM_NEW_KEY"

    @Option(
        help: ArgumentHelp(
            "A file with the new key. Without it: the variable \(NewKeyOptions.variable), or a prompt.",
            valueName: "file"),
        completion: .file())
    var newKeyFile: String?

    @Flag(help: "The new key is 64 hexadecimal digits, and not a passphrase.")
    var newRawKey = false

    @Option(help: "The new encryption format.")
    var newProfile: FormatOptions.Format?

    /// Returns the new key. A prompt asks for it twice.
    func key(on console: Console) throws -> CipherKey {
        try KeySource(
            variable: Self.variable, option: "--new-key-file", file: newKeyFile, isRaw: newRawKey,
            prompt: "New key: ", repetition: "New key again: "
        ).key(on: console)
    }
}
