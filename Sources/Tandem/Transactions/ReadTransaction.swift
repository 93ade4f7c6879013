/// A consistent state of a store, for reading inside a block. See `Store.read(_:)`.
public class ReadTransaction {
    /// The store.
    public let store: Store
    let connection: Connection
    /// Whether the block has returned.
    var isOver = false

    init(store: Store, connection: Connection) {
        self.store = store
        self.connection = connection
    }

    func checkUsable() throws {
        if isOver {
            throw TandemError(
                .transactionOver, message: "A transaction was used after its block had returned.",
                advice: "Keep the objects that you read, and not the transaction.", store: store.path)
        }
    }

    /// Returns the connection, after pending writes that a query needs.
    ///
    /// - Parameter searching: Whether the query uses a search index.
    func connectionForReading(searching: Bool) throws -> Connection {
        try checkUsable()
        return connection
    }
}
