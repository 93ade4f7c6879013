import GRDBSQLite

@testable import SQLiteCipher

/// A connection that uses only SQLite's C API. It opens many times faster than GRDB's, for tests that open a database
/// thousands of times.
final class RawDatabase {
    struct Failure: Error, Hashable {
        let code: Int32
        /// Whether SQLite or this library may return this code for a damaged file.
        var isDamage: Bool { [SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_IOERR, SQLITE_CANTOPEN].contains(code & 0xFF) }
    }

    private let handle: OpaquePointer

    /// - Parameter setup: SQL to run first. Most tests don't need flushes.
    init(_ database: EncryptedDatabase, setup: String = "PRAGMA synchronous = OFF") throws {
        var handle: OpaquePointer?
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX
        let code = sqlite3_open_v2(database.uri, &handle, flags, nil)
        guard code == SQLITE_OK, let handle else {
            sqlite3_close_v2(handle)
            throw Failure(code: code)
        }
        self.handle = handle
        try run("PRAGMA secure_delete = ON; PRAGMA temp_store = MEMORY; " + setup)
    }

    deinit {
        sqlite3_close_v2(handle)
    }

    func run(_ sql: String) throws {
        let code = sqlite3_exec(handle, sql, nil, nil, nil)
        guard code == SQLITE_OK else { throw Failure(code: code) }
    }

    /// Returns rows as text, with the columns joined by a bar.
    func rows(_ sql: String) throws -> [String] {
        var statement: OpaquePointer?
        let code = sqlite3_prepare_v2(handle, sql, -1, &statement, nil)
        guard code == SQLITE_OK else { throw Failure(code: code) }
        defer { sqlite3_finalize(statement) }
        var rows: [String] = []
        while true {
            let step = sqlite3_step(statement)
            if step == SQLITE_DONE { return rows }
            guard step == SQLITE_ROW else { throw Failure(code: step) }
            let columns = (0..<sqlite3_column_count(statement)).map { column in
                sqlite3_column_text(statement, column).map { String(cString: $0) } ?? "NULL"
            }
            rows.append(columns.joined(separator: "|"))
        }
    }

    var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }

    /// Returns the write-ahead log that SQLite has open.
    func logFile() -> LogFile? {
        var pointer: UnsafeMutablePointer<sqlite3_file>?
        guard sqlite3_file_control(handle, "main", SQLITE_FCNTL_JOURNAL_POINTER, &pointer) == SQLITE_OK else {
            return nil
        }
        return pointer.flatMap { CipherMethods.file($0) as? LogFile }
    }

    /// Interrupts a statement after a number of steps, so that damage can't cause an endless loop.
    func limit(steps: Int32) {
        sqlite3_progress_handler(handle, steps, { _ in 1 }, nil)
    }

    static let ioError = SQLITE_IOERR
    static let interrupted = SQLITE_INTERRUPT
}

/// The outcome of a read: rows or an error.
enum Outcome: Hashable {
    case rows([String])
    case failure(RawDatabase.Failure)

    /// Reads through the table and through the index, and so every page of a small database.
    static func read(_ database: EncryptedDatabase) -> Outcome {
        do {
            let raw = try RawDatabase(database)
            guard try raw.rows("SELECT count(*) FROM sqlite_master") != ["0"] else { return .rows([]) }
            let rows = try raw.rows("SELECT id, name, hex(body) FROM t NOT INDEXED ORDER BY id")
            let names = try raw.rows("SELECT id, name FROM t INDEXED BY byName")
            return .rows(rows + names.sorted())
        } catch let failure as RawDatabase.Failure {
            return .failure(failure)
        } catch {
            return .failure(.init(code: -1))
        }
    }

    /// Whether the outcome is an error that damage causes.
    var isDamage: Bool {
        if case .failure(let failure) = self { return failure.isDamage }
        return false
    }
}
