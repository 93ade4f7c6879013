/// One consistent state of a store, to be read inside a block. See `Store.read(_:)`.
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
                .transactionOver, "A transaction was used after its block had returned.",
                advice: "Keep what you read, not the transaction.", store: store.path)
        }
    }

    /// The connection, with everything written to it that a query needs.
    ///
    /// - Parameter searching: Whether the query looks into a search index.
    func connectionForReading(searching: Bool) throws -> Connection {
        try checkUsable()
        return connection
    }
}
