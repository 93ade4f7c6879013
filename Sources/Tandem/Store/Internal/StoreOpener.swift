import Foundation
import GRDB
import GRDBSQLite

/// Opens a store's connections.
struct StoreOpener: Sendable {
    let location: StoreLocation
    let configuration: Store.Configuration

    /// What SQLite's header of a Tandem store says it is: "TNDM".
    static let applicationID: Int64 = 0x544E_444D

    /// Opens the writer, and fits the store's schema to the models.
    func openWriter(schema: Schema) throws -> Store.WriterBox {
        if case .file(let path) = location { try checkFile(at: path) }
        let queue = try open(readOnly: configuration.isReadOnly, label: "writer")
        var opened: Connection?
        do {
            let connection = try Connection(queue: queue, path: location.path)
            opened = connection
            try queue.unsafeReentrantWrite { _ in
                let isNew = try identify(connection)
                try prepareFile(connection, isNew: isNew)
                try SchemaKeeper(
                    connection: connection, schema: schema, configuration: configuration
                ).fit()
            }
            return Store.WriterBox(queue: queue, connection: connection)
        } catch {
            // A connection with statements would stay open, and its files with it.
            opened?.finalizeStatements()
            try? queue.close()
            throw error
        }
    }

    func makeReaderPool() -> ReaderPool? {
        guard case .file(let path) = location else { return nil }
        return ReaderPool(maximum: configuration.maximumReaders, path: path) {
            let queue = try open(readOnly: true, label: "reader")
            return ReaderPool.Reader(connection: try Connection(queue: queue, path: path))
        }
    }

    // MARK: -

    /// Tells a path that can't be a store's in words better than SQLite's.
    func checkFile(at path: String) throws {
        let files = FileManager.default
        func refuse(_ code: TandemError.Code, _ message: String, _ advice: String) -> TandemError {
            TandemError(code, message, advice: advice, store: path)
        }
        if path.isEmpty {
            throw refuse(.cannotOpen, "The path is empty.", "Give the path of a file, or use Store.inMemory.")
        }
        if path.utf8.contains(0) {
            throw refuse(.cannotOpen, "The path contains U+0000.", "Give the path of a file.")
        }
        var info = stat()
        if stat(path, &info) == 0 {
            if info.st_mode & S_IFMT == S_IFDIR {
                throw refuse(.cannotOpen, "The path names a folder.", "Give the path of a file in it.")
            }
            if info.st_mode & S_IFMT != S_IFREG {
                throw refuse(
                    .cannotOpen, "The path names no file, but a device, a pipe or a socket.", "Give the path of a file."
                )
            }
            guard var header = try? Self.header(at: path) else {
                throw refuse(.cannotOpen, "The file may not be read.", "Check its permissions.")
            }
            // The first page may just be on its way from another process that makes the store.
            for _ in 0..<10 where !header.isEmpty && !header.isSQLite {
                usleep(2000)
                header = (try? Self.header(at: path)) ?? header
            }
            if !header.isEmpty, !header.isSQLite {
                throw refuse(
                    .notAStore, "The file is no SQLite database.", "Check the path; nothing was written to it.")
            }
            if header.isAnotherProgram {
                throw refuse(
                    .notAStore, "The file is an SQLite database, but no Tandem store.",
                    "Check the path; nothing was written to it.")
            }
        } else {
            let folderPath = Self.folder(of: path)
            var isDirectory: ObjCBool = false
            if !files.fileExists(atPath: folderPath, isDirectory: &isDirectory) || !isDirectory.boolValue {
                throw refuse(.cannotOpen, "There is no folder \(folderPath).", "Create it first.")
            }
            if configuration.isReadOnly {
                throw refuse(.cannotOpen, "There is no such store.", "A store opened read-only must exist.")
            }
        }
    }

    /// The path of the folder that a file lies in.
    static func folder(of path: String) -> String {
        let folder = (path as NSString).deletingLastPathComponent
        return folder.isEmpty ? "." : folder
    }

    /// The head of a database file, read without SQLite, which would write an unfinished log of another program's
    /// back to its file.
    struct Header {
        private let bytes: [UInt8]

        fileprivate init(_ bytes: [UInt8]) { self.bytes = bytes }

