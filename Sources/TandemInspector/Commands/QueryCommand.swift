import ArgumentParser
import Tandem

struct QueryCommand: InspectorCommand {
    static let configuration = CommandConfiguration(
        commandName: "query", abstract: "List objects of a model.",
        discussion: """
            Examples of conditions:
              points > 10 and shop beginsWith 'лен'
              barcode in ('1', '2') or owner is nil
              owner.name contains 'Ада'
              any badges (name == 'gold')
              not isSynced and updatedAt > '2026-01-01'
            The article "Opening a store without types" describes them all.
            """)

    /// The number of objects in a table without --limit.
    static let defaultLimit = 100

    @OptionGroup var location: StoreOptions

    @Argument(help: "The name of the model.")
    var model: String

    @OptionGroup var selection: SelectionOptions

    @Option(help: "The maximum number of objects. Default: \(QueryCommand.defaultLimit) in a table, else all.")
    var limit: Int?

    @Option(help: "The number of objects to skip.")
    var offset = 0

    @Option(help: ArgumentHelp("The columns of the table, such as \"shop,points\".", valueName: "names"))
    var columns: String?

    @Flag(help: "Show the state as well: server ID, synced, deleted, version and times.")
    var state = false

    @Flag(help: "Print only the number of objects.")
    var count = false

    @Flag(help: "Print JSON: an array with an object in each line.")
    var json = false

    @Flag(help: "Print the SQL and its plan, and run nothing.")
    var explain = false

    func validate() throws {
        guard limit.map({ $0 >= 0 }) ?? true else { throw ValidationError("--limit must be 0 or more.") }
        guard offset >= 0 else { throw ValidationError("--offset must be 0 or more.") }
        guard [count, json, explain].count(where: { $0 }) <= 1 else {
            throw ValidationError("Only one of --count, --json and --explain can be given.")
        }
    }

    func run(on console: Console) throws -> CommandStatus {
        try location.withStore(on: console) { store in
            let all = try selection.results(of: model, in: store)
            var results = offset > 0 ? all.offset(offset) : all
            if let limit { results = results.limit(limit) }
            if count {
                try console.print("\(try results.count())")
            } else if explain {
                try console.print("\(try results.explain())")
            } else if json {
                var list = JSONList(console)
                try results.forEach { try list.append($0.json) }
                try list.end()
            } else {
                try printTable(results, of: all, on: console)
            }
            return .success
        }
    }

    private func printTable(_ results: DynamicResults, of all: DynamicResults, on console: Console) throws {
        let model = results.model
        let columns =
            try columns.map { try ObjectColumn.named($0, of: model) }
            ?? ObjectColumn.all(of: model, states: state ? ObjectColumn.State.allCases : [.localID])
        var table = TextTable(columns.map { TextTable.Column(title: $0.title, isNumber: $0.isNumber) })
        let limit = limit ?? Self.defaultLimit
        var shown = 0
        try results.limit(limit).forEach { object in
            table.append(columns.map { $0.value(of: object).cell })
            shown += 1
        }
        try table.print(on: console)
        // Fewer objects than the limit, from the first one on, are all.
        guard shown == limit || offset > 0 else { return }
        let total = try all.count()
        if shown < total { console.report("\(shown) of \(total) objects. --limit and --offset show others.") }
    }
}
