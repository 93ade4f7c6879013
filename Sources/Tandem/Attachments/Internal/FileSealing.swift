import Foundation
import GRDB
import SQLiteCipher

/// Encrypts the files of a store that was encrypted after they had been attached: each under a new name, then its row,
/// then the old one goes. A process that dies in between has done what it has done; the next opening goes on.
struct FileSealing {
    let connection: Connection
    let folder: FileFolder

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
                try seal(id, blob)
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
        if connection.changes == 0 {
            try folder.remove(sealed.blob)
        } else if (try? StoreFile.flush(connection.path + "-wal")) != nil {
            try folder.remove(blob)
        }
    }
}

extension FileSealing {
    /// Encrypts the files of a store that has just been encrypted itself, and is not open.
    static func seal(filesOf database: EncryptedDatabase) throws {
        guard FileCopying.isNeeded(for: database.path) else { return }
        let queue = try database.openQueue()
        defer { try? queue.close() }
        let bytes = try queue.write { db -> [UInt8]? in
            guard try db.tableExists("__files") else { return nil }
            let made = [UInt8]((0..<32).map { _ in UInt8.random(in: 0...255) })
            try db.execute(
                sql: #"INSERT OR IGNORE INTO "__settings" ("key", "value") VALUES ('fileKey', ?)"#,
                arguments: [Data(made)])
            return try Data.fetchOne(db, sql: #"SELECT "value" FROM "__settings" WHERE "key" = 'fileKey'"#).map {
                Array($0)
            }
        }
        guard let bytes else { return }
        let folder = FileFolder(path: StoreFiles.path(of: database.path), key: try FileKey(raw: bytes))
        defer { folder.close() }
        try folder.lockOpen()
        let connection = try Connection(queue: queue, path: database.path)
        defer { connection.finalizeStatements() }
        try queue.unsafeReentrantWrite { _ in try FileSealing(connection: connection, folder: folder).run() }
    }
}
