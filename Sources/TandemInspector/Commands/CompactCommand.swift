import ArgumentParser
import Tandem

struct CompactCommand: InspectorCommand {
    static let configuration = CommandConfiguration(
        commandName: "compact", abstract: "Rewrite the file without the free space of deleted objects.",
        discussion: "It needs memory for the whole new file. Writers wait.")

    @OptionGroup var location: StoreOptions
    @OptionGroup var permission: WriteOptions

    func run(on console: Console) throws -> CommandStatus {
        try permission.check("compact")
        let before = StoreSummary.size(of: location.store)
        try location.withStore(on: console, isWritable: true) { try $0.compact() }
        try console.print("\(before) bytes before, \(StoreSummary.size(of: location.store)) bytes now")
        return .success
    }
}
