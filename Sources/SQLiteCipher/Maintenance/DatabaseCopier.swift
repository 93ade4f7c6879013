import Foundation
import GRDB
import GRDBSQLite

/// Functions that copy a whole database, from any encryption (or none) to any other.
package enum DatabaseCopier {
    /// A database to read from or to write to.
    package enum Endpoint {
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
                // Sorting and `VACUUM` would leave plaintext in the temporary folder.
                var configuration = configuration
                configuration.prepareDatabase { try $0.execute(sql: "PRAGMA temp_store = MEMORY") }
                return try DatabaseQueue(path: Self.plainName(path), configuration: configuration)
            case .encrypted(let database):
                return try database.openQueue(configuration: configuration)
            }
        }

        /// Returns a URI, or the path if SQLite does not accept URIs. Such a SQLite can't encrypt, but can copy plain
        /// databases.
        private static func plainName(_ path: String) -> String {
            sqlite3_compileoption_used("USE_URI") != 0 ? plainURI(path) : path
        }

        /// The URI names "unix" explicitly, because another VFS of the process may be the default.
        private static func plainURI(_ path: String) -> String {
            FileURI.of(path, parameters: ["vfs=unix"])
        }

        /// The URI for `VACUUM INTO`, which creates the file's format itself.
        var vacuumURI: String {
            switch self {
            case .plain(let path): Self.plainURI(path)
            case .encrypted(let database): database.uri("hdr=0")
            }
        }

        /// Checks that a file that should be plain begins like a plain database.
        func checkHead() throws {
            guard case .plain(let path) = self,
                try LowerFile.head(path, count: PageLayout.magic.count) != PageLayout.magic
            else { return }
            throw CipherError(
                .notADatabase, message: "The file is not a plain SQLite database.",
                advice: "If it is already encrypted, open it with its key.", path: path)
        }

        func explain(_ error: any Error) -> any Error {
            if case .encrypted(let database) = self { return database.explain(error) }
            return error
        }
    }

    /// Copies everything that `source` sees in a single snapshot to a file that does not exist yet.
    ///
    /// If the target accepts the pages, they are copied one by one, so each row keeps its `rowid`. SQLite rebuilds the
    /// database (`VACUUM INTO`) if the target needs more reserved bytes or another page size. It also does so if a free
    /// page is unreadable. Rows of tables without an `INTEGER PRIMARY KEY` may then get other rowids.
    ///
    /// - Parameter path: The source's file. The copy gets its mode.
    static func copy(from source: DatabaseQueue, at path: String, to target: Endpoint) throws {
        try source.writeWithoutTransaction { db in
            guard let connection = db.sqliteConnection else { throw DatabaseError(resultCode: .SQLITE_MISUSE) }
            try copy(from: connection, at: path, to: target)
        }
    }

    /// Copies a database from a connection on which no transaction is open.
    ///
    /// - Parameter path: The source's file, or `nil` if it has none.
    package static func copy(from source: OpaquePointer, at path: String?, to target: Endpoint) throws {
        guard !FileManager.default.fileExists(atPath: target.path) else {
            throw CipherError(
                .alreadyExists, message: "The target file already exists.", advice: "Remove it, or give another path.",
                path: target.path)
        }
        try reserve(target.path, as: path)
        do {
            // Read the schema first: SQLite knows the reserved size only after that.
            try run("SELECT 1 FROM sqlite_master LIMIT 1", on: source)
            let pageSize = try pageSize(of: source)
            if target.pageSize == nil || target.pageSize == pageSize,
                target.accepts(reserve: try reservedBytes(source, new: -1))
            {
                do {
                    return try copyPages(of: source, to: target)
                } catch let error as DatabaseError where error.resultCode == .SQLITE_CORRUPT {
                    // A backup also reads free pages, and SQLCipher leaves some of them unwritten. If a page with
                    // content is damaged, the following fails as well.
                    try removeDatabase(target.path)
                    try reserve(target.path, as: path)
                }
            }
            if case .encrypted(let database) = target {
                // Keep this order: the pragma discards the reserved size.
                try run("PRAGMA page_size = \(database.profile.pageSize)", on: source)
                _ = try reservedBytes(source, new: Int32(database.profile.reserve))
            }
            // The name contains no quote, because it is a URI.
            try run("VACUUM INTO '\(target.vacuumURI)'", on: source)
        } catch {
            try? removeDatabase(target.path)
            throw target.explain(error)
        }
    }

    /// Creates an empty file with the source's permissions. A user who can't read the source therefore can't read the
    /// copy at any moment.
    private static func reserve(_ path: String, as source: String?) throws {
        var status = stat()
        let mode = source.map { stat($0, &status) == 0 } == true ? status.st_mode & 0o666 : 0o600
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode)
        guard descriptor >= 0 else {
            throw CipherError(
                .cannotOpen, message: "The file can't be created: \(String(cString: strerror(errno))).", path: path)
        }
        // No connection has the file open, so closing it releases no locks.
        close(descriptor)
    }

    private static func copyPages(of source: OpaquePointer, to target: Endpoint) throws {
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

    /// Returns the number of reserved bytes in each page. If `new` is not negative, sets the number for the next
    /// VACUUM.
    private static func reservedBytes(_ connection: OpaquePointer, new: Int32) throws -> Int {
        var count = new
        let code = sqlite3_file_control(connection, "main", SQLITE_FCNTL_RESERVE_BYTES, &count)
        guard code == SQLITE_OK else {
            throw CipherError(
                .unsupportedSQLite, message: "SQLite does not report the reserved size of a page.", sqliteCode: code)
        }
        return Int(count)
    }

    /// Removes an incomplete database and its companion files.
    package static func removeDatabase(_ path: String) throws {
        for suffix in ["", "-journal", "-wal", "-shm"] where FileManager.default.fileExists(atPath: path + suffix) {
            try FileManager.default.removeItem(atPath: path + suffix)
        }
    }
}
