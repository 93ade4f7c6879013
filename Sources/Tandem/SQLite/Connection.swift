import Foundation
import GRDB
import GRDBSQLite
import Synchronization

/// A connection to a store's database, with its prepared statements. Only one thread uses it at a time.
final class Connection {
    /// The connection's handle. GRDB's queue owns it, and lives as long as this object.
    let sqlite: OpaquePointer
    /// The queue that keeps the handle open.
    let queue: DatabaseQueue
    /// The store's path, for messages.
    let path: String
    private let cipher: StoreCipher?
    /// The order of the sort keys that this connection writes.
    let collation: Collation

    private var statements: [String: Statement] = [:]
    /// The maximum number of cached query statements. If there are more, all are dropped.
    private static let statementLimit = 512

    /// A reusable buffer for the row being written.
    let row = RowEncoder()
    /// A reusable buffer for the folded keys of the row being written.
    let twins = RowEncoder()

    /// The stamp of the schema with which this connection was opened, or `nil` while it must be looked up.
    var schemaStamp: String? {
        didSet { if let schemaStamp { openedStamp = schemaStamp } }
    }
    private(set) var openedStamp: String?
    /// SQLite's count of other connections' commits when the schema was last checked.
    var dataVersion: StorageValue?

    /// The time for operations that a migration creates.
    var migrationTime = Date()

    /// A flag that ends the current statement. Any thread can set it.
    let mustStop = StopFlag()
    /// The flag of a connection on another thread, if this connection does a part of its work.
    var otherMustStop: StopFlag?
    /// The observers of changed rows: see ``observeRows(_:)``.
    var rowObservers: [any RowObserver] = []
    private weak var commitObserver: (any CommitObserver)?
    /// The caches of other parts of the store, by type.
    private var caches: [(type: ObjectIdentifier, cache: AnyObject)] = []

    init(
        queue: DatabaseQueue, path: String, cipher: StoreCipher? = nil,
        collation: Collation = Collation(language: .root, isNumeric: false)
    ) throws {
        self.queue = queue
        self.path = path
        self.cipher = cipher
        self.collation = collation
        guard let handle = queue.unsafeReentrantRead({ $0.sqliteConnection }) else {
            throw TandemError(.closed, message: "The store is closed.", store: path)
        }
        sqlite = handle
        // GRDB's observation broker traps if COMMITs run that it does not see. Tandem does not use GRDB's observation.
        sqlite3_commit_hook(handle, nil, nil)
        sqlite3_rollback_hook(handle, nil, nil)
        sqlite3_update_hook(handle, nil, nil)
        // GRDB's authorizer collects the columns and events of each prepared statement and drops them only when GRDB
        // prepares one itself.
        sqlite3_set_authorizer(handle, nil, nil)
        // When a task is cancelled, GRDB interrupts only the current statement. A statement that begins a moment later
        // would run to its end. Therefore long statements check for cancellation themselves, about once a millisecond.
        // An iteration runs outside its task, and uses the flag. No statement outlives this object, because all are
        // prepared through it.
        sqlite3_progress_handler(
            handle, 50_000,
            { context in
                let connection = Unmanaged<Connection>.fromOpaque(context!).takeUnretainedValue()
                return Task.isCancelled || connection.mustStop.isSet || connection.otherMustStop?.isSet == true ? 1 : 0
            }, Unmanaged.passUnretained(self).toOpaque())
        try SQLFunctions.register(on: handle)
    }

    /// Finalizes all statements, so that the connection can be closed.
    func finalizeStatements() {
        statements.removeAll()
        caches.removeAll()
    }

    /// Returns the cache of a type, which is created at its first use. ``finalizeStatements()`` releases it.
    func cache<Cache: ConnectionCache>(_ type: Cache.Type) -> Cache {
        let key = ObjectIdentifier(type)
        // For few caches, a linear search is faster than hashing.
        for known in caches where known.type == key { return unsafeDowncast(known.cache, to: type) }
        let cache = Cache()
        caches.append((key, cache))
        return cache
    }

    /// Returns a statement, which is prepared at its first use.
    ///
    /// The connection owns the statement. Callers that step it must reset it before it is requested again.
    func statement(_ sql: String) throws -> Statement {
        if let statement = statements[sql] { return statement }
        if statements.count >= Self.statementLimit { statements.removeAll() }
        let statement = try Statement(sql, on: self)
        statements[sql] = statement
        return statement
    }

    /// Returns a separate statement for an execution that may overlap others of the same text, such as an iteration.
    func uncachedStatement(_ sql: String) throws -> Statement {
        try Statement(sql, on: self)
    }

    /// Runs statements without values.
    func execute(_ sql: String) throws {
        let code = sqlite3_exec(sqlite, sql, nil, nil, nil)
        guard code == SQLITE_OK else { throw error(code, sql: sql) }
    }

    /// Runs a single statement with values.
    func execute(_ sql: String, binding values: [StorageValue]) throws {
        let statement = try statement(sql)
        statement.bind(values)
        try statement.run()
    }

    /// Returns the first column of the first row, or `nil` if there is no row.
    func value(_ sql: String, binding values: [StorageValue] = []) throws -> StorageValue? {
        let statement = try statement(sql)
        defer { statement.reset() }
        statement.bind(values)
        return try statement.step() ? statement.value(0) : nil
    }

    /// Returns a value for each row of a query. The closure must not run the same query.
    func rows<Row>(
        _ sql: String, binding values: [StorageValue] = [], _ read: (Statement) throws -> Row
    ) throws -> [Row] {
        let statement = try statement(sql)
        defer { statement.reset() }
        statement.bind(values)
        var rows: [Row] = []
        while try statement.step() { rows.append(try read(statement)) }
        return rows
    }

