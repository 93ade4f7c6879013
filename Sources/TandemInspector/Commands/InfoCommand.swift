import ArgumentParser
import Tandem

struct InfoCommand: InspectorCommand {
    static let configuration = CommandConfiguration(
        commandName: "info", abstract: "Show the file, the models with their counts, and the queue.")

    @OptionGroup var location: StoreOptions

    @Flag(help: "Print JSON.")
    var json = false

    func run(on console: Console) throws -> CommandStatus {
        try location.withStore(on: console) { store in
            let summary = try StoreSummary(store, path: location.store)
            if json { try console.print(summary.json.rendered) } else { try summary.print(on: console) }
            return summary.isDamaged ? .data : .success
        }
    }
}
