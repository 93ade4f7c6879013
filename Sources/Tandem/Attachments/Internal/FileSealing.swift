import Foundation
import GRDB
import SQLiteCipher

/// Encrypts the files of a store that was encrypted after they had been attached: each under a new name, then its row;
/// the old one is left over then. A process that dies in between has done what it has done; the next opening goes on.
struct FileSealing {
    let connection: Connection
    let folder: FileFolder

    /// - Throws: What went wrong with a file: the others are encrypted.
    func run() throws {
        let plain = #"SELECT "id", "blob" FROM "__files" WHERE "sealed" = 0 AND "blob" IS NOT NULL"#
        let statement = try connection.uncachedStatement(plain)
        var files: [(id: String, blob: BlobName)] = []
        while try statement.step() {
            if let blob = BlobName(try statement.text(1)) { files.append((try statement.text(0), blob)) }
        }
        statement.reset()
        // What can't be read must not hold up the others, nor the store.
        var failure: (any Error)?
        for (id, blob) in files {
            do {
                // One that is missing is damage, and there is nothing to encrypt.
                if try folder.contains(blob) { try seal(id, blob) }
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
    }

    private func seal(_ id: String, _ blob: BlobName) throws {
        let sealed = try folder.seal(blob)
        do {
            try connection.execute(
                #"UPDATE "__files" SET "blob" = ?, "sealed" = 1 WHERE "id" = ? AND "blob" = ?"#,
                [.text(sealed.blob.rawValue), .text(id), .text(blob.rawValue)])
        } catch {
            _ = try? folder.remove(sealed.blob)
            throw error
        }
        // Another process may have been faster.
        if connection.changes == 0 { try folder.remove(sealed.blob) }
    }
}

extension FileSealing {
    /// Encrypts a plain store that is not open, and its files. Nothing that was in the clear lies in the folder then, nor
    /// what a process that died has left there.
    ///
    /// - Parameter didEncrypt: Called when the database is encrypted, with the files that lay beside it then.
    /// - Throws: ``TandemError/Code/busy`` if somebody has the folder open: the store is as it was. If the store is
    ///   encrypted and a file could not be, the error says so.
    static func encrypt(_ database: EncryptedDatabase, didEncrypt: () throws -> Void = {}) throws {
        let folder = FileFolder(path: StoreFiles.path(of: database.path), key: nil)
        defer { folder.close() }
        let wasThere = try folder.alone { isThere in
            try database.encryptPlainFile()
            if isThere { try naming(database.path) { try sealFiles(of: database) } }
            return isThere
        }
        try didEncrypt()
        guard !wasThere else { return }
        // The first file may have come before the database was taken.
        try naming(database.path) {
            do {
                try folder.alone { if $0 { try sealFiles(of: database) } }
            } catch let error as TandemError where error.code == .busy {
                // Who has it open by now has opened it with its key, and has done just this.
            }
        }
    }

    /// Runs a block whose errors say that the store is encrypted for all that.
    private static func naming(_ path: String, _ body: () throws -> Void) throws {
        do {
            try body()
        } catch {
            let error = TandemError.naming(error, path) as? TandemError
            throw TandemError(
                error?.code ?? .ioFailure,
                "The store is encrypted now, but not all of its files: \(error?.message ?? "")",
                advice: "Open it with its key, which encrypts what is left; checkIntegrity tells what can't be.",
                store: path, underlying: error)
        }
    }

    /// - Precondition: Nobody else has the folder open, nor copies from it.
    private static func sealFiles(of database: EncryptedDatabase) throws {
        var configuration = GRDB.Configuration()
        // Who opens the store just now writes to it, and waits for the folder.
        configuration.busyMode = .timeout(5)
        let queue = try database.openQueue(configuration: configuration)
        defer { try? queue.close() }
        let folder = FileFolder(path: StoreFiles.path(of: database.path), key: try key(queue))
        defer { folder.close() }
        let connection = try Connection(queue: queue, path: database.path)
        defer { connection.finalizeStatements() }
        try queue.unsafeReentrantWrite { _ in
            let hasFiles = try connection.value("SELECT 1 FROM sqlite_master WHERE name = '__files'") != nil
            let failure: (any Error)?
            do {
                if hasFiles { try FileSealing(connection: connection, folder: folder).run() }
                failure = nil
            } catch {
                failure = error
            }
            guard FileCollecting.flushLog(of: database.path) else {
                throw TandemError.file("flushed", database.path)
            }
            // The plain ones that were encrypted, and what was attached and not written by a process that died.
            try folder.sweep(completely: true) { try hasFiles && connection.names($0) }
            if let failure { throw failure }
        }
    }

    /// The store's key for files, which is made if there is none.
    private static func key(_ queue: DatabaseQueue) throws -> FileKey {
        let bytes = try queue.write { db -> Data? in
            let made = Data((0..<32).map { _ in UInt8.random(in: 0...255) })
            try db.execute(
                sql: #"INSERT OR IGNORE INTO "__settings" ("key", "value") VALUES ('fileKey', ?)"#, arguments: [made])
            return try Data.fetchOne(db, sql: #"SELECT "value" FROM "__settings" WHERE "key" = 'fileKey'"#)
        }
        return try FileKey(raw: [UInt8](bytes ?? Data()))
    }
}
