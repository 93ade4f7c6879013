import Foundation
import GRDB
import SQLiteCipher

/// An encryption of files that were attached before the store was encrypted or its key was changed.
///
/// Each file is written under a new name. Then its row is updated, and the old file is left over. If the process dies
/// in between, the next opening of the store continues.
struct BlobEncryptor {
    let connection: Connection
    let folder: FileFolder

    /// - Throws: The error of a file. The other files are encrypted.
    func run() throws {
        let hasOlderKeys = folder.keys?.older.isEmpty == false
        let files = try connection.rows(
            #"SELECT "id", "blob", "sealed" FROM "__files" WHERE "blob" IS NOT NULL"#
                + (hasOlderKeys ? "" : #" AND "sealed" = 0"#)
        ) { (try $0.text(0), BlobName(try $0.text(1)), $0.integer(2) == 1) }
        // An unreadable file must not block the others, or the store.
        var failure: (any Error)?
        for case (let id, let blob?, let sealed) in files {
            do {
                // A missing file is damage. It can't be encrypted.
                if try folder.contains(blob), try !sealed || folder.isOutdated(blob) {
                    try encrypt(id, blob: blob, isSealed: sealed)
                }
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
        guard hasOlderKeys else { return }
        try FileKeys.removeOlder(connection)
        folder.forgetOlderKeys()
    }

    private func encrypt(_ id: String, blob: BlobName, isSealed: Bool) throws {
        let sealed = try folder.encrypt(blob, sealed: isSealed)
        do {
            try connection.execute(
                #"UPDATE "__files" SET "blob" = ?, "sealed" = 1 WHERE "id" = ? AND "blob" = ?"#,
                binding: [.text(sealed.blob.rawValue), .text(id), .text(blob.rawValue)])
        } catch {
            _ = try? folder.remove(sealed.blob)
            throw error
        }
        // Another process may have been faster.
        if connection.changes == 0 { try folder.remove(sealed.blob) }
    }
}

extension BlobEncryptor {
    /// Encrypts a plain store that is not open, and its files. The folder then contains no unencrypted file, not even
    /// one left by a crash.
    ///
    /// - Parameter didEncrypt: A closure that is called when the database is encrypted, while the plain files still
    ///   exist.
    /// - Throws: ``TandemError/Code/busy`` if another process or store has the folder open. The store is then
    ///   unchanged. If the store was encrypted but a file could not be, the error says so.
    static func encrypt(_ database: EncryptedDatabase, didEncrypt: () throws -> Void = {}) throws {
        let folder = FileFolder(path: AttachmentFiles.path(of: database.path), key: nil)
        defer { folder.close() }
        let wasThere = try folder.withExclusiveLock { isThere in
            try database.encryptPlainFile()
            if isThere { try naming(database.path, achieved: encrypted) { try encryptFiles(of: database) } }
            return isThere
        }
        try didEncrypt()
        guard !wasThere else { return }
        // The first file may have been added before the database was locked.
        try naming(database.path, achieved: encrypted) {
            do {
                try folder.withExclusiveLock { if $0 { try encryptFiles(of: database) } }
            } catch let error as TandemError where error.code == .busy {
                // A process that has opened the store by now has used its key and encrypted the files.
            }
        }
    }

    /// Changes the key of an encrypted store that is not open.
    ///
    /// The store's files are encrypted again, with a new key for files.
    ///
    /// - Throws: ``TandemError/Code/busy`` if the store is open. It is then unchanged. If the store has its new key but
    ///   a file could not be encrypted again, the error says so.
    static func changeKey(of database: EncryptedDatabase, to key: CipherKey, profile: CipherProfile?) throws {
        let folder = FileFolder(path: AttachmentFiles.path(of: database.path), key: nil)
        defer { folder.close() }
        try folder.withExclusiveLock { isThere in
            let renewed = try database.changeKey(to: key, profile: profile, adjusting: FileKeys.renew)
            if isThere {
                try naming(database.path, achieved: "The store has its new key now, but not all of its files:") {
                    try encryptFiles(of: renewed)
                }
            }
        }
    }

    private static let encrypted = "The store is encrypted now, but not all of its files:"

    /// Runs a block, and prefixes its errors with the steps that succeeded.
    private static func naming(_ path: String, achieved: String, body: () throws -> Void) throws {
        do {
            try body()
        } catch {
            let error = TandemError.naming(error, path: path) as? TandemError
            throw TandemError(
                error?.code ?? .ioFailure,
                message: "\(achieved) \(error?.message ?? "")",
                advice: "Open it with its key, which encrypts the other files. checkIntegrity reports failures.",
                store: path, underlying: error)
        }
    }

    /// - Precondition: No other process or store has the folder open, or copies from it.
    private static func encryptFiles(of database: EncryptedDatabase) throws {
        var configuration = GRDB.Configuration()
        // A process that opens the store now writes to it, and waits for the folder.
        configuration.busyMode = .timeout(5)
        let queue = try database.openQueue(configuration: configuration)
        defer { try? queue.close() }
        let folder = FileFolder(
            path: AttachmentFiles.path(of: database.path), keys: try queue.write { try FileKeys.made($0) })
        defer { folder.close() }
        let connection = try Connection(queue: queue, path: database.path)
        defer { connection.finalizeStatements() }
        try queue.unsafeReentrantWrite { _ in
            let hasFiles = try connection.value("SELECT 1 FROM sqlite_master WHERE name = '__files'") != nil
            let failure: (any Error)?
            do {
                if hasFiles { try BlobEncryptor(connection: connection, folder: folder).run() }
                failure = nil
            } catch {
                failure = error
            }
            guard BlobGarbageCollector.flushLog(of: database.path) else {
                throw TandemError.file("flushed", path: database.path)
            }
            // Remove the plain originals, and files that a crashed process attached but did not commit.
            try folder.sweep(completely: true) { try hasFiles && connection.names($0) }
            if let failure { throw failure }
        }
    }
}
