import ArgumentParser
import Tandem

/// The key of an encrypted store: from a file, the environment, or a prompt. Never from an argument, which other users
/// of the machine can see.
struct KeyOptions: ParsableArguments {
    /// The environment variable with the key.
    static let variable = "TANDEM_KEY"

    @Option(
        help: ArgumentHelp(
            "A file with the key. Without it: the variable \(KeyOptions.variable), or a prompt.", valueName: "file"),
        completion: .file())
    var keyFile: String?

    @Flag(help: "The key is 64 hexadecimal digits (or 96, with a salt), and not a passphrase.")
    var rawKey = false

    @OptionGroup var format: FormatOptions

    /// Returns the key of a store; nil if its file is not encrypted.
    func key(of path: String, on console: Console) throws -> CipherKey? {
        let isPlain = Self.isPlain(path)
        guard !isPlain || keyFile != nil else { return nil }
        return try source(prompt: "Key of \(path): ").key(on: console)
    }

    /// Returns the key of a file that is encrypted, as far as its first bytes are readable.
    func requiredKey(of path: String, on console: Console) throws -> CipherKey {
        guard let key = try key(of: path, on: console) else {
            throw CommandFailure(
                .key, message: "The store is not encrypted. (\(path))", advice: "Check the path. Nothing was changed.")
        }
        return key
    }

    private func source(prompt: String) -> KeySource {
        KeySource(variable: Self.variable, option: "--key-file", file: keyFile, isRaw: rawKey, prompt: prompt)
    }

    /// Returns whether a file is missing, empty, or begins as a plain SQLite database does.
    static func isPlain(_ path: String) -> Bool {
        guard let head = DatabaseHead(path: path) else { return true }
        return head.isEmpty || head.isSQLite
    }

    /// Runs a block with the encryption format of the store. If none was given, the block is run with each format until
    /// the key opens the store.
    func withProfile<Value>(_ body: (CipherProfile) throws -> Value) throws -> Value {
        let profiles = format.profiles
        for profile in profiles.dropLast() {
            do {
                return try body(profile)
            } catch TandemError.Code.wrongKey {
                continue
            }
        }
        guard let last = profiles.last else { throw CommandFailure(.usage, message: "No encryption format is known.") }
        return try body(last)
    }
}
