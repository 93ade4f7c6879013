import Foundation

/// A write to a store, inside a block: all of it is kept, or nothing. See `Store.write(from:_:)`.
///
/// ## Topics
/// ### Objects
/// - ``insert(_:)``
/// - ``insert(contentsOf:)``
/// - ``upsert(_:)``
/// - ``update(_:)``
/// - `delete(_:)`
/// - `undelete(_:)`
public final class WriteTransaction: ReadTransaction {
    /// Who makes the changes.
    public internal(set) var origin: WriteOrigin

    /// What the transaction has changed, for those who watch.
    var touched = TouchedTables()
    /// Subscriptions that are not told of it.
    var quiet: Set<LiveToken> = []
    /// Subscriptions that have news, once it is over.
    private(set) var wakeUp = LiveWakeUp()

    /// Search index entries to be brought in step with their rows.
    var pendingSearch = PendingSearch()
    /// What is known in this transaction of objects that references name.
    var knownTargets = KnownTargets()
    /// What is known in this transaction of what sync keeps beside the objects.
    var knownBeside = KnownBeside()
    /// What it has done to files.
    var files = TouchedFiles()
    /// Whether references or attachments of the row being written were replaced by what the store has for them.
    var hasRewrittenLinks = false
    /// Past this many changed rows the search indexes are brought in step before the transaction ends, to bound its
    /// memory.
    var pendingSearchLimit = 20_000

    /// Set when a change failed after its first statement: the transaction must not be committed.
    private(set) var brokenBy: (any Error)?

    /// The local time of the transaction's changes, read once.
    lazy var now: Date = store.configuration.now()

    init(store: Store, connection: Connection, origin: WriteOrigin) {
        self.origin = origin
        super.init(store: store, connection: connection)
    }

    override func checkUsable() throws {
        try super.checkUsable()
        if let brokenBy {
            throw TandemError(
                .transactionBroken, "An earlier change in this transaction failed half-way.",
                advice: "Let the error end the block; nothing of it is kept.", store: store.path, underlying: brokenBy)
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
    ///   - isCancellable: Whether a task that is cancelled by the time of the commit rolls back.
    ///   - isBegun: Whether the transaction has begun already, by a migration.
    func run<T>(isCancellable: Bool, isBegun: Bool = false, _ body: () throws -> T) throws -> T {
        if store.configuration.isReadOnly {
            throw TandemError(
                .readOnly, "The store was opened read-only.", advice: "Open it without Configuration.isReadOnly.",
                store: store.path)
        }
        // What keeps files that were not committed goes with the transaction.
        defer { connection.row.drafts = [] }
        if !isBegun { try connection.begin() }
        let capture = store.live.beginCapture(on: connection)
        defer { capture.end() }
        do {
            if !isBegun, try hasForeignCommit() { wakeUp.add(store.live.noteForeignCommit()) }
            store.live.noteOwnWrite()
            let result = try body()
            isOver = false
            try checkUsable()
            try flushSearch()
            isOver = true
            if isCancellable { try Task.checkCancellation() }
            let news = try committingFiles {
                try store.live.commit(capture.seal(), withoutNotifying: quiet) {
                    try connection.statement(.commit).run()
                }
            }
            wakeUp.add(news)
            return result
        } catch {
            isOver = true
            if capture.tuning.has(.rolledBackPublished), connection.isInTransaction {
                wakeUp.add(store.live.commit(capture.seal(), withoutNotifying: quiet) {})
            }
            connection.rollBack()
            connection.schemaStamp = nil
            throw error
        }
    }

    /// Whether another process has committed since the last transaction.
    private func hasForeignCommit() throws -> Bool {
        do {
            return try SchemaKeeper.checkUnchanged(connection, store: store)
        } catch let error as TandemError where error.code == .foreignSchemaChange {
            // Told when this is over: whoever is told may write.
            wakeUp.failure = error
            throw error
        }
    }

    /// Runs a block inside this one. If it throws, what it did is undone.
    func nested<T>(
        _ origin: WriteOrigin, withoutNotifying quiet: Set<LiveToken>, _ body: (WriteTransaction) throws -> T
    ) throws -> T {
        try checkUsable()
        let outerQuiet = self.quiet
        self.quiet.formUnion(quiet)
        let outer = self.origin
        self.origin = origin
        // What a reference names depends on who says it: a server may mean a server ID.
        if origin != outer { knownTargets.removeAll() }
        defer {
            if origin != outer { knownTargets.removeAll() }
            self.origin = outer
        }
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
            knownBeside = KnownBeside()
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

    /// Runs the statements that follow a change's first one. If one fails, the transaction is broken: the change may
    /// be there without its operation.
    func following<T>(_ body: () throws -> T) throws -> T {
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
    /// Whether it has changed how files stand.
    private(set) var hasFiles = false
    /// The one noted last: changes come in runs, and a set of names hashes each.
    private var latest: ObjectIdentifier?

    mutating func noteOperation(of table: TableLayout) {
        guard latest != ObjectIdentifier(table) else { return }
        latest = ObjectIdentifier(table)
        operations.insert(table.table)
    }

    mutating func noteOperation(ofTable name: String) {
        operations.insert(name)
    }

    mutating func noteFiles() { hasFiles = true }
}
