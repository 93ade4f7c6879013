import ArgumentParser
import Tandem

/// A selection of a model's objects, and their order.
struct SelectionOptions: ParsableArguments {
    @Option(
        name: .customLong("where"), parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            "A condition, such as \"shop beginsWith 'лен' and points > 10\". Several must all hold.",
            valueName: "condition"))
    var conditions: [String] = []

    // An order can begin with a minus sign.
    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("The order, such as \"points desc, owner.name\".", valueName: "properties"))
    var sort: String?

    @Flag(help: "Include objects that are deleted here, and not yet on the server.")
    var deleted = false

    /// Returns the selected objects of a model.
    func results(of model: String, in store: Store) throws -> DynamicResults {
        var results = try store.objects(named: model)
        if deleted { results = results.includingDeleted() }
        for condition in conditions { results = try results.where(condition) }
        if let sort { results = try results.sorted(by: DynamicSort.keys(sort)) }
        return results
    }
}
