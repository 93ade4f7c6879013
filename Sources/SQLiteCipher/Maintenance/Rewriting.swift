import Foundation
import GRDB
import GRDBSQLite

/// Copies a database whole, from any encryption (or none) to any other.
package enum Rewriting {
    /// A database to read from or to write to.
    package enum Place {
        case plain(String)
        case encrypted(EncryptedDatabase)

        package var path: String {
            switch self {
            case .plain(let path): path
            case .encrypted(let database): database.path
            }
        }

        var pageSize: Int? {
            if case .encrypted(let database) = self { return database.profile.pageSize }
            return nil
        }

        func accepts(reserve: Int) -> Bool {
            if case .encrypted(let database) = self { return database.profile.accepts(reserve: reserve) }
            return true
        }

        package func open(_ configuration: Configuration = Configuration()) throws -> DatabaseQueue {
            switch self {
            case .plain(let path):
                // Its sorts and `VACUUM` would leave plain text in the temporary folder.
                var configuration = configuration
                configuration.prepareDatabase { try $0.execute(sql: "PRAGMA temp_store = MEMORY") }
                return try DatabaseQueue(path: Self.plainName(path), configuration: configuration)
            case .encrypted(let database):
                return try database.openQueue(configuration: configuration)
            }
        }

        /// A URI, or the path where SQLite takes no URIs: nothing can be encrypted there, and plain databases be copied.
        private static func plainName(_ path: String) -> String {
            sqlite3_compileoption_used("USE_URI") != 0 ? plainURI(path) : path
        }

        /// Names "unix" itself: another VFS of the process may be the default.
        private static func plainURI(_ path: String) -> String {
            FileURI.of(path, ["vfs=unix"])
        }

        /// For `VACUUM INTO`, which makes the file's format itself.
        var vacuumURI: String {
            switch self {
            case .plain(let path): Self.plainURI(path)
            case .encrypted(let database): database.uri("hdr=0")
            }
        }

        /// Checks that the file begins as a plain database does, if it is to be one.
        func checkHead() throws {
            guard case .plain(let path) = self,
                try LowerFile.head(path, count: PageLayout.magic.count) != PageLayout.magic
            else { return }
            throw CipherError(
                .notADatabase, "The file is no plain SQLite database.",
                advice: "If it is encrypted already, open it with its key.", path: path)
        }

        func explain(_ error: any Error) -> any Error {
            if case .encrypted(let database) = self { return database.explain(error) }
            return error
        }
    }

    /// Copies everything that `source` sees in one snapshot to a file that does not exist yet.
    ///
    /// Pages are copied one by one where the target can keep them, which leaves each row's `rowid` as it was. Where the
    /// target needs more room in each page, or pages of another size, or a free page can't be read, SQLite builds it anew
    /// (`VACUUM INTO`); rows of tables that have no `INTEGER PRIMARY KEY` may then get other rowids.
    ///
    /// - Parameter path: the source's file, whose mode the copy gets.
    static func copy(from source: DatabaseQueue, at path: String, to target: Place) throws {
        try source.writeWithoutTransaction { db in
            guard let connection = db.sqliteConnection else { throw DatabaseError(resultCode: .SQLITE_MISUSE) }
            try copy(from: connection, at: path, to: target)
        }
    }

    /// The same, from a connection on which no transaction is open.
    ///
    /// - Parameter path: the source's file; `nil` if it has none.
    package static func copy(from source: OpaquePointer, at path: String?, to target: Place) throws {
        guard !FileManager.default.fileExists(atPath: target.path) else {
            throw CipherError(
                .alreadyExists, "There is a file already.", advice: "Remove it, or give another path.",
                path: target.path)
        }
        try reserve(target.path, as: path)
        do {
            // Reads the schema first: only then does SQLite know what is reserved.
            try run("SELECT 1 FROM sqlite_master LIMIT 1", on: source)
            let pageSize = try pageSize(of: source)
            if target.pageSize == nil || target.pageSize == pageSize,
                target.accepts(reserve: try reservedBytes(source, new: -1))
            {
                do {
                    return try copyPages(of: source, to: target)
                } catch let error as DatabaseError where error.resultCode == .SQLITE_CORRUPT {
                    // A backup reads free pages, too, and SQLCipher leaves some of these unwritten. If a page is damaged
                    // that holds something, the following fails as well.
                    try removeDatabase(target.path)
                    try reserve(target.path, as: path)
                }
            }
            if case .encrypted(let database) = target {
                // In this order: the pragma forgets what was to be reserved.
                try run("PRAGMA page_size = \(database.profile.pageSize)", on: source)
                _ = try reservedBytes(source, new: Int32(database.profile.reserve))
            }
            // The name holds no quote: it is a URI.
            try run("VACUUM INTO '\(target.vacuumURI)'", on: source)
        } catch {
            try? removeDatabase(target.path)
            throw target.explain(error)
        }
    }

    /// Makes the file, empty, so that who may not read the source can't read the copy either, at any moment.
    private static func reserve(_ path: String, as source: String?) throws {
        var status = stat()
        let mode = source.map { stat($0, &status) == 0 } == true ? status.st_mode & 0o666 : 0o600
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode)
        guard descriptor >= 0 else {
            throw CipherError(
                .cannotOpen, "The file can't be made: \(String(cString: strerror(errno))).", path: path)
        }
        // Nobody has it open: there are no locks to be dropped.
        close(descriptor)
    }

    private static func copyPages(of source: OpaquePointer, to target: Place) throws {
        let queue = try target.open()
        try queue.writeWithoutTransaction { db in
            guard let copy = sqlite3_backup_init(db.sqliteConnection, "main", source, "main") else {
                throw failure(sqlite3_extended_errcode(db.sqliteConnection), on: db.sqliteConnection)
            }
            let code = sqlite3_backup_step(copy, -1)
            sqlite3_backup_finish(copy)
            guard code == SQLITE_DONE else { throw DatabaseError(resultCode: ResultCode(rawValue: code)) }
        }
        try queue.close()
    }

    private static func run(_ sql: String, on connection: OpaquePointer) throws {
        let code = sqlite3_exec(connection, sql, nil, nil, nil)
        guard code == SQLITE_OK else { throw failure(sqlite3_extended_errcode(connection), on: connection) }
    }

    private static func failure(_ code: Int32, on connection: OpaquePointer?) -> DatabaseError {
        DatabaseError(resultCode: ResultCode(rawValue: code), message: String(cString: sqlite3_errmsg(connection)))
    }

    private static func pageSize(of connection: OpaquePointer) throws -> Int {
        var statement: OpaquePointer?
        defer { sqlite3_finalize(statement) }
        guard sqlite3_prepare_v2(connection, "PRAGMA page_size", -1, &statement, nil) == SQLITE_OK,
            sqlite3_step(statement) == SQLITE_ROW
        else { throw failure(sqlite3_extended_errcode(connection), on: connection) }
        return Int(sqlite3_column_int(statement, 0))
    }

    /// The bytes reserved in each page; a number that is not negative is what the next VACUUM is to reserve.
    private static func reservedBytes(_ connection: OpaquePointer, new: Int32) throws -> Int {
        var count = new
        let code = sqlite3_file_control(connection, "main", SQLITE_FCNTL_RESERVE_BYTES, &count)
        guard code == SQLITE_OK else {
            throw CipherError(.unsupportedSQLite, "SQLite does not tell what it reserves in a page.", sqliteCode: code)
        }
        return Int(count)
    }

    /// Removes a database that was not finished, and what belongs to it.
    package static func removeDatabase(_ path: String) throws {
        for suffix in ["", "-journal", "-wal", "-shm"] where FileManager.default.fileExists(atPath: path + suffix) {
            try FileManager.default.removeItem(atPath: path + suffix)
        }
    }
}
