import Tandem

/// What is pulled: a model's objects or those of a filter, and by which name it is remembered how far that has come.
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
    /// The name by which the next pull goes on where this one ended; `nil` to fetch everything each time.
    public let queryID: String?
    /// The model's table in the store.
    public let table: String
    /// What is asked of each object; `nil` for all.
    let filter: PredicateNode?

    init(table: String, queryID: String?, filter: PredicateNode? = nil) {
        self.table = table
        self.queryID = queryID
        // A filter that always holds asks the server for what none does.
        if case .constant(true)? = filter { self.filter = nil } else { self.filter = filter }
    }

    /// All of a model's objects.
    public init<M: Model>(_ model: M.Type, queryID: String? = nil) {
        self.init(table: M.__definition.table, queryID: queryID)
    }

    /// Those of a model's objects for which a filter holds. It may ask of the model's own properties only.
    public init<M: Model>(
        _ model: M.Type, queryID: String? = nil, where filter: (M.Columns) -> some PredicateExpression<M>
    ) {
        self.init(
            table: M.__definition.table, queryID: queryID, filter: filter(M.Columns()).asPredicate.node)
    }
}
