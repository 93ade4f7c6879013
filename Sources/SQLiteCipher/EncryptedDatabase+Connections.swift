import GRDB

/// For those who call SQLite themselves.
extension EncryptedDatabase {
    /// Says what was behind a result code of SQLite's, as ``explain(_:)`` does of GRDB's errors.
    ///
    /// - Parameter sqliteCode: an extended result code, as `sqlite3_extended_errcode` gives it, of a connection to this
    ///   database.
    /// - Returns: `nil` if the encryption had no part in it.
    public func explain(sqliteCode: Int32) -> CipherError? {
        explain(DatabaseError(resultCode: ResultCode(rawValue: sqliteCode))) as? CipherError
    }

    /// Opens a database that has no log and that nobody changes meanwhile. Nothing is made beside it, which a read-only
    /// connection could not remove.
    package func openUnchanging(configuration base: Configuration) throws -> DatabaseQueue {
        try explaining { try DatabaseQueue(path: uri("immutable=1"), configuration: configuration(base)) }
    }

    /// Another file with the same key and profile. It gets a salt of its own.
    package func sibling(at path: String) throws -> EncryptedDatabase {
        try EncryptedDatabase(path: path, key: entry.key, profile: entry.profile)
    }
}
