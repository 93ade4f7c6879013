import Crypto
import Foundation
import GRDB
import SQLiteCipher

/// A copy of the files that a copy of a store names.
///
/// The files are added to the copy's folder before the database is put in place. The folder may contain the files of a
/// store to be replaced. Unnamed files are swept afterwards: see ``CopiedFiles``. So a crash leaves either the old
/// store or the new one with all its files. At worst there are extra files, which the next opening removes.
struct BlobCopier {
    /// The handling of a named file that can't be read.
    enum Missing {
        /// The file is left out. A salvaged object is worth more than its file.
        case leftOut
        /// The file causes an error: a backup must contain it, unless a server has it. The error depends on whether the
        /// store's newest state still names the file.
        case refused(isNamed: (BlobName) throws -> Bool)

        /// Whether the copy is a salvaged store, which is already in place.
        var isSalvage: Bool { if case .leftOut = self { true } else { false } }
    }

    /// The copy's database. It is not in place yet, unless it was salvaged.
    let copy: DatabaseQueue
    /// The folder from which files are copied.
    let source: FileFolder
    /// The final path of the copy's database.
    let target: String
    let missing: Missing
    /// The key for files of the store that the copy replaces, so that its files can stay. `nil` makes a new key.
    var knownKey: FileKey?

    private struct File {
        let id: String
        let blob: BlobName
        let isSealed: Bool
        let isUploaded: Bool
        let sha256: FileDigest?
    }

    /// - Parameter isEncrypted: Whether the copy has a key. Its files are then encrypted with its own key for files.
    /// - Returns: The copy's folder and its files, or `nil` if the copy names no file.
    func run(isEncrypted: Bool) throws -> CopiedFiles? {
        let files = try self.files()
        guard !files.isEmpty else { return nil }
        let key = isEncrypted ? try copy.write { try FileKeys.replace(in: $0, by: knownKey).current } : nil
        let folder = FileFolder(path: AttachmentFiles.path(of: target), key: key)
        let copied = try CopiedFiles(folder: folder, target: target, hasPlace: missing.isSalvage)
        do {
            for file in files { try bring(file, to: copied) }
            try copy.write { db in
                try db.execute(
                    sql: #"UPDATE "__files" SET "sealed" = ? WHERE "blob" IS NOT NULL"#, arguments: [isEncrypted])
                // These files are in the other folder, or were never copied.
                try db.execute(sql: #"DELETE FROM "__file_leftovers""#)
                if !missing.isSalvage { try db.execute(sql: UploadOwnershipSQL.leaveToOriginal) }
            }
        } catch {
            copied.discard()
            throw error
        }
        return copied
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

    /// Copies a file. Leaves it out if it can't be read and may be missing.
    private func bring(_ file: File, to copied: CopiedFiles) throws {
        do {
            try copy(file, to: copied)
        } catch let error as TandemError where error.code == .corrupt || error.code == .invalidKey {
            switch missing {
            case .leftOut: break
            case .refused where file.isUploaded && error.code == .corrupt: break
            case .refused(let isNamed):
                if try isNamed(file.blob) { throw error }
                throw TandemError(
                    .attachmentNotHere, message: "A file of the state to be copied was removed since.",
                    advice: "Make the copy outside of the read block, which began earlier.", underlying: error)
            }
            try forget(file)
        }
    }

    private func copy(_ file: File, to copied: CopiedFiles) throws {
        let folder = copied.folder
        guard try folder.contains(file.blob) else {
            try source.copy(file.blob, sealed: file.isSealed, to: folder)
            return copied.record(file.blob, isNew: true)
        }
        // The file comes from an earlier copy of the same store. Names are unique, and files are written once.
        if try isSame(file, in: folder) { return copied.record(file.blob, isNew: false) }
        // The file is damaged, or encrypted with another key for files. The store to be replaced needs it until then.
        let name = BlobName.random()
        try source.copy(file.blob, sealed: file.isSealed, to: folder, as: name)
        copied.record(name, isNew: true, isOurs: true)
        try copy.write { db in
            try db.execute(
                sql: #"UPDATE "__files" SET "blob" = ? WHERE "id" = ?"#, arguments: [name.rawValue, file.id])
        }
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

    /// Records that only a server has the file, or that it is lost.
    private func forget(_ file: File) throws {
        try copy.write { db in
            try db.execute(
                sql: """
                    UPDATE "__files" SET "blob" = NULL, "sealed" = 0, "state" = CASE "state" WHEN 2 THEN 2 ELSE 3 END, \
                    "reason" = CASE "state" WHEN 2 THEN NULL ELSE ? END WHERE "id" = ?
                    """, arguments: [FileState.lost, file.id])
        }
    }

    /// Returns whether a folder of files exists beside a database.
    static func isNeeded(for database: String) -> Bool {
        FileManager.default.fileExists(atPath: AttachmentFiles.path(of: database))
    }

    /// Returns whether a copy names files that are stored beside its original.
    static func isNeeded(of copy: DatabaseQueue) throws -> Bool {
        try copy.read { db in
            guard try db.tableExists("__files") else { return false }
            return try Row.fetchOne(db, sql: #"SELECT 1 FROM "__files" WHERE "blob" IS NOT NULL LIMIT 1"#) != nil
        }
    }
}
