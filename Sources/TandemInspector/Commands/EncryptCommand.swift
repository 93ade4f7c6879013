import ArgumentParser
import Tandem

struct EncryptCommand: InspectorCommand {
    static let configuration = CommandConfiguration(
        commandName: "encrypt", abstract: "Encrypt a plain store and its files, in place.",
        discussion: """
            The store must not be open. If the process dies, the store is either plain or encrypted. The bytes of the \
            plain file stay on the disk until the system overwrites them. Without the key, the data is lost.
            """)

    @Argument(help: "The path of the store.", completion: .file())
    var store: String

    @OptionGroup(title: "New key") var newKey: NewKeyOptions
    @OptionGroup var permission: WriteOptions

    func run(on console: Console) throws -> CommandStatus {
        try permission.check("encrypt")
        guard KeyOptions.isPlain(store) else {
            throw CommandFailure(
                .key, message: "The file is encrypted already, or not a store. (\(store))",
                advice: "Change the key of an encrypted store by `tandem rekey`.")
        }
        let format = newKey.newProfile ?? .aes256gcm
        try Store.encrypt(at: store, key: try newKey.key(on: console), profile: format.defaultProfile)
        try console.print("Encrypted \(store)".printable)
        return .success
    }
}
