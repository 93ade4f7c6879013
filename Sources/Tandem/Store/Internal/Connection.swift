import Foundation
import GRDB
import GRDBSQLite
import Synchronization

/// One connection to a store's database, with its prepared statements. Used by one thread at a time.
final class Connection {
    /// The connection's handle. GRDB's queue, which owns it, lives as long as this object.
    let sqlite: OpaquePointer
    /// Keeps the handle open.
    let queue: DatabaseQueue
    /// The store's path, for messages.
    let path: String
    private let cipher: StoreCipher?

    private var statements: [String: Statement] = [:]
    private var fixedStatements = [Statement?](repeating: nil, count: FixedStatement.allCases.count)
    /// Statements of queries come and go; past this many, all are given up.
    private static let statementLimit = 512

    /// A row being written, used over and over.
    let row = RowBuffer()
    /// The twins of a row being written.
    let twins = RowBuffer()

    /// The stamp of the schema that this connection was opened with. `nil` while it must be looked up.
    var schemaStamp: String? {
        didSet { if let schemaStamp { openedStamp = schemaStamp } }
    }
    private(set) var openedStamp: String?
    /// SQLite's count of other connections' commits when the schema was last looked at.
    var dataVersion: StorageValue?

    /// The time that operations made by a migration get.
    var migrationTime = Date()

    /// What each model is read with by its local ID.
    var pointReads: [ObjectIdentifier: PointRead] = [:]
    /// Set to end the statement under way, from any thread.
    let mustStop = StopFlag()
    /// What statements each table is written and read with.
    var tables: [ObjectIdentifier: TableStatements] = [:]
    /// Where the tables have their columns, for what watches their changes.
    var columnPlaces: [ObjectIdentifier: [String: Int32]] = [:]
    var tableColumns: [ObjectIdentifier: TableColumns] = [:]
    /// The columns of the tables that were added with a default, which is no NULL.
    var defaultedColumns: [ObjectIdentifier: Set<Int32>] = [:]
    /// What a transaction notes of the tables that it changes, by their names: kept for the next one.
    var capturedTables: [String: CapturedTable] = [:]
    /// The statements that changed rows are read with, by their tables.
    var changedRowStatements: [ObjectIdentifier: (extraColumns: [String], statement: Statement)] = [:]

    init(queue: DatabaseQueue, path: String, cipher: StoreCipher? = nil) throws {
        self.queue = queue
        self.path = path
        self.cipher = cipher
        guard let handle = queue.unsafeReentrantRead({ $0.sqliteConnection }) else {
            throw TandemError(.closed, "The store is closed.", store: path)
        }
        sqlite = handle
        // GRDB's broker of observers expects to see each COMMIT that it is told of, and traps on those stepped past it.
        // Nothing of Tandem's observes through GRDB.
        sqlite3_commit_hook(handle, nil, nil)
        sqlite3_rollback_hook(handle, nil, nil)
        sqlite3_update_hook(handle, nil, nil)
        // GRDB interrupts the statement under way when a task is cancelled; one that begins a moment later would run to
        // its end. So long statements ask by themselves, about once a millisecond.
        // A walk runs outside its task, and is stopped by the flag. No statement runs when this object is gone: all are
        // prepared through it.
        sqlite3_progress_handler(
            handle, 50_000,
            { context in
                let connection = Unmanaged<Connection>.fromOpaque(context!).takeUnretainedValue()
                return Task.isCancelled || connection.mustStop.isSet ? 1 : 0
            }, Unmanaged.passUnretained(self).toOpaque())
        try SQLFunctions.register(on: handle)
    }

    /// Gives up all statements, so that the connection can be closed.
    func finalizeStatements() {
        statements.removeAll()
        fixedStatements = fixedStatements.map { _ in nil }
        tables.removeAll()
        pointReads.removeAll()
        columnPlaces.removeAll()
        defaultedColumns.removeAll()
        tableColumns.removeAll()
        changedRowStatements.removeAll()
        capturedTables.removeAll()
    }

    /// A statement, prepared at its first use.
    ///
    /// The statement is the connection's: whoever steps it resets it before it is asked for again.
    func statement(_ sql: String) throws -> Statement {
        if let statement = statements[sql] { return statement }
        if statements.count >= Self.statementLimit { statements.removeAll() }
        let statement = try Statement(sql, on: self)
        statements[sql] = statement
        return statement
    }