        var isEmpty: Bool { bytes.isEmpty }
        var isSQLite: Bool { bytes.starts(with: Array("SQLite format 3\0".utf8)) }

        private func word(at offset: Int) -> UInt32 {
            bytes[offset..<offset + 4].reduce(0) { $0 << 8 | UInt32($1) }
        }

        /// Whether the file says that it is a store. A new one says so in its log first.
        var isStore: Bool { isSQLite && bytes.count == 100 && word(at: 68) == UInt32(StoreOpener.applicationID) }

        /// Whether it is a database of another program: it says so, or has had tables (a store's first tables and its
        /// application ID are written at once).
        var isAnotherProgram: Bool {
            isSQLite && bytes.count == 100 && !isStore && (word(at: 68) != 0 || word(at: 40) != 0)
        }
    }

    static func header(at path: String) throws -> Header? {
        guard let handle = FileHandle(forReadingAtPath: path) else { return nil }
        defer { try? handle.close() }
        return Header([UInt8](try handle.read(upToCount: 100) ?? Data()))
    }

    func open(readOnly: Bool, label: String) throws -> DatabaseQueue {
        var options = GRDB.Configuration()
        options.label = "tandem.\(label)"
        options.readonly = readOnly
        options.foreignKeysEnabled = false
        // Tandem ends its transactions itself; one that could not be ended must not end the process.
        options.allowsUnsafeTransactions = true
        options.busyMode = .timeout(max(0, configuration.busyTimeout))
        let cacheKiB = max(64, configuration.cacheSize / 1024 / (label == "reader" ? 4 : 1))
        options.prepareDatabase { db in
            // Temporary tables and sorts stay in memory: nothing of a store is written outside its files.
            try db.execute(sql: "PRAGMA temp_store = MEMORY; PRAGMA cache_size = -\(cacheKiB)")
            if case .file = location { try db.execute(sql: "PRAGMA mmap_size = \(256 << 20)") }
        }
        do {
            switch location {
            case .memory: return try DatabaseQueue(named: nil, configuration: options)
            case .file(let path):
                // Or SQLite would take ":memory:" and "file:x" for something else than files.
                let path = path.hasPrefix("/") ? path : "./" + path
                do {
                    return try DatabaseQueue(path: path, configuration: options)
                } catch let error as DatabaseError
                    where readOnly && error.resultCode == .SQLITE_CANTOPEN && !Self.hasLog(path)
                {
                    // A medium that can't be written has no room for SQLite's -shm file. Nobody else writes there.
                    // With a log beside it the file alone would be an old state, or none.
                    return try DatabaseQueue(path: Self.immutableURI(path), configuration: options)
                }
            }
        } catch let error as DatabaseError {
            throw TandemError(
                sqlite: error.extendedResultCode.rawValue, error.message ?? "\(error.resultCode)", path: location.path)
        }
    }

    private static func hasLog(_ path: String) -> Bool {
        var info = stat()
        return stat(path + "-wal", &info) == 0 && info.st_size > 0
    }

    private static func immutableURI(_ path: String) -> String {
        let absolute = URL(fileURLWithPath: path).path
        let escaped = absolute.addingPercentEncoding(withAllowedCharacters: .urlPathAllowed) ?? absolute
        return "file:\(escaped)?immutable=1"
    }

    /// Tells a store from another program's database, which is left untouched. `true` if the file is empty.
    func identify(_ connection: Connection) throws -> Bool {
        // Together: another process may be writing both.
        let (id, tables) = try connection.consistently(true) {
            (
                try connection.value("PRAGMA application_id"),
                try connection.value("SELECT count(*) FROM sqlite_master")
            )
        }
        if id == .integer(Self.applicationID) { return false }
        guard id == .integer(0), tables == .integer(0) else {
            throw TandemError(
                .notAStore, "The file is an SQLite database, but no Tandem store.",
                advice: "Check the path; nothing was written to it.", store: location.path)
        }
        if configuration.isReadOnly {
            throw TandemError(
                .cannotOpen, "The store is empty.", advice: "Open it for writing once, so that it gets its tables.",
                store: location.path)
        }
        return true
    }

    private func prepareFile(_ connection: Connection, isNew: Bool) throws {
        guard case .file = location, !configuration.isReadOnly else { return }
        // Changing the journal mode does not wait for other processes by itself.
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
