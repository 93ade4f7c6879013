import Tandem

/// A query to pull: all objects of a model, or those that match a filter, with the name under which the position is
/// stored.
///
/// For example:
///
/// ```swift
/// try await sync.synchronize([
///     PullQuery(Person.self, queryID: "people"),
///     PullQuery(ToDo.self, queryID: "unfinished") { !$0.isDone },
/// ])
/// ```
public struct PullQuery: Sendable {
    /// The name under which the next pull continues where this one ended; `nil` to fetch everything each time.
    public let queryID: String?
    /// The model's table in the store.
    public let table: String
    /// The condition on each object; `nil` for all objects.
    let filter: PredicateNode?

    init(table: String, queryID: String?, filter: PredicateNode? = nil) {
        self.table = table
        self.queryID = queryID
        // A filter that is always true is equivalent to none.
        if case .constant(true)? = filter { self.filter = nil } else { self.filter = filter }
    }

    /// Creates a query of all objects of a model.
    ///
    /// - Parameters:
    ///   - model: The model of the objects.
    ///   - queryID: The name under which the next pull continues; `nil` to fetch everything each time.
    public init<M: Model>(_ model: M.Type, queryID: String? = nil) {
        self.init(table: M.__definition.table, queryID: queryID)
    }

    /// Creates a query of the objects that match a filter. The filter may use the model's own properties only.
    ///
    /// - Parameters:
    ///   - model: The model of the objects.
    ///   - queryID: The name under which the next pull continues; `nil` to fetch everything each time.
    ///   - filter: Returns the condition from the model's properties: `{ !$0.isDone }`.
    public init<M: Model>(
        _ model: M.Type, queryID: String? = nil, where filter: (M.Columns) -> some PredicateExpression<M>
    ) {
        self.init(
            table: M.__definition.table, queryID: queryID, filter: filter(M.Columns()).asPredicate.node)
    }
}
