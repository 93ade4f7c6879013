import Foundation

/// A write transaction of a store, inside a block. It is atomic. See `Store.write(_:)`.
///
/// ## Topics
/// ### Objects
/// - ``insert(_:)``
/// - ``insert(contentsOf:)``
/// - ``upsert(_:)``
/// - ``update(_:)``
/// - ``delete(_:)->Bool``
/// - ``delete(_:)->Int``
/// - ``undelete(_:)->M``
/// - ``undelete(_:)->Int``
public final class WriteTransaction: ReadTransaction {
    /// The transaction's changes, for observers.
    var touched = TouchedTables()
    /// Tokens of the subscriptions that are not notified of the transaction.
    var quiet: Set<LiveToken> = []
    /// Whether another process has committed since the store's last transaction.
    var hasExternalCommit = false
    /// Whether the transaction completes a migration of this store, which began it.
    private(set) var isMigrating = false
    /// The error that ended the transaction, if another process has changed the schema.
    var foreignSchemaChange: TandemError?
    /// Closures that notify observers, after the transaction. They run after the writer is released.
    private(set) var notifications: [@Sendable () -> Void] = []
    /// The participants, which are freed with the transaction.
    private var participants: [any CommitParticipant] = []

    /// Search index entries that are outdated.
    var pendingSearch = PendingSearch()
    /// A cache of the targets of references.
    var knownTargets = KnownTargets()
    /// Whether a page of a server's items is being applied, during which no object gets another server ID.
    var isApplyingPage = false {
        didSet { if !isApplyingPage { knownTargets.forgetServerIDs() } }
    }
    /// The data of other parts of the store.
    private var slots = TransactionSlots()
    /// Whether the stored references or attachments of the current row differ from the given ones.
    var hasRewrittenLinks = false
    /// The number of changed rows after which the search indexes are updated before the transaction ends. It limits the
    /// memory.
    var pendingSearchLimit = 20_000
    /// The maximum number of new rows that one statement inserts. More rows in a statement gain less than 2 %.
    var insertLimit = 32

    /// The error of a change that failed after its first statement. The transaction must then not be committed.
    private(set) var brokenBy: (any Error)?

    /// The store's delegate, read once.
    let delegate: any RowWriteDelegate
    /// The local time of the transaction's changes, read once.
    lazy var now: Date = store.configuration.now()

    override init(store: Store, connection: Connection) {
        delegate = store.rowWriteDelegate
        super.init(store: store, connection: connection)
    }

    /// Returns the slot of a type, which is created at its first use and lives as long as the transaction.
    func slot<Slot: TransactionSlot>(_ type: Slot.Type) -> Slot { slots.slot(type) }

    override func checkUsable() throws {
        try super.checkUsable()
        if let brokenBy {
            throw TandemError(
                .transactionBroken, message: "An earlier change in this transaction failed half-way.",
                advice: "Let the error end the block, so that nothing is saved.", store: store.path,
                underlying: brokenBy)
        }
    }

    override func connectionForReading(searching: Bool) throws -> Connection {
        try checkUsable()
        if searching { try flushSearch() }
        return connection
    }

    /// Runs the outermost block.
    ///
    /// - Parameters:
    ///   - isCancellable: Whether the transaction is rolled back if its task is cancelled before the commit.
    ///   - isBegun: Whether a migration has already begun the transaction.
    func run<T>(isCancellable: Bool, isBegun: Bool = false, _ body: () throws -> T) throws -> T {
        if store.configuration.isReadOnly {
            throw TandemError(
                .readOnly, message: "The store was opened read-only.",
                advice: "Open it without Configuration.isReadOnly.",
                store: store.path)
        }
        isMigrating = isBegun
        if !isBegun { try connection.begin() }
        participants = store.commitParticipants(on: connection, isMigrating: isBegun)
        defer {
            for participant in participants {
                participant.end(self)
                if let notification = participant.notification() { notifications.append(notification) }
            }
        }
        do {
            for participant in participants { try participant.begin(self) }
            let result = try body()
            isOver = false
            try checkUsable()
            try flushSearch()
            isOver = true
            if isCancellable { try Task.checkCancellation() }
            for participant in participants { try participant.prepare(self) }
            try commit(participants[...])
            for participant in participants { participant.didCommit(self) }
            return result
        } catch {
            isOver = true
            connection.rollBack()
            for participant in participants { participant.didRollBack(self) }
            throw error
        }
    }

    /// Commits inside the ``CommitParticipant/commit(_:with:)`` of each participant.
    private func commit(_ participants: ArraySlice<any CommitParticipant>) throws {
        guard let participant = participants.first else { return try connection.commit() }
        try participant.commit(self) { try commit(participants.dropFirst()) }
    }

    /// Runs a block inside this transaction. If it throws, its changes are undone.
    func nested<T>(
        withoutNotifying quiet: Set<LiveToken>, body: (WriteTransaction) throws -> T
    ) throws -> T {
        try checkUsable()
        let outerQuiet = self.quiet
        self.quiet.formUnion(quiet)
        do {
            return try savepoint { try body(self) }
        } catch {
            self.quiet = outerQuiet
            throw error
        }
    }

    /// Runs changes that are undone together if one of them fails.
    func savepoint<T>(_ body: () throws -> T) throws -> T {
        try flushSearch()
        try connection.statement("SAVEPOINT tandem").run()
        do {
            let result = try body()
            try flushSearch()
            try connection.statement("RELEASE tandem").run()
            return result
        } catch {
            pendingSearch.removeAll()
            knownTargets.removeAll()
            slots.didRollBackToSavepoint()
            if connection.isInTransaction {
                do {
                    try connection.statement("ROLLBACK TO tandem").run()
                    try connection.statement("RELEASE tandem").run()
                    brokenBy = nil
                } catch let failure {
                    brokenBy = failure
                }
            } else {
                brokenBy = error
            }
            throw error
        }
    }

    /// Runs the statements that follow a change's first one. If one fails, the transaction is broken, because the
    /// change may lack its operation.
    func poisoningOnError<T>(_ body: () throws -> T) throws -> T {
        do {
            return try body()
        } catch {
            brokenBy = error
            throw error
        }
    }
}

/// The tables that a transaction has changed.
struct TouchedTables: Sendable {
    /// Tables whose operations changed.
    private(set) var operations: Set<String> = []
    /// Whether the state of files changed.
    private(set) var hasFiles = false
    /// The last recorded table. Changes come in runs, and a set would hash each name.
    private var latest: ObjectIdentifier?

    mutating func recordOperation(of table: TableLayout) {
        guard latest != ObjectIdentifier(table) else { return }
        latest = ObjectIdentifier(table)
        operations.insert(table.table)
    }

    mutating func recordOperation(ofTable name: String) {
        operations.insert(name)
    }

    mutating func recordFiles() { hasFiles = true }
}
