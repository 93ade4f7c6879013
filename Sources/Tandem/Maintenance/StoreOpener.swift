import Foundation
import GRDB
import SQLiteCipher

/// Opens a store's connections.
struct StoreOpener: Sendable {
    let location: StoreLocation
    let configuration: Store.Configuration

    /// Opens the writer, and adapts the store's schema to the models.
    ///
    /// - Returns: The writer, and the rest of a migration, whose transaction is then open.
    func openWriter(schema: Schema) throws -> (writer: Store.WriterBox, pending: PendingMigration?) {
        try openWriter(mustExist: false) { connection in
            try SchemaUpdater(connection: connection, schema: schema, configuration: configuration).fit()
        }
    }

    /// Opens the writer of an existing store, and uses its tables unchanged.
    ///
    /// - Parameter recorded: The schema that the store records.
    func openWriter(recorded: SchemaUpdater.Stored, schema: Schema) throws -> Store.WriterBox {
        try openWriter(mustExist: true) { connection in
            try SchemaUpdater(connection: connection, schema: schema, configuration: configuration)
                .adoptRecorded(recorded)
        }.writer
    }

    /// Reads the schema that an existing store records, with a connection that it closes again. The file was checked.
    func recordedSchema() throws -> SchemaUpdater.Stored {
        let queue = try open(readOnly: true, label: "reader")
        defer { try? queue.close() }
        let connection = try Connection(
            queue: queue, path: location.path, cipher: location.cipher, collation: configuration.collation)
        defer { connection.finalizeStatements() }
        configuration.stop?.watch(connection)
        return try queue.unsafeReentrantWrite { _ in
            if try identify(connection) {
                throw TandemError(
                    .cannotOpen, message: "The store is empty.", advice: "Open it once with its app.",
                    store: location.path)
            }
            return try SchemaUpdater(
                connection: connection, schema: try Schema(definitions: []), configuration: configuration
            ).recorded()
        }
    }

    /// - Parameters:
    ///   - mustExist: Whether the file is a store, so that it is not created.
    ///   - fit: Fits the schema.
    private func openWriter<T>(
        mustExist: Bool, fit: (Connection) throws -> T
    ) throws -> (writer: Store.WriterBox, pending: T) {
        // An encrypted file was checked before its key.
        if case .plain(let path) = location {
            try StoreFile(path.given).check(isEncrypted: false, isReadOnly: mustExist || configuration.isReadOnly)
        }
        let queue = try open(readOnly: configuration.isReadOnly, label: "writer")
        var opened: Connection?
        do {
            let connection = try Connection(
                queue: queue, path: location.path, cipher: location.cipher, collation: configuration.collation)
            opened = connection
            configuration.stop?.watch(connection)
            let pending = try queue.unsafeReentrantWrite { _ in
                let isNew = try identify(connection)
                try prepareFile(connection, isNew: isNew)
                return try fit(connection)
            }
            return (Store.WriterBox(queue: queue, connection: connection), pending)
        } catch {
            // A connection with statements would stay open, and so would its files.
            opened?.finalizeStatements()
            try? queue.close()
            throw error
        }
    }

    func makeReaderPool() -> ReaderPool? {
        guard location.file != nil else { return nil }
        let path = location.path
        return ReaderPool(maximum: configuration.maximumReaders, path: path) {
            let queue = try open(readOnly: true, label: "reader")
            return ReaderPool.Reader(
                connection: try Connection(
                    queue: queue, path: path, cipher: location.cipher, collation: configuration.collation))
        }
    }

    /// Returns the checkpointer of the store's log, or `nil` if the store writes no log.
    func makeLogCheckpointer() -> LogCheckpointer? {
        guard location.file != nil, !configuration.isReadOnly else { return nil }
        return LogCheckpointer { try open(readOnly: false, label: "checkpoint") }
    }

    func open(readOnly: Bool, label: String) throws -> DatabaseQueue {
        var options = GRDB.Configuration()
        options.label = "tandem.\(label)"
        options.readonly = readOnly
        options.foreignKeysEnabled = false
        // Tandem ends its transactions itself. A transaction that can't be ended must not end the process.
        options.allowsUnsafeTransactions = true
        options.busyMode = .timeout(max(0, configuration.busyTimeout))
        let cacheKiB = max(64, configuration.cacheSize / 1024 / (label == "reader" ? 4 : 1))
        options.prepareDatabase { db in
            // Temporary tables and sorts stay in memory, so nothing of a store is written outside its files.
            try db.execute(sql: "PRAGMA temp_store = MEMORY; PRAGMA cache_size = -\(cacheKiB)")
            if case .plain = location { try db.execute(sql: "PRAGMA mmap_size = \(256 << 20)") }
        }
        do {
            switch location {
            case .memory: return try DatabaseQueue(named: nil, configuration: options)
            case .encrypted(let cipher): return try cipher.open(options)
            case .plain(let path):
                // Use an absolute path: SQLite would not treat ":memory:" and "file:x" as file names.
                let path = path.real
                do {
                    return try DatabaseQueue(path: path, configuration: options)
                } catch let error as DatabaseError
                    where readOnly && error.resultCode == .SQLITE_CANTOPEN && !Self.hasLog(path)
                {
                    // SQLite can't create its -shm file on a read-only medium. Other processes can't write there
                    // either. If there is a log, the file alone would be an old state, or invalid.
                    return try DatabaseQueue(path: Self.immutableURI(path), configuration: options)
                }
            }
        } catch {
            throw TandemError.naming(error, path: location.path)
        }
    }

    private static func hasLog(_ path: String) -> Bool {
        var info = stat()
        return stat(path + "-wal", &info) == 0 && info.st_size > 0
    }

    private static func immutableURI(_ path: String) -> String {
        FileURI.of(path, parameters: ["immutable=1"])
    }

    /// Checks that the file is a store or empty. Another program's database is not changed. Returns `true` if it is
    /// empty.
    func identify(_ connection: Connection) throws -> Bool {
        // Read both in one state: another process may be writing them.
        let (id, tables) = try connection.consistently(true) {
            (
                try connection.value("PRAGMA application_id"),
                try connection.value("SELECT count(*) FROM sqlite_master")
            )
        }
        if id == .integer(DatabaseHead.applicationID) { return false }
        guard id == .integer(0), tables == .integer(0) else {
            throw TandemError(
                .notAStore, message: "The file is an SQLite database, but not a Tandem store.",
                advice: "Check the path. Nothing was written to it.", store: location.path)
        }
        if configuration.isReadOnly {
            throw TandemError(
                .cannotOpen, message: "The store is empty.",
                advice: "Open it once for writing, so that it gets its tables.",
                store: location.path)
        }
        return true
    }

    private func prepareFile(_ connection: Connection, isNew: Bool) throws {
        guard location.file != nil, !configuration.isReadOnly else { return }
        // SQLite does not wait for other processes when it changes the journal mode.
        let deadline = DispatchTime.now() + max(0, configuration.busyTimeout)
        while true {
            do {
                _ = try connection.value("PRAGMA journal_mode = WAL")
                break
            } catch let error as TandemError where error.code == .busy && DispatchTime.now() < deadline {
                usleep(2000)
            }
        }
        try connection.execute("PRAGMA synchronous = \(configuration.durability == .process ? "NORMAL" : "FULL")")
    }
}
