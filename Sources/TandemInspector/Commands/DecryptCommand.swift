import ArgumentParser
import Tandem

struct DecryptCommand: InspectorCommand {
    static let configuration = CommandConfiguration(
        commandName: "decrypt", abstract: "Copy an encrypted store and its files to a plain store.",
        discussion: "The encrypted store is not changed. Everything in the copy is readable without a key.")

    @OptionGroup var location: StoreOptions

    @Argument(help: "The path of the plain copy. An existing target is replaced only if it is a plain store.")
    var target: String

    func run(on console: Console) throws -> CommandStatus {
        _ = try location.withStore(on: console) { store in
            guard store.isEncrypted else {
                throw CommandFailure(
                    .key, message: "The store is not encrypted. (\(location.store))",
                    advice: "Copy it by `tandem backup`.")
            }
            try store.exportPlain(to: target)
        }
        try console.print("Copied to \(target), without encryption".printable)
        return .success
    }
}
