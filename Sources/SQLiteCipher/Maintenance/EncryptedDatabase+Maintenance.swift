import Foundation
import GRDB

extension EncryptedDatabase {
    /// Gives the database another key, another profile, or both, in place.
    ///
    /// ```swift
    /// let renewed = try database.changeKey(to: .passphrase(new))
    /// ```
    ///
    /// All other connections must be closed. The process may die at any moment: the database opens with the old key
    /// or with the new one, never with neither. While it works, the folder holds both, so it needs the room for that.
    ///
    /// A connection that another process opened in a rollback journal mode and left idle is not seen; it gets
    /// ``CipherError/Code/cannotOpen`` at its next use.
    ///
    /// The old file's bytes stay on the disk until the system uses them for something else: whoever has the old key
    /// and the disk can read what was there.
    ///
    /// - Warning: The new key gives another ``fileKey()``, and the old one is gone with the old salt. Files that were
    ///   encrypted with it can be read only by who took it before. Where the key may change, keep a random
    ///   ``FileKey/init(raw:)`` in the database.
    ///
    /// - Returns: the database with its new key. `self` opens it no longer.
    /// - Throws: ``CipherError/Code/busy`` if another connection has the database open, or another change of the key is
    ///   under way.
    /// - Complexity: O(n) in the size of the database, which is read twice and written once.
    public func changeKey(to key: CipherKey, profile: CipherProfile? = nil) throws -> EncryptedDatabase {
        try changeKey(to: key, profile: profile) { _ in }
    }

    /// Changes the key as ``changeKey(to:profile:)`` does.
    ///
    /// - Parameter adjust: Changes the new database before it takes the old one's place. Not in a transaction.
    package func changeKey(
        to key: CipherKey, profile: CipherProfile?, adjusting adjust: @escaping (Database) throws -> Void
    ) throws -> EncryptedDatabase {
        guard FileManager.default.fileExists(atPath: path) else {
            throw CipherError(.cannotOpen, "There is no such file.", path: path)
        }
        let profile = profile ?? self.profile
        // Asked for once: a provider may well give another key the next time.
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
    /// As safe at a crash as ``changeKey(to:profile:)``, and under the same conditions. What the plain file held stays
    /// on the disk until the system uses its place again. No temporary file is made: what SQLite sorts meanwhile stays in
    /// memory.
    ///
    /// - Warning: A plain connection that another process opened in a rollback journal mode and left idle is not seen, and
    ///   does not notice: it goes on writing to the file that was replaced, and what it commits is lost. Close them all.
    ///
    /// - Throws: ``CipherError/Code/notADatabase`` if the file is no plain SQLite database.
    public func encryptPlainFile() throws {
        try Rewriting.Place.plain(path).checkHead()
        // Asked for before anything is touched.
        let (key, profile) = (try entry.key.resolved(), profile)
        try InPlaceRewrite(
            source: .plain(path),
            target: {
                .encrypted(try EncryptedDatabase(path: $0, key: key, profile: profile))
            }
        ).run()
    }

    /// Copies the database, as it is at this moment, to a plain file that does not exist yet.
    ///
    /// Other connections may go on reading and writing.
    public func exportPlain(to path: String) throws {
        try export(to: .plain(path))
    }

    /// Copies the database, as it is at this moment, to a file that does not exist yet, with another key or profile.
    ///
    /// ```swift
    /// let exchange = try EncryptedDatabase(path: "exchange.db", key: .passphrase(shared), profile: .sqlCipher4)
    /// try database.export(to: exchange)
    /// ```
    public func export(to other: EncryptedDatabase) throws {
        try export(to: .encrypted(other))
    }

    private func export(to target: Rewriting.Place) throws {
        guard FileManager.default.fileExists(atPath: path) else {
            throw CipherError(.cannotOpen, "There is no such file.", path: path)
        }
        let queue = try openQueue()
        try explaining { try Rewriting.copy(from: queue, at: path, to: target) }
        try queue.close()
    }
}
