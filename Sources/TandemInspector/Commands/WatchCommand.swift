import ArgumentParser
import OpenCombine
import Tandem

struct WatchCommand: InspectorCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch", abstract: "Print each insertion, change and deletion, by any process, until Ctrl-C.",
        discussion: """
            A line begins with + for an object that is new in the result, ~ for a changed one, and - for one that is \
            no longer in the result. With --json, each line is an object. The selected objects are kept in memory.
            """)

    @OptionGroup var location: StoreOptions

    @Argument(help: "The name of the model.")
    var model: String

    @OptionGroup var selection: SelectionOptions

    @Flag(help: "Print the current objects as insertions first.")
    var initial = false

    @Option(help: ArgumentHelp("End after this number of commits with changes.", valueName: "count"))
    var commits: Int?

    @Flag(help: "Print JSON.")
    var json = false

    func validate() throws {
        guard commits.map({ $0 > 0 }) ?? true else { throw ValidationError("--commits must be 1 or more.") }
    }

    func run(on console: Console) throws -> CommandStatus {
        try location.withStore(on: console) { store in
            let results = try selection.results(of: model, in: store)
            let printer = ChangePrinter(
                name: results.model.name, printsInitial: initial, limit: commits, isJSON: json, console: console)
            let endWatch = console.whenStopped { printer.end(nil) }
            defer { endWatch() }
            let subscription = results.changesetPublisher.sink(
                receiveCompletion: { @Sendable completion in
                    if case .failure(let error) = completion { printer.end(error) } else { printer.end(nil) }
                },
                receiveValue: { @Sendable in printer.print($0) })
            printer.wait()
            subscription.cancel()
            try printer.finish()
            return .success
        }
    }
}
