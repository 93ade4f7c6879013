import Tandem
import TandemInspector

/// The first operations of the queue, or those with errors.
struct QueuePage {
    let json: JSONOutput

    /// Reads operations.
    ///
    /// - Parameters:
    ///   - errors: Whether only operations with errors are read, with their values.
    ///   - limit: The maximum number of operations.
    ///   - store: The store.
    init(errors: Bool, limit: Int, of store: Store) throws {
        let total = try store.operations.count()
        let failed = try store.operations.count(in: .failed)
        let views: [OperationView]
        var isComplete = true
        if errors {
            var operations = try store.operations.all(in: .failed, limit: limit)
            // Operations that are sent again after an error are among the first of the queue.
            let first = try store.operations.first(limit)
            operations += first.filter { $0.error != nil && $0.state != .failed }
            isComplete = failed <= limit && total <= limit
            views = try operations.map { OperationView($0, changes: try store.changes(of: $0)) }
        } else {
            let operations = try store.operations.first(limit)
            isComplete = operations.count == total
            views = operations.map { OperationView($0, changes: nil) }
        }
        let members: [(String, JSONOutput)] = [
            ("total", .integer(total)), ("failed", .integer(failed)), ("isComplete", .bool(isComplete)),
            ("operations", .array(views.map(\.json))),
        ]
        json = .object(members)
    }
}
