import GRDB

/// Methods for code that calls SQLite directly.
extension EncryptedDatabase {
    /// Returns the error behind a SQLite result code, as ``explain(_:)`` does for GRDB's errors.
    ///
    /// Call it on the thread on which SQLite returned the code. Errors of connections on other threads are not
    /// returned.
    ///
    /// - Parameter sqliteCode: The extended result code of a connection to this database, as `sqlite3_extended_errcode`
    ///   returns it.
    /// - Returns: `nil` if encryption did not cause the error.
    public func explain(sqliteCode: Int32) -> CipherError? {
        let error = DatabaseError(resultCode: ResultCode(rawValue: sqliteCode))
        return explain(error, after: 0, ofThisThread: true) as? CipherError
    }

    /// Opens a database that has no log and that is not modified while it is open. The connection creates no files
    /// beside it, because a read-only connection could not remove them.
    package func openUnchanging(configuration base: Configuration) throws -> DatabaseQueue {
        try explaining { try DatabaseQueue(path: uri("immutable=1"), configuration: configuration(base)) }
    }

    /// Returns another database with the same key and profile. That file gets its own salt.
    package func sibling(at path: String) throws -> EncryptedDatabase {
        try EncryptedDatabase(path: path, key: entry.key, profile: entry.profile)
    }
}
