import Foundation
import GRDB
import GRDBSQLite

/// An encrypted SQLite database: a file, its key and its profile.
///
/// It opens GRDB queues and pools, which you use as usual:
///
/// ```swift
/// let database = try EncryptedDatabase(path: "notes.db", key: .passphrase(typed))
/// let pool = try database.openPool()
/// try pool.write { db in try db.execute(sql: "CREATE TABLE note (text TEXT)") }
/// ```
///
/// Opening creates the file if it does not exist. Creating a value of this type accesses no file.
///
/// The key stays in memory while this value, or any connection opened with it, exists. After that its memory is
/// overwritten.
///
/// ## Topics
/// ### Opening
/// - ``init(path:key:profile:)``
/// - ``openQueue(configuration:)``
/// - ``openPool(configuration:)``
/// - ``configuration(_:)``
/// - ``uri``
public struct EncryptedDatabase: Sendable {
    let entry: KeyEntry

    /// The path of the database file.
    public var path: String { entry.path }
    /// The encryption format of the database.
    public var profile: CipherProfile { entry.profile }

    /// Creates a database value from a path and a key. It does not open the file.
    ///
    /// - Parameters:
    ///   - path: The path of the database file, which need not exist.
    ///   - key: The key of the file, or of the new file.
    ///   - profile: The format of a new file. An existing file must have this format.
    /// - Throws: ``CipherError`` if the path names a database in memory, or a raw key or an option is out of range.
    ///   It is also thrown if the process's SQLite lacks a required feature.
    public init(path: String, key: CipherKey, profile: CipherProfile = .aes256gcm) throws {
        try self.init(path: path, key: key, profile: profile, indexFolders: IndexFolders.system)
    }

    /// - Parameter indexFolders: The folders to search for a file system in memory. Tests use it to simulate systems
    ///   without one.
    package init(path: String, key: CipherKey, profile: CipherProfile, indexFolders: [String]) throws {
        guard !path.isEmpty, !path.contains(":memory:") else {
            throw CipherError(
                .inMemory, message: "A database in memory has no file to encrypt.",
                advice: "Open the database without a key, or give a path.")
        }
        guard !path.utf8.contains(0) else {
            throw CipherError(.cannotOpen, message: "A path can't contain a zero byte.")
        }
        guard !path.lowercased().hasPrefix("file:") else {
            throw CipherError(
                .cannotOpen, message: "The path is a URI.", advice: "Give a plain path. The URI is derived from it.",
                path: path)
        }
        try profile.validate()
        if case .provider = key.source {} else { _ = try key.resolved() }
        try CipherVFS.register()
        let absolute = path.hasPrefix("/") ? path : FileManager.default.currentDirectoryPath + "/" + path
        entry = try KeyEntry(path: absolute, key: key, profile: profile, indexFolders: indexFolders)
        KeyRegistry.register(entry)
    }

    // MARK: - Opening

    /// The URI with which SQLite opens the database. It is valid in this process, while this value exists.
    ///
    /// Use it for `ATTACH`, and in code that calls SQLite directly. It holds a random handle, and not the key.
    public var uri: String { uri() }

    func uri(_ parameters: String...) -> String {
        FileURI.of(path, parameters: ["vfs=\(CipherVFS.name)", "kid=\(entry.handle)"] + parameters)
    }

    /// Returns a copy of a configuration that is prepared for opening ``uri``.
    ///
    /// The configuration does not keep the key. Keep this value until the first connection is open. From then on, the
    /// open connection keeps the key.
    ///
    /// The configuration keeps temporary tables in memory. It also turns on `secure_delete`, so that SQLite overwrites
    /// deleted content inside the encryption.
    ///
    /// - Parameter base: The configuration to copy.
    public func configuration(_ base: Configuration = Configuration()) -> Configuration {
        var configuration = base
        // NB: the closure must not hold the key. GRDB 7.10 keeps a configuration after its queue is released. Open
        // files hold the key instead.
        configuration.prepareDatabase { db in
            try db.execute(sql: "PRAGMA temp_store = MEMORY; PRAGMA secure_delete = ON")
        }
        return configuration
    }

    /// Opens a `DatabaseQueue`.
    ///
    /// With `Configuration.readonly`, SQLite may be unable to create its lock files, as on a read-only medium. If
    /// neither a log nor a journal exists, the database is then opened as immutable. If other processes may write to
    /// the database, give this process write permission for the folder instead.
    ///
    /// - Parameter base: The configuration to extend by ``configuration(_:)``.
    /// - Throws: ``CipherError``, such as ``CipherError/Code/wrongKey``. GRDB's `DatabaseError` if encryption did not
    ///   cause the error.
    public func openQueue(configuration base: Configuration = Configuration()) throws -> DatabaseQueue {
        try opening(base) { try DatabaseQueue(path: $0, configuration: $1) }
    }

