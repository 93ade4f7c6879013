import ArgumentParser
import Tandem

struct GetCommand: InspectorCommand {
    static let configuration = CommandConfiguration(
        commandName: "get", abstract: "Show an object with its references, links, files and pending operation.",
        discussion: "A deleted object is shown too, until the server has acknowledged the delete.")

    @OptionGroup var location: StoreOptions

    @Argument(help: "The name of the model.")
    var model: String

    @Argument(help: "The local ID of the object, or its server ID.")
    var id: String

    @Flag(help: "Print JSON.")
    var json = false

    func run(on console: Console) throws -> CommandStatus {
        try location.withStore(on: console) { store in
            // All details come from the same state.
            guard let details = try store.read({ _ in try ObjectDetails(model: model, id: id, in: store) }) else {
                console.report("tandem: \(model) has no object with the ID \(id).".printable)
                return .negative
            }
            if json { try console.print(details.json.rendered) } else { try details.print(on: console) }
            return .success
        }
    }
}
