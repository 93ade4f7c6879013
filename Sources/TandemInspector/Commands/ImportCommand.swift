import ArgumentParser
import Foundation
import Tandem

struct ImportCommand: InspectorCommand {
    static let configuration = CommandConfiguration(
        commandName: "import", abstract: "Insert or change objects from JSON or CSV.",
        discussion: """
            An object with a known localID or serverID is changed: only the named properties. Others are inserted. \
            The server's data (server ID, version, times) is not imported. The changes are queued for the server, as \
            those of the app. Either all objects are imported, or none.
            """)

    @OptionGroup var location: StoreOptions

    @Argument(help: "The file, or - for the input.", completion: .file())
    var file: String

    @Argument(help: "The name of the model. Without it, the JSON is an object with an array for each model.")
    var model: String?

    @Flag(help: "The file is CSV with a line of names. It needs a model.")
    var csv = false

    @Flag(help: "Ignore names that the model does not have.")
    var ignoreUnknown = false

    @OptionGroup var permission: WriteOptions

    func validate() throws {
        guard !csv || model != nil else { throw ValidationError("--csv needs a model.") }
    }

    func run(on console: Console) throws -> CommandStatus {
        try permission.check("import")
        let data = try Self.read(file, on: console)
        let counts = try location.withStore(on: console, isWritable: true) { store in
            let parts = try parts(of: data, in: store)
            return try store.write { transaction in
                try parts.map { part in
                    let ids = try transaction.upsert(part.model, json: part.json, ignoringUnknown: ignoreUnknown)
                    return (part.model, ids.count)
                }
            }
        }
        for (model, count) in counts { try console.print("\(model): \(count) objects imported".printable) }
        return .success
    }

    private static func read(_ file: String, on console: Console) throws -> Data {
        if file == "-" { return try console.readInput() }
        guard let data = FileManager.default.contents(atPath: file) else {
            throw CommandFailure(.noInput, message: "The file can't be read. (\(file))", advice: "Check the path.")
        }
        return data
    }

    /// Returns the JSON of each model.
    private func parts(of data: Data, in store: Store) throws -> [(model: String, json: Data)] {
        if let model {
            let definition = try store.model(named: model)
            return [(model, csv ? try CSVImport(definition, data: data).json : data)]
        }
        guard let members = JSONMembers.split(data) else {
            throw CommandFailure(
                .data, message: "The file is not a JSON object with an array for each model.",
                advice: "Give the name of the model if it is an array of objects. Nothing was changed.")
        }
        for member in members { _ = try store.model(named: member.name) }
        return members.map { ($0.name, $0.value) }
    }
}
