import GRDB
import SQLiteCipher
import Synchronization

/// The encryption of one store: its key and its profile, for as long as the store is open.
final class StoreCipher: Sendable {
    /// The path as it was given.
    let path: String
    /// The file itself, whatever links lead to it.
    let file: String
    /// `nil` once the store is closed: then the key goes with the last connection.
    private let database: Mutex<EncryptedDatabase?>

    init(path: String, key: CipherKey, profile: CipherProfile) throws {
        self.path = path
        file = StorePath(path).real
        do {
            database = Mutex(try EncryptedDatabase(path: file, key: key, profile: profile))
        } catch {
            throw TandemError.naming(error, path)
        }
    }

    /// Lets go of the key.
    func forget() {
        // Outside the lock: what goes here wipes memory.
        _ = database.withLock { database in
            defer { database = nil }
            return database
        }
    }

    private func current() throws -> EncryptedDatabase {
        guard let database = database.withLock({ $0 }) else {
            throw TandemError(.closed, "The store is closed.", store: path)
        }
        return database
    }

    func open(_ configuration: GRDB.Configuration) throws -> DatabaseQueue {
        try current().openQueue(configuration: configuration)
    }

    /// What was behind a result code of SQLite's on one of the store's connections, if the encryption had a part in it.
    func explain(_ code: Int32) -> TandemError? {
        guard let database = try? current(), let error = database.explain(sqliteCode: code) else { return nil }
        return TandemError(error, path: path)
    }

    /// Another file with the same key and profile, and a salt of its own.
    func sibling(at path: String) throws -> EncryptedDatabase {
        try current().sibling(at: path)
    }
}
