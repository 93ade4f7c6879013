import Tandem

/// What a pull has brought.
public struct PullResult: Sendable {
    /// How many objects are new here.
    public internal(set) var inserted = 0
    /// How many objects here were changed.
    public internal(set) var updated = 0
    /// How many objects here went, because the server has deleted them or has them no more.
    public internal(set) var deleted = 0
    /// How many items were here already as they are.
    public internal(set) var unchanged = 0
    /// How many items are of objects that have changes to be sent: they are kept beside those, as the server's side.
    public internal(set) var keptBeside = 0
    /// The items that could not be written: another object here has their unique value, or this version of the app can't
    /// read them. They are kept, and each pull tries them again.
    public internal(set) var refusedRows: [RefusedRow] = []
    /// The items that the server dates more than a day past its own clock. They were taken, and each pull reads them
    /// again until the clock has reached their date. Whoever runs the server should correct them.
    public internal(set) var rowsAheadOfClock: [ServerID] = []
    /// How many pages were asked for.
    public internal(set) var pages = 0
    /// What was sent before, if the table had changes to send.
    public internal(set) var push: PushResult?
    /// Why the push before ended without a result. The pull went on.
    public internal(set) var pushError: SyncError?

    /// Why the pull stopped before its end, where the push before had given values up for the server's: they are in
    /// this result alone. Else it is thrown.
    public internal(set) var stoppedBy: SyncError?

    /// What a pull has brought, for a ``SyncResult`` of the app's own, or a test.
    ///
    /// - Parameters:
    ///   - inserted: How many objects are new here.
    ///   - updated: How many were changed.
    ///   - deleted: How many went.
    ///   - unchanged: How many items were here already as they are.
    ///   - keptBeside: How many were kept beside changes that are to be sent.
    ///   - refusedRows: The items that could not be written.
    ///   - rowsAheadOfClock: The items that the server dates more than a day past its own clock.
    ///   - pages: How many pages were asked for.
    ///   - push: What was sent before.
    ///   - pushError: Why the push before ended without a result.
    ///   - stoppedBy: Why the pull stopped before its end.
    public init(
        inserted: Int = 0, updated: Int = 0, deleted: Int = 0, unchanged: Int = 0, keptBeside: Int = 0,
        refusedRows: [RefusedRow] = [], rowsAheadOfClock: [ServerID] = [], pages: Int = 0, push: PushResult? = nil,
        pushError: SyncError? = nil,
        stoppedBy: SyncError? = nil
    ) {
        self.inserted = inserted
        self.updated = updated
        self.deleted = deleted
        self.unchanged = unchanged
        self.keptBeside = keptBeside
        self.refusedRows = refusedRows
        self.rowsAheadOfClock = rowsAheadOfClock
        self.pages = pages
        self.push = push
        self.pushError = pushError
        self.stoppedBy = stoppedBy
    }

    /// How many objects changed here.
    public var changes: Int { inserted + updated + deleted }
}

/// An item of the server's that could not be written here.
public struct RefusedRow: Sendable {
    /// The model, by its name in Swift.
    public let model: String
    /// The model's table in the store.
    public let table: String
    /// The item's key on the server.
    public let serverID: ServerID
    /// Why not, in a sentence.
    public let message: String
    /// The error, if this pull has met one.
    public let underlying: (any Error)?

    /// An item that could not be written, for a ``PullResult`` of the app's own.
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