    /// Returns the number in the first column of the first row, or 0 if there is no row.
    func count(_ sql: String, binding values: [StorageValue] = []) throws -> Int {
        try rows(sql, binding: values) { Int($0.integer(0)) }.first ?? 0
    }

    /// The number of rows that the last statement changed.
    var changes: Int { Int(sqlite3_changes64(sqlite)) }

    /// The number of rows that all statements have changed since opening, including changes that were undone. If it is
    /// the same, nothing was written.
    var totalChanges: Int64 { sqlite3_total_changes64(sqlite) }

    var lastInsertedRowID: Int64 { sqlite3_last_insert_rowid(sqlite) }

    /// Whether the database can't be written.
    var isReadOnly: Bool { sqlite3_db_readonly(sqlite, "main") != 0 }

    /// Whether another process is in a transaction of the database, or `nil` if SQLite can't tell. Connections of this
    /// process do not count.
    ///
    /// This asks for the locks on the log's read marks. A writer also holds one, from the beginning of its transaction
    /// until its commit is published.
    var hasExternalReaders: Bool? {
        var found: Int32 = 0
        let code = sqlite3_file_control(sqlite, "main", SQLITE_FCNTL_EXTERNAL_READER, &found)
        return code == SQLITE_OK ? found != 0 : nil
    }

    /// Sets the time to wait for locks of other connections, in milliseconds.
    func setBusyTimeout(milliseconds: Int32) { sqlite3_busy_timeout(sqlite, milliseconds) }

    /// Sets the observer of this connection's commits, or removes it. The connection does not retain the observer.
    func setCommitObserver(_ observer: (any CommitObserver)?) {
        commitObserver = observer
        guard observer != nil else {
            sqlite3_commit_hook(sqlite, nil, nil)
            return
        }
        sqlite3_commit_hook(
            sqlite,
            { context in
                Unmanaged<Connection>.fromOpaque(context!).takeUnretainedValue().commitObserver?.willCommit()
                return 0
            }, Unmanaged.passUnretained(self).toOpaque())
    }

    var isInTransaction: Bool { sqlite3_get_autocommit(sqlite) == 0 }

    /// Returns the error that SQLite reported on this connection.
    func error(_ code: Int32, sql: String? = nil) -> any Error {
        if code & 0xFF == SQLITE_INTERRUPT, Task.isCancelled { return CancellationError() }
        let extended = sqlite3_extended_errcode(sqlite)
        if let explained = cipher?.explain(extended) { return explained }
        let message = String(cString: sqlite3_errmsg(sqlite))
        return TandemError(
            sqlite: code & 0xFF == extended & 0xFF ? extended : code, message: message, path: path, sql: sql)
    }
}

/// An observer of commits: see ``Connection/setCommitObserver(_:)``.
protocol CommitObserver: AnyObject {
    /// Called before each commit. It must not run statements.
    func willCommit()
}

/// A flag that ends a connection's current statement. Any thread can set and read it.
final class StopFlag: Sendable {
    private let flag = Atomic<Bool>(false)

    var isSet: Bool {
        get { flag.load(ordering: .relaxed) }
        set { flag.store(newValue, ordering: .relaxed) }
    }
}

extension TandemError {
    /// Whether SQLite rejected a row because of a constraint.
    var isConstraint: Bool { sqliteCode.map { $0 & 0xFF == SQLITE_CONSTRAINT } ?? false }

    /// Whether SQLite rejected a row because of NULL in a column that must have a value.
    var isMissingValue: Bool { sqliteCode == SQLITE_CONSTRAINT | (5 << 8) }

    /// Creates an error from SQLite's result code.
    init(sqlite code: Int32, message: String, path: String, sql: String? = nil) {
        func make(_ kind: Code, text: String, advice: String?) -> TandemError {
            TandemError(kind, message: "\(text) (SQLite: \(message))", advice: advice, store: path, sqliteCode: code)
        }
        switch code & 0xFF {
        case SQLITE_BUSY, SQLITE_LOCKED:
            self = make(
                .busy, text: "The store is being written by another process or another Store.",
                advice: "Try again. If it persists, increase Configuration.busyTimeout "
                    + "or find the writer that does not finish.")
        case SQLITE_FULL:
            self = make(
                .diskFull, text: "The disk is full.",
                advice: "Free space on the disk and write again. Nothing was saved.")
        case SQLITE_READONLY, SQLITE_PERM:
            self = make(
                .readOnly, text: "The store can't be written.",
                advice: "Check the permissions of the file and its folder.")
        case SQLITE_CANTOPEN:
            self = make(
                .cannotOpen, text: "The store can't be opened.",
                advice:
                    "Check that the folder exists, that it is readable and writable, and that the path names a file.")
        case SQLITE_NOTADB:
            self = make(
                .notAStore, text: "The file is not an SQLite database.",
                advice: "Check the path. If the store is encrypted, open it with its key.")
        case SQLITE_CORRUPT:
            self = make(
                .corrupt, text: "The store is damaged.",
                advice: "Restore a backup. Store.checkIntegrity lists the damage.")
        case SQLITE_TOOBIG:
            self = make(
                .invalidValue, text: "A text or a blob is longer than SQLite's limit of a billion bytes.",
                advice: "Store it in a file, and the file's path in the store.")
        case SQLITE_IOERR, SQLITE_NOLFS:
            self = make(.ioFailure, text: "The system could not read or write the store.", advice: "Check the disk.")
        default:
            self = make(.sql, text: "SQLite rejected a statement: \(sql ?? "")", advice: nil)
        }
    }
}
