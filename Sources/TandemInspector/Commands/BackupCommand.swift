import ArgumentParser
import Tandem

struct BackupCommand: InspectorCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup", abstract: "Copy the store and its files, also while the app uses it.",
        discussion: """
            The copy has the same key. An existing target is replaced only if it is a store with this key. The target \
            never contains a partial copy.
            """)

    @OptionGroup var location: StoreOptions

    @Argument(help: "The path of the copy.", completion: .file())
    var target: String

    func run(on console: Console) throws -> CommandStatus {
        try location.withStore(on: console) { try $0.backup(to: target) }
        try console.print("Copied to \(target)".printable)
        return .success
    }
}
