/// A consistent state of a store, for reading inside a block. See `Store.read(_:)`.
public class ReadTransaction {
    /// The store.
    public let store: Store
    let connection: Connection
    /// Whether the block has returned.
    var isOver = false
    /// The state that the transaction reads, for the object cache. A write transaction does not use the cache, so that
    /// it sees its own changes, and others do not.
    private var readerState = ObjectCache.ReaderState.unknown

    init(store: Store, connection: Connection) {
        self.store = store
        self.connection = connection
    }

    /// Creates a transaction that reads objects from the store's cache. It must not have begun in SQLite.
    convenience init(caching store: Store, connection: Connection) {
        self.init(store: store, connection: connection)
        if let cache = store.objectCache { readerState = cache.readerState() }
    }

    /// Returns the number of the transaction's state in the cache, or `nil` if it must not use the cache.
    @inline(__always)
    func cachedState(in cache: ObjectCache) throws -> UInt64? {
        if case .number(let number) = readerState { return number }
        guard case .since = readerState else { return nil }
        return try findCachedState(in: cache)
    }

    private func findCachedState(in cache: ObjectCache) throws -> UInt64? {
        // The first read fixes the state. If there was one already, this one does not change it.
        _ = try connection.value(SchemaStatement.dataVersion)
        let number = cache.number(of: readerState)
        readerState = number.map { .number($0) } ?? .unknown
        return number
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
