import Foundation
import GRDB
import GRDBSQLite

/// An encrypted SQLite database: a file, its key and its profile.
///
/// It opens queues and pools of GRDB, which are then used as ever:
///
/// ```swift
/// let database = try EncryptedDatabase(path: "notes.db", key: .passphrase(typed))
/// let pool = try database.openPool()
/// try pool.write { db in try db.execute(sql: "CREATE TABLE note (text TEXT)") }
/// ```
///
/// A file that does not exist is made. Making a value of this type touches nothing.
///
/// The key is kept until this value and each connection opened with it are gone. Then what was kept is overwritten.
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

    /// The database's file.
    public var path: String { entry.path }
    public var profile: CipherProfile { entry.profile }

    /// Names a database and what opens it.
    ///
    /// - Throws: ``CipherError`` if the path names a database in memory, a raw key or an option is out of range, or the
    ///   process's SQLite lacks what is needed.
    public init(path: String, key: CipherKey, profile: CipherProfile = .aes256gcm) throws {
        try self.init(path: path, key: key, profile: profile, indexFolders: IndexFolders.system)
    }

    /// - Parameter indexFolders: The folders that may be in memory, for tests of a system where they are not.
    package init(path: String, key: CipherKey, profile: CipherProfile, indexFolders: [String]) throws {
        guard !path.isEmpty, !path.contains(":memory:") else {
            throw CipherError(
                .inMemory, "A database in memory has no file to encrypt.",
                advice: "Open it without a key, or give a path.")
        }
        guard !path.utf8.contains(0) else { throw CipherError(.cannotOpen, "A path can't contain a zero byte.") }
        guard !path.lowercased().hasPrefix("file:") else {
            throw CipherError(
                .cannotOpen, "The path is a URI.", advice: "Give a plain path; the URI is made from it.", path: path)
        }
        try profile.validate()
        if case .provider = key.source {} else { _ = try key.resolved() }
        try CipherVFS.register()
        let absolute = path.hasPrefix("/") ? path : FileManager.default.currentDirectoryPath + "/" + path
        entry = try KeyEntry(path: absolute, key: key, profile: profile, indexFolders: indexFolders)
        KeyRegistry.register(entry)
    }

    // MARK: - Opening

    /// The name under which SQLite opens the database, in this process and while this value lives. For `ATTACH`, and
    /// for those who call SQLite themselves.
    ///
    /// It holds a random handle, no key.
    public var uri: String { uri() }

    func uri(_ parameters: String...) -> String {
        FileURI.of(path, ["vfs=\(CipherVFS.name)", "kid=\(entry.handle)"] + parameters)
    }

    /// A configuration for opening ``uri``, made from one of your own.
    ///
    /// It does not keep the key: keep this value until the first connection is open, which keeps the key from then on.
    ///
    /// It keeps temporary tables in memory, and has SQLite overwrite what is deleted (inside the encryption), so that
    /// no page is left unwritten.
    public func configuration(_ base: Configuration = Configuration()) -> Configuration {
        var configuration = base
        // NB: it must not hold the key: GRDB 7.10 keeps a configuration after its queue is gone. Open files do that.
        configuration.prepareDatabase { db in
            try db.execute(sql: "PRAGMA temp_store = MEMORY; PRAGMA secure_delete = ON")
        }
        return configuration
    }

    /// Opens a `DatabaseQueue`.
    ///
    /// With `Configuration.readonly`, where SQLite can't make the files that it locks and there is neither log nor
    /// journal, the database is opened as one that nobody changes, as on a medium that can't be written. Where others
    /// may write, and this process may not, give it the right to write to the folder.
    ///
    /// - Throws: ``CipherError``, such as ``CipherError/Code/wrongKey``; GRDB's `DatabaseError` for what has nothing to
    ///   do with encryption.
    public func openQueue(configuration base: Configuration = Configuration()) throws -> DatabaseQueue {
        try opening(base) { try DatabaseQueue(path: $0, configuration: $1) }
    }

    /// Opens a `DatabasePool`, and so turns the database to a write-ahead log.
    ///
    /// - Throws: as ``openQueue(configuration:)`` does.
    public func openPool(configuration base: Configuration = Configuration()) throws -> DatabasePool {
        try opening(base) { try DatabasePool(path: $0, configuration: $1) }
    }

    /// On a medium that can't be written, where SQLite can't make the files it would lock, a database with no log beside
    /// it is opened as one that nobody changes.
    private func opening<Reader>(
        _ base: Configuration, _ open: (String, Configuration) throws -> Reader
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

    /// Says what is wrong with the file when SQLite's own error can't: which page is damaged, say.
    ///
    /// ``openQueue(configuration:)`` and ``openPool(configuration:)`` do so by themselves. For example, later:
    ///
    /// ```swift
    /// do {
    ///     try pool.read { db in … }
    /// } catch {
    ///     throw database.explain(error)
    /// }
    /// ```
    ///
    /// - Returns: a ``CipherError``, or the error as it was if this module knows nothing of it.
    public func explain(_ error: any Error) -> any Error {
        explain(error, after: 0)
    }

    /// - Parameter serial: what was noted before explains nothing.
    private func explain(_ error: any Error, after serial: Int) -> any Error {
        guard let error = error as? DatabaseError else { return error }
        if let finding = readOnlyFinding(error) { return finding }
        let code = error.extendedResultCode.rawValue
        guard var incident = entry.takeIncident(code: code, after: serial) else { return error }
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

    /// A key for files that belong to this database, such as attachments: see ``EncryptedFile``.
    ///
    /// It is bound to the database's key and salt: after ``changeKey(to:profile:)`` nothing gives it again. Whoever
    /// may change the key makes a random ``FileKey/init(raw:)`` and keeps its bytes in the database instead.
    ///
    /// - Throws: ``CipherError/Code/wrongKey`` if the key does not open the database, and the other errors of opening.
    public func fileKey() throws -> FileKey {
        let file = try LowerFile(reading: path)
        var salt = [UInt8](repeating: 0, count: PageLayout.saltSize)
        guard try salt.withUnsafeMutableBytes({ try file.read($0, at: 0) }) == salt.count else {
            throw CipherError(.notADatabase, "The database is empty: its salt is not made yet.", path: path)
        }
        try prove(file, salt: salt)
        return FileKey(master: try entry.keys(salt: salt).fileMaster())
    }

    /// Checks that the key opens the file: what is encrypted under another one's could never be read.
    private func prove(_ file: LowerFile, salt: [UInt8]) throws {
        let context = ConnectionContext(entry: entry, path: path)
        context.use(salt: salt)
        let codec = try context.readyCodec()
        var page = [UInt8](repeating: 0, count: profile.pageSize)
        defer { page.withUnsafeMutableBytes { $0.wipe() } }
        // Without a lock a page can be read while it is being written.
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
        // Another page proved the key right.
        if finding.code != .damagedPage { throw finding }
    }
}
