import Crypto
import Foundation
import GRDB
import SQLiteCipher

/// Brings along the files that a copy of a store names.
///
/// They are put into the copy's folder, beside those that a store which is to be replaced has there, before the database
/// takes its place; what nobody names then is swept. So a crash leaves the old store with all its files or the new one
/// with all of its own, and files too many at worst, which its next opening removes.
struct FileCopying {
    /// The copy's database, which has not taken its place yet.
    let copy: DatabaseQueue
    /// Where the files come from.
    let source: FileFolder
    /// The path that the copy's database is to have.
    let target: String
    /// Whether a file that can't be read is left out. The object is worth more than the file, where it is salvaged; a
    /// backup must not be without it.
    let leavesOut: Bool

    private struct File {
        let id: String
        let blob: BlobName
        let isSealed: Bool
        let isUploaded: Bool
        let sha256: FileDigest?
    }

    /// - Parameter isEncrypted: Whether the copy has a key: its files are encrypted with its own key for files.
    /// - Returns: The copy's folder and what is to stay in it; `nil` if it names no file.
    func run(isEncrypted: Bool) throws -> (folder: FileFolder, names: Set<BlobName>)? {
        let files = try self.files()
        guard !files.isEmpty else { return nil }
        let folder = FileFolder(path: StoreFiles.path(of: target), key: isEncrypted ? try key() : nil)
        try folder.lockOpen()
        var names: Set<BlobName> = []
        do {
            for file in files where try bring(file, to: folder) { names.insert(file.blob) }
            try copy.write { db in
                try db.execute(
                    sql: #"UPDATE "__files" SET "sealed" = ? WHERE "blob" IS NOT NULL"#, arguments: [isEncrypted])
            }
        } catch {
            Self.discard((folder, names), at: target)
            throw error
        }
        return (folder, names)
    }

    private func files() throws -> [File] {
        try copy.read { db in
            guard try db.tableExists("__files") else { return [] }
            return try Row.fetchAll(
                db, sql: #"SELECT "id", "blob", "sealed", "state", "sha256" FROM "__files" WHERE "blob" IS NOT NULL"#
            ).compactMap { row in
                guard let text = row[1] as String?, let blob = BlobName(text), let id = row[0] as String? else {
                    return nil
                }
                return File(
                    id: id, blob: blob, isSealed: (row[2] as Int64?) == 1,
                    isUploaded: (row[3] as Int64?) == FileState.uploaded.rawValue,
                    sha256: (row[4] as String?).flatMap { FileDigest(hex: $0) })
            }
        }
    }

    /// Copies a file; `false` if it can't be read and is left out.
    private func bring(_ file: File, to folder: FileFolder) throws -> Bool {
        do {
            try copy(file, to: folder)
            return true
        } catch let error as TandemError where error.code == .corrupt && (leavesOut || file.isUploaded) {
            try forget(file)
            return false
        }
    }

    /// The copy's key for files: that of the store, if it has one.
    private func key() throws -> FileKey {
        let bytes = try copy.write { db -> Data? in
            let made = Data((0..<32).map { _ in UInt8.random(in: 0...255) })
            try db.execute(
                sql: #"INSERT OR IGNORE INTO "__settings" ("key", "value") VALUES ('fileKey', ?)"#, arguments: [made])
            return try Data.fetchOne(db, sql: #"SELECT "value" FROM "__settings" WHERE "key" = 'fileKey'"#)
        }
        return try FileKey(raw: [UInt8](bytes ?? Data()))
    }

    private func copy(_ file: File, to folder: FileFolder) throws {
        if try folder.contains(file.blob) {
            // From an earlier copy of the same store: names are given once, and files are written once.
            if try isSame(file, in: folder) { return }
            try folder.remove(file.blob)
        }
        try source.copy(file.blob, sealed: file.isSealed, to: folder)
    }

    private func isSame(_ file: File, in folder: FileFolder) throws -> Bool {
        guard let expected = file.sha256 else { return false }
        var hash = SHA256()
        do {
            try folder.open(file.blob, sealed: folder.key != nil).eachPiece(of: 1 << 20) { hash.update(data: $0) }
        } catch {
            return false
        }
        return FileDigest(hash.finalize()) == expected
    }

    /// A server has the file, or nobody.
    private func forget(_ file: File) throws {
        try copy.write { db in
            try db.execute(
                sql: """
                    UPDATE "__files" SET "blob" = NULL, "state" = CASE "state" WHEN 2 THEN 2 ELSE 3 END, \
                    "reason" = CASE "state" WHEN 2 THEN NULL ELSE ? END WHERE "id" = ?
                    """, arguments: [FileState.lost, file.id])
        }
    }

    /// Called when the copy has taken its place: what lies in its folder and is none of its own goes.
    static func finish(_ copied: (folder: FileFolder, names: Set<BlobName>)?, at target: String) {
        copied?.folder.close()
        // A store that was replaced may have had files, and the new one none.
        let folder = FileFolder(path: StoreFiles.path(of: target), key: nil)
        _ = try? folder.tryAlone { try folder.sweep { copied?.names.contains($0) == true } }
        folder.close()
    }

    /// Removes the files of a copy that did not come about. A store that is there in its place may name them too, and
    /// sweeps what it does not name when it is opened.
    static func discard(_ copied: (folder: FileFolder, names: Set<BlobName>), at target: String) {
        if !FileManager.default.fileExists(atPath: target) {
            for name in copied.names { _ = try? copied.folder.remove(name) }
        }
        copied.folder.close()
    }

    /// Whether there are files beside a database.
    static func isNeeded(for database: String) -> Bool {
        FileManager.default.fileExists(atPath: StoreFiles.path(of: database))
    }
}
