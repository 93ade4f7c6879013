import PageServer
import Tandem
import TandemInspector

/// The objects that a table shows: a model, a condition, a search and an order.
struct RowQuery: Sendable {
    /// The texts of a query.
    struct Key: Hashable, Sendable {
        let model: String
        let condition: String
        let search: String
        let order: String
        let deleted: String
    }

    let key: Key
    let results: DynamicResults

    /// Reads a query from the parameters of a request.
    ///
    /// - Throws: ``WebFailure`` with the field of an error.
    init(_ parameters: QueryParameters, of store: Store, limits: BrowserLimits) throws {
        let model = try parameters.require("model")
        let key = Key(
            model: model, condition: parameters["where"] ?? "", search: parameters["search"] ?? "",
            order: parameters["sort"] ?? "", deleted: parameters["deleted"] ?? "")
        for (field, text) in [("where", key.condition), ("search", key.search), ("sort", key.order)]
        where text.utf8.count > limits.text {
            throw WebFailure(.badRequest, message: "The text is too long.", fields: [field: "The text is too long."])
        }
        var results = try store.objects(named: model)
        switch key.deleted {
        case "with": results = results.includingDeleted()
        case "only": results = results.onlyDeleted()
        default: break
        }
        if !key.condition.isEmpty {
            results = try Self.checking("where") { try results.where(key.condition) }
        }
        if !key.search.isEmpty {
            let condition = TextSearch.condition(key.search, in: results.model)
            results = try Self.checking("search") { try results.where(condition) }
        }
        if !key.order.isEmpty {
            results = try Self.checking("sort") { try results.sorted(by: DynamicSort.keys(key.order)) }
        }
        self.key = key
        self.results = results
    }

    /// Runs a body, whose errors are shown at a field.
    private static func checking(_ field: String, _ body: () throws -> DynamicResults) throws -> DynamicResults {
        do {
            return try body()
        } catch let error as QuerySyntaxError {
            throw WebFailure(.badRequest, message: error.description, fields: [field: error.description])
        } catch let error as TandemError {
            let text = CommandFailure(error)?.sentences ?? error.message
            throw WebFailure(.badRequest, message: text, fields: [field: text])
        }
    }
}
