import GRDB
import SQLiteCipher
import Synchronization

/// The encryption of a store: its key and its profile, while the store is open.
final class StoreCipher: Sendable {
    /// The original path.
    let path: String
    /// The resolved path of the file, without symbolic links.
    let file: String
    /// `nil` after the store is closed. The key is then released with the last connection.
    private let database: Mutex<EncryptedDatabase?>

    init(path: String, key: CipherKey, profile: CipherProfile) throws {
        self.path = path
        file = StorePath(path).real
        do {
            database = Mutex(try EncryptedDatabase(path: file, key: key, profile: profile))
        } catch {
            throw TandemError.naming(error, path: path)
        }
    }

    /// Releases the key.
    func forget() {
        // Release it outside the lock, because that wipes memory.
        _ = database.withLock { database in
            defer { database = nil }
            return database
        }
    }

    private func current() throws -> EncryptedDatabase {
        guard let database = database.withLock({ $0 }) else {
            throw TandemError(.closed, message: "The store is closed.", store: path)
        }
        return database
    }

    func open(_ configuration: GRDB.Configuration) throws -> DatabaseQueue {
        try current().openQueue(configuration: configuration)
    }

    /// Returns the error behind an SQLite result code of the store's connections, if encryption caused it.
    func explain(_ code: Int32) -> TandemError? {
        guard let database = try? current(), let error = database.explain(sqliteCode: code) else { return nil }
        return TandemError(error, path: path)
    }

    /// Returns another file with the same key and profile, and its own salt.
    func sibling(at path: String) throws -> EncryptedDatabase {
        try current().sibling(at: path)
    }
}
