import ArgumentParser
import Tandem

struct QueueCommand: InspectorCommand {
    static let configuration = CommandConfiguration(
        commandName: "queue", abstract: "List the pending operations, in the order in which they are sent.")

    enum State: String, ExpressibleByArgument, CaseIterable {
        case pending, attempted, failed, held
    }

    @OptionGroup var location: StoreOptions

    @Argument(help: "The name of a model. Default: all.")
    var model: String?

    @Option(help: "Only operations in this state.")
    var state: State?

    @Option(help: "The maximum number of operations. Default: \(QueryCommand.defaultLimit) in a table, else all.")
    var limit: Int?

    @Flag(help: "Print JSON.")
    var json = false

    func validate() throws {
        guard limit.map({ $0 >= 0 }) ?? true else { throw ValidationError("--limit must be 0 or more.") }
    }

    func run(on console: Console) throws -> CommandStatus {
        try location.withStore(on: console) { store in
            var operations = try model.map { try store.operations(ofModel: $0) } ?? store.operations.all()
            if let state { operations.removeAll { "\($0.state)" != state.rawValue } }
            let shown = operations.prefix(limit ?? (json ? operations.count : QueryCommand.defaultLimit))
            if json {
                try JSONList.print(shown.map { OperationDetails($0, changes: nil).json }, on: console)
                return .success
            }
            var table = TextTable(
                "#ID", "Model", "localID", "Kind", "State", "#Attempts", "Changed at", "Changed", "Error")
            for operation in shown {
                table.append([
                    "\(operation.id)", operation.model, operation.localID.rawValue, "\(operation.kind)",
                    "\(operation.state)", "\(operation.attempts)", DynamicValue.date(operation.changedAt).cell,
                    operation.changedProperties.joined(separator: ", "), operation.error?.message ?? "",
                ])
            }
            try table.print(on: console)
            if shown.count < operations.count {
                console.report("\(shown.count) of \(operations.count) operations. --limit shows others.")
            }
            return .success
        }
    }
}