    /// Opens a `DatabasePool`, which switches the database to a write-ahead log.
    ///
    /// - Parameter base: The configuration to extend by ``configuration(_:)``.
    /// - Throws: The errors of ``openQueue(configuration:)``.
    public func openPool(configuration base: Configuration = Configuration()) throws -> DatabasePool {
        try opening(base) { try DatabasePool(path: $0, configuration: $1) }
    }

    /// Opens a read-only database as immutable if SQLite can't create its lock files and no log or journal exists.
    private func opening<Reader>(
        _ base: Configuration, open: (String, Configuration) throws -> Reader
    ) throws -> Reader {
        let configuration = configuration(base)
        return try explaining {
            do {
                return try open(uri, configuration)
            } catch let error as DatabaseError
                where base.readonly && [.SQLITE_CANTOPEN, .SQLITE_READONLY].contains(error.resultCode)
                && !isHot && FileManager.default.fileExists(atPath: path)
            {
                return try open(uri("immutable=1"), configuration)
            }
        }
    }

    // MARK: - Errors

    /// Returns an error that describes the file's problem, such as a damaged page, if SQLite's own error can't.
    ///
    /// ``openQueue(configuration:)`` and ``openPool(configuration:)`` do this themselves. Call it for later errors:
    ///
    /// ```swift
    /// do {
    ///     try pool.read { db in … }
    /// } catch {
    ///     throw database.explain(error)
    /// }
    /// ```
    ///
    /// - Parameter error: An error that a connection of this database threw.
    /// - Returns: A ``CipherError``, or the same error if this module did not cause it.
    public func explain(_ error: any Error) -> any Error {
        explain(error, after: 0)
    }

    /// - Parameters:
    ///   - serial: Incidents up to this serial number are ignored.
    ///   - isOfThisThread: Whether incidents of other threads are ignored.
    func explain(_ error: any Error, after serial: Int, ofThisThread isOfThisThread: Bool = false) -> any Error {
        guard let error = error as? DatabaseError else { return error }
        if let finding = readOnlyFinding(error) { return finding }
        let code = error.extendedResultCode.rawValue
        guard var incident = entry.removeIncident(code: code, after: serial, ofThisThread: isOfThisThread) else {
            return error
        }
        incident.sqliteCode = code
        incident.underlying = incident.underlying ?? error
        return incident
    }

    func explaining<Value>(_ body: () throws -> Value) throws -> Value {
        let serial = entry.incidentSerial
        do {
            return try body()
        } catch {
            throw explain(error, after: serial)
        }
    }

    /// Returns a key for files that belong to this database, such as attachments: see ``EncryptedFile``.
    ///
    /// The key depends on the database's key and salt, so it can't be derived again after ``changeKey(to:profile:)``.
    /// If the key may change, create a random ``FileKey/init(raw:)`` and store its bytes in the database instead.
    ///
    /// - Throws: ``CipherError/Code/wrongKey`` if the key does not open the database, and the other errors of opening.
    public func fileKey() throws -> FileKey {
        let file = try LowerFile(reading: path)
        var salt = [UInt8](repeating: 0, count: PageLayout.saltSize)
        guard try salt.withUnsafeMutableBytes({ try file.read($0, at: 0) }) == salt.count else {
            throw CipherError(
                .notADatabase, message: "The database is empty, so it does not have a salt yet.", path: path)
        }
        try prove(file, salt: salt)
        return FileKey(master: try entry.keys(salt: salt).fileMaster())
    }

    /// Checks that the key decrypts the file. Files encrypted under another key could never be read.
    private func prove(_ file: LowerFile, salt: [UInt8]) throws {
        let context = ConnectionContext(entry: entry, path: path)
        context.use(salt: salt)
        let codec = try context.readyCodec()
        var page = [UInt8](repeating: 0, count: profile.pageSize)
        defer { page.withUnsafeMutableBytes { $0.wipe() } }
        // Without a lock, this read can overlap a write of the page. Retry.
        for _ in 0..<4 {
            let isAuthentic = try page.withUnsafeMutableBytes { memory -> Bool in
                guard let start = memory.baseAddress, try file.read(memory, at: 0) == memory.count else { return false }
                return codec.decrypt(start, page: 1, into: start)
            }
            if isAuthentic { return }
            usleep(1000)
        }
        let finding = FileExamination.examine(context: context) { target, count, offset in
            let memory = UnsafeMutableRawBufferPointer(start: target, count: count)
            return (try? file.read(memory, at: offset)) == count ? SQLITE_OK : SQLITE_IOERR_SHORT_READ
        } size: {
            try? file.size()
        }
        // `damagedPage` means that another page decrypted, so the key is right.
        if finding.code != .damagedPage { throw finding }
    }
}
