import ArgumentParser
import Tandem

struct ExportCommand: InspectorCommand {
    static let configuration = CommandConfiguration(
        commandName: "export", abstract: "Print objects as JSON or CSV.",
        discussion: """
            JSON has all values without loss, and `tandem import` reads it: an array for a model, or an object with \
            an array for each model of the store. CSV has a line with the names, then a line for each object. An \
            empty field is nil, and "" is an empty text. Dates in CSV have milliseconds. Files are described, but \
            not exported.
            """)

    @OptionGroup var location: StoreOptions

    @Argument(help: "The name of the model. Default: all models, as JSON.")
    var model: String?

    @OptionGroup var selection: SelectionOptions

    @Flag(help: "Print JSON. This is the default.")
    var json = false

    @Flag(help: "Print CSV.")
    var csv = false

    @Option(help: ArgumentHelp("The columns of the CSV, such as \"localID,shop,points\".", valueName: "names"))
    var columns: String?

    func validate() throws {
        guard !(json && csv) else { throw ValidationError("Only one of --json and --csv can be given.") }
        guard !csv || model != nil else { throw ValidationError("--csv needs a model.") }
        guard columns == nil || csv else { throw ValidationError("--columns needs --csv.") }
        guard model != nil || selection.conditions.isEmpty && selection.sort == nil else {
            throw ValidationError("--where and --sort need a model.")
        }
    }

    func run(on console: Console) throws -> CommandStatus {
        try location.withStore(on: console) { store in
            // All models are exported in the same state.
            try store.read { _ in
                if let model {
                    let results = try selection.results(of: model, in: store)
                    if csv { try printCSV(results, on: console) } else { try printJSON(results, on: console) }
                } else {
                    try printAll(store, on: console)
                }
            }
            return .success
        }
    }

    private func printJSON(_ results: DynamicResults, on console: Console) throws {
        var list = JSONList(console)
        try results.forEach { try list.append($0.json) }
        try list.end()
    }

    private func printAll(_ store: Store, on console: Console) throws {
        let models = store.models.sorted { $0.name < $1.name }
        try console.write("{")
        for (index, model) in models.enumerated() {
            try console.write((index > 0 ? ",\n" : "\n") + JSONOutput.quoted(model.name) + ": ")
            try printJSON(try selection.results(of: model.name, in: store), on: console)
        }
        try console.write("}\n")
    }

    private func printCSV(_ results: DynamicResults, on console: Console) throws {
        let columns =
            try columns.map { try ObjectColumn.named($0, of: results.model) }
            ?? ObjectColumn.all(of: results.model, states: ObjectColumn.State.exported)
        var buffer = OutputBuffer(console)
        try buffer.append(CSVText.line(columns.map(\.title)))
        try results.forEach { object in
            try buffer.append(CSVText.line(columns.map { $0.value(of: object).csvField }))
        }
        try buffer.flush()
    }
}