    /// A statement that every write runs, found without its text.
    @inline(__always)
    func statement(_ fixed: FixedStatement) throws -> Statement {
        if let statement = fixedStatements[fixed.rawValue] { return statement }
        let statement = try Statement(fixed.sql, on: self)
        fixedStatements[fixed.rawValue] = statement
        return statement
    }

    /// A statement of one's own, for a run that may overlap others of the same text (a walk over a result).
    func uncachedStatement(_ sql: String) throws -> Statement {
        try Statement(sql, on: self)
    }

    /// Runs statements without values.
    func execute(_ sql: String) throws {
        let code = sqlite3_exec(sqlite, sql, nil, nil, nil)
        guard code == SQLITE_OK else { throw error(code, sql: sql) }
    }

    /// Runs one statement with values.
    func execute(_ sql: String, _ values: [StorageValue]) throws {
        let statement = try statement(sql)
        statement.bind(values)
        try statement.run()
    }

    /// The first row's first column, `nil` if there is no row.
    func value(_ sql: String, _ values: [StorageValue] = []) throws -> StorageValue? {
        let statement = try statement(sql)
        defer { statement.reset() }
        statement.bind(values)
        return try statement.step() ? statement.value(0) : nil
    }

    /// The first row's first column of a fixed statement.
    func value(_ fixed: FixedStatement) throws -> StorageValue? {
        let statement = try statement(fixed)
        defer { statement.reset() }
        return try statement.step() ? statement.value(0) : nil
    }

    /// The number of rows that the last statement changed.
    var changes: Int { Int(sqlite3_changes64(sqlite)) }

    /// The number of rows that all statements since the opening have changed, those undone since included: what has
    /// not moved says that nothing was written.
    var totalChanges: Int64 { sqlite3_total_changes64(sqlite) }

    var lastInsertedRowID: Int64 { sqlite3_last_insert_rowid(sqlite) }

    var isInTransaction: Bool { sqlite3_get_autocommit(sqlite) == 0 }

    /// An error that SQLite reported on this connection.
    func error(_ code: Int32, sql: String? = nil) -> any Error {
        if code & 0xFF == SQLITE_INTERRUPT, Task.isCancelled { return CancellationError() }
        let extended = sqlite3_extended_errcode(sqlite)
        if let explained = cipher?.explain(extended) { return explained }
        let message = String(cString: sqlite3_errmsg(sqlite))
        return TandemError(sqlite: code & 0xFF == extended & 0xFF ? extended : code, message, path: path, sql: sql)
    }
}

/// Whether a connection is to end the statement under way. Set and read on any thread.
final class StopFlag: Sendable {
    private let flag = Atomic<Bool>(false)

    var isSet: Bool {
        get { flag.load(ordering: .relaxed) }
        set { flag.store(newValue, ordering: .relaxed) }
    }
}

extension TandemError {
    /// SQLite's result code in our words.
    init(sqlite code: Int32, _ message: String, path: String, sql: String? = nil) {
        func make(_ kind: Code, _ text: String, _ advice: String?) -> TandemError {
            TandemError(kind, "\(text) (SQLite: \(message))", advice: advice, store: path, sqliteCode: code)
        }
        switch code & 0xFF {
        case SQLITE_BUSY, SQLITE_LOCKED:
            self = make(
                .busy, "The store is being written by another process or another Store.",
                "Try again; if it lasts, raise Configuration.busyTimeout or find the writer that does not end.")
        case SQLITE_FULL:
            self = make(.diskFull, "The disk is full.", "Free some room and write again; nothing was kept.")
        case SQLITE_READONLY, SQLITE_PERM:
            self = make(.readOnly, "The store can't be written.", "Check the permissions of the file and its folder.")
        case SQLITE_CANTOPEN:
            self = make(
                .cannotOpen, "The store can't be opened.",
                "Check that the folder exists and may be read and written, and that the path names a file.")
        case SQLITE_NOTADB:
            self = make(
                .notAStore, "The file is no SQLite database.",
                "Check the path; if the store is encrypted, open it with its key.")
        case SQLITE_CORRUPT:
            self = make(.corrupt, "The store is damaged.", "Restore a backup; Store.checkIntegrity tells what is hurt.")
        case SQLITE_TOOBIG:
            self = make(
                .invalidValue, "A text or a blob is longer than SQLite takes (a billion bytes).",
                "Keep it in a file, and its path in the store.")
        case SQLITE_IOERR, SQLITE_NOLFS:
            self = make(.ioFailure, "The system could not read or write the store.", "Check the disk.")
        default:
            self = make(.sql, "SQLite refused a statement: \(sql ?? "")", nil)
        }
    }
}
