import Tandem

/// The result of one query.
public struct PullResult: Sendable {
    /// The number of objects that are new here.
    public internal(set) var inserted = 0
    /// The number of objects here that were changed.
    public internal(set) var updated = 0
    /// The number of objects here that were removed, because the server has deleted them or no longer has them.
    public internal(set) var deleted = 0
    /// The number of items that were already here unchanged.
    public internal(set) var unchanged = 0
    /// The number of items whose objects have unsent changes. Each item is stored separately, as the server's side.
    public internal(set) var deferred = 0
    /// The items that could not be stored: another object here has their unique value, or this version of the app can't
    /// read them. They are stored separately, and each pull retries them.
    public internal(set) var refusedRows: [RefusedRow] = []
    /// The items that the server dates more than a day past its own clock. They were stored. Each pull reads them again
    /// until the clock has reached their date. Correct their dates on the server.
    public internal(set) var rowsAheadOfClock: [ServerID] = []
    /// The number of pages that were requested.
    public internal(set) var pages = 0

    /// Creates the result of a query, for a ``SyncResult`` of the app's own, or a test.
    ///
    /// - Parameters:
    ///   - inserted: The number of objects that are new here.
    ///   - updated: The number of objects that were changed.
    ///   - deleted: The number of objects that were removed.
    ///   - unchanged: The number of items that were already here unchanged.
    ///   - deferred: The number of deferred items of objects with unsent changes.
    ///   - refusedRows: The items that could not be stored.
    ///   - rowsAheadOfClock: The items that the server dates more than a day past its own clock.
    ///   - pages: The number of pages that were requested.
    public init(
        inserted: Int = 0, updated: Int = 0, deleted: Int = 0, unchanged: Int = 0, deferred: Int = 0,
        refusedRows: [RefusedRow] = [], rowsAheadOfClock: [ServerID] = [], pages: Int = 0
    ) {
        self.inserted = inserted
        self.updated = updated
        self.deleted = deleted
        self.unchanged = unchanged
        self.deferred = deferred
        self.refusedRows = refusedRows
        self.rowsAheadOfClock = rowsAheadOfClock
        self.pages = pages
    }

    /// The number of objects that changed here.
    public var changes: Int { inserted + updated + deleted }

    /// Returns the combined result of two queries.
    static func + (lhs: Self, rhs: Self) -> Self {
        Self(
            inserted: lhs.inserted + rhs.inserted, updated: lhs.updated + rhs.updated,
            deleted: lhs.deleted + rhs.deleted, unchanged: lhs.unchanged + rhs.unchanged,
            deferred: lhs.deferred + rhs.deferred, refusedRows: lhs.refusedRows + rhs.refusedRows,
            rowsAheadOfClock: lhs.rowsAheadOfClock + rhs.rowsAheadOfClock, pages: lhs.pages + rhs.pages)
    }
}

/// A server item that could not be stored here.
public struct RefusedRow: Sendable {
    /// The model, by its name in Swift.
    public let model: String
    /// The model's table in the store.
    public let table: String
    /// The item's key on the server.
    public let serverID: ServerID
    /// The reason, as one sentence.
    public let message: String
    /// The error, if this pull threw it.
    public let underlying: (any Error)?

    /// Creates a row that could not be stored, for a ``PullResult`` of the app's own.
    ///
    /// - Parameters:
    ///   - model: The model, by its name in Swift.
    ///   - table: The model's table in the store.
    ///   - serverID: The item's key on the server.
    ///   - message: The reason, as one sentence.
    ///   - underlying: The error that caused it, if any.
    public init(
        model: String, table: String, serverID: ServerID, message: String, underlying: (any Error)? = nil
    ) {
        self.model = model
        self.table = table
        self.serverID = serverID
        self.message = message
        self.underlying = underlying
    }
}
