import Foundation
import GRDB

extension EncryptedDatabase {
    /// Changes the database's key, its profile, or both, in place.
    ///
    /// ```swift
    /// let renewed = try database.changeKey(to: .passphrase(new))
    /// ```
    ///
    /// Close all other connections first. If the process dies at any moment, either the old key or the new key opens
    /// the database. During the change, the folder holds both files, and needs the space for that.
    ///
    /// A connection in a rollback journal mode that another process left idle is not detected. It gets
    /// ``CipherError/Code/cannotOpen`` at its next use.
    ///
    /// The old file's bytes stay on the disk until the system overwrites them. With the old key and the disk, they can
    /// still be read.
    ///
    /// - Warning: The new key has another ``fileKey()``, and the old one can't be derived any more. Files that were
    ///   encrypted with it are readable only with a copy made before. If the key may change, keep a random
    ///   ``FileKey/init(raw:)`` in the database.
    ///
    /// - Parameters:
    ///   - key: The new key.
    ///   - profile: The new format; `nil` to keep the current one.
    /// - Returns: The database with its new key. `self` can't open it any more.
    /// - Throws: ``CipherError/Code/busy`` if another connection has the database open, or if another change of the key
    ///   is running.
    /// - Complexity: O(n) in the size of the database, which is read twice and written once.
    public func changeKey(to key: CipherKey, profile: CipherProfile? = nil) throws -> EncryptedDatabase {
        try changeKey(to: key, profile: profile) { _ in }
    }

    /// Changes the key as ``changeKey(to:profile:)`` does.
    ///
    /// - Parameter adjust: Changes the new database before it replaces the old one. It runs outside a transaction.
    package func changeKey(
        to key: CipherKey, profile: CipherProfile?, adjusting adjust: @escaping (Database) throws -> Void
    ) throws -> EncryptedDatabase {
        guard FileManager.default.fileExists(atPath: path) else {
            throw CipherError(.cannotOpen, message: "The file does not exist.", path: path)
        }
        let profile = profile ?? self.profile
        // Resolve the key once: a provider may return another key the next time.
        let key = try key.resolved()
        try InPlaceRewrite(
            source: .encrypted(self),
            target: { .encrypted(try EncryptedDatabase(path: $0, key: key, profile: profile)) },
            adjust: adjust
        ).run()
        return try EncryptedDatabase(path: path, key: key, profile: profile)
    }

    /// Encrypts a plain database in place, with this value's key and profile.
    ///
    /// ```swift
    /// let database = try EncryptedDatabase(path: "notes.db", key: .passphrase(new))
    /// try database.encryptPlainFile()
    /// ```
    ///
    /// It is as safe in a crash as ``changeKey(to:profile:)``, and has the same conditions. The plain file's bytes stay
    /// on the disk until the system overwrites them. No temporary file is created: SQLite sorts in memory.
    ///
    /// - Warning: A plain connection in a rollback journal mode that another process left idle is not detected. It does
    ///   not detect the change either: it keeps writing to the replaced file, and its commits are lost. Close all
    ///   connections.
    ///
    /// - Throws: ``CipherError/Code/notADatabase`` if the file is not a plain SQLite database.
    public func encryptPlainFile() throws {
        try DatabaseCopier.Endpoint.plain(path).checkHead()
        // Resolve the key before the file is touched.
        let (key, profile) = (try entry.key.resolved(), profile)
        try InPlaceRewrite(
            source: .plain(path),
            target: {
                .encrypted(try EncryptedDatabase(path: $0, key: key, profile: profile))
            }
        ).run()
    }

    /// Copies the current state of the database to a plain file that does not exist yet.
    ///
    /// Other connections may continue to read and write.
    ///
    /// - Parameter path: The path of the new file.
    /// - Throws: ``CipherError/Code/wrongKey`` and the other errors of opening the database;
    ///   ``CipherError/Code/alreadyExists`` if a file exists at the path.
    public func exportPlain(to path: String) throws {
        try export(to: .plain(path))
    }

    /// Copies the current state of the database to a file that does not exist yet, with another key or profile.
    ///
    /// ```swift
    /// let exchange = try EncryptedDatabase(path: "exchange.db", key: .passphrase(shared), profile: .sqlCipher4)
    /// try database.export(to: exchange)
    /// ```
    ///
    /// - Parameter other: The path, key and profile of the new file.
    /// - Throws: ``CipherError/Code/wrongKey`` and the other errors of opening the database;
    ///   ``CipherError/Code/alreadyExists`` if a file exists at the path.
    public func export(to other: EncryptedDatabase) throws {
        try export(to: .encrypted(other))
    }

    private func export(to target: DatabaseCopier.Endpoint) throws {
        guard FileManager.default.fileExists(atPath: path) else {
            throw CipherError(.cannotOpen, message: "The file does not exist.", path: path)
        }
        let queue = try openQueue()
        try explaining { try DatabaseCopier.copy(from: queue, at: path, to: target) }
        try queue.close()
    }
}
