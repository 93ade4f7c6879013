import ArgumentParser
import Tandem

struct ErrorsCommand: InspectorCommand {
    static let configuration = CommandConfiguration(
        commandName: "errors", abstract: "Show the operations with errors, with the values before, here and there.",
        discussion: """
            An operation that failed waits for the user or for a new change. One with an error that is still pending \
            is sent again.
            """)

    @OptionGroup var location: StoreOptions

    @Argument(help: "The name of a model. Default: all.")
    var model: String?

    @Flag(help: "Print JSON.")
    var json = false

    func run(on console: Console) throws -> CommandStatus {
        try location.withStore(on: console) { store in
            let errors = try store.read { transaction in
                try (model.map { try store.operations(ofModel: $0) } ?? transaction.operations.all())
                    .filter { $0.error != nil || $0.state == .failed }
                    .map { OperationDetails($0, changes: try store.changes(of: $0)) }
            }
            if json {
                try JSONList.print(errors.map(\.json), on: console)
                return .success
            }
            if errors.isEmpty { try console.print("No operation has an error.") }
            for (index, error) in errors.enumerated() {
                if index > 0 { try console.print() }
                try error.print(on: console)
            }
            return .success
        }
    }
}
