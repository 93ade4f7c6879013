import Crypto
import Foundation
import GRDB
import SQLiteCipher

/// Brings along the files that a copy of a store names.
///
/// They are put into the copy's folder, beside those that a store which is to be replaced has there, before the database
/// takes its place; what nobody names then is swept: see ``CopiedFiles``. So a crash leaves the old store with all its
/// files or the new one with all of its own, and files too many at worst, which its next opening removes.
struct FileCopying {
    /// What is done about a file that the copy names and that can't be read.
    enum Missing {
        /// It is left out. The object is worth more than the file, where it is salvaged.
        case leftOut
        /// It is an error: a backup must not be without it, unless a server has it. What is told hangs on whether the
        /// store, as it is by now, names the file still.
        case refused(isNamed: (BlobName) throws -> Bool)

        /// Whether the copy is what was salvaged, in its place already.
        var isSalvage: Bool { if case .leftOut = self { true } else { false } }
    }

    /// The copy's database, which has not taken its place yet, unless it was salvaged.
    let copy: DatabaseQueue
    /// Where the files come from.
    let source: FileFolder
    /// The path that the copy's database is to have.
    let target: String
    let missing: Missing
    /// The key for files of the store that the copy replaces, whose files can stay then. `nil` makes a new one.
    var knownKey: FileKey?

    private struct File {
        let id: String
        let blob: BlobName
        let isSealed: Bool
        let isUploaded: Bool
        let sha256: FileDigest?
    }

    /// - Parameter isEncrypted: Whether the copy has a key: its files are encrypted with its own key for files.
    /// - Returns: The copy's folder and what is to stay in it; `nil` if it names no file.
    func run(isEncrypted: Bool) throws -> CopiedFiles? {
        let files = try self.files()
        guard !files.isEmpty else { return nil }
        let key = isEncrypted ? try copy.write { try FileKeys.replace(in: $0, by: knownKey).current } : nil
        let folder = FileFolder(path: StoreFiles.path(of: target), key: key)
        let copied = try CopiedFiles(folder: folder, target: target, hasPlace: missing.isSalvage)
        do {
            for file in files { try bring(file, to: copied) }
            try copy.write { db in
                try db.execute(
                    sql: #"UPDATE "__files" SET "sealed" = ? WHERE "blob" IS NOT NULL"#, arguments: [isEncrypted])
                // That lies in the other folder, or was never brought.
                try db.execute(sql: #"DELETE FROM "__file_leftovers""#)
                if !missing.isSalvage { try db.execute(sql: SentFiles.leaveToOriginal) }
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

    /// Copies a file, unless it can't be read and is left out.
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
                    .attachmentNotHere, "A file of the state that is to be copied has gone since that was the store's.",
                    advice: "Make the copy outside of the read block, which began before.", underlying: error)
            }
            try forget(file)
        }
    }

    private func copy(_ file: File, to copied: CopiedFiles) throws {
        let folder = copied.folder
        guard try folder.contains(file.blob) else {
            try source.copy(file.blob, sealed: file.isSealed, to: folder)
            return copied.note(file.blob, isNew: true)
        }
        // From an earlier copy of the same store: names are given once, and files are written once.
        if try isSame(file, in: folder) { return copied.note(file.blob, isNew: false) }
        // Damaged, or encrypted with another key for files. The store that is to be replaced has it until then.
        let name = BlobName.random()
        try source.copy(file.blob, sealed: file.isSealed, to: folder, as: name)
        copied.note(name, isNew: true, isOurs: true)
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

    /// A server has the file, or nobody.
    private func forget(_ file: File) throws {
        try copy.write { db in
            try db.execute(
                sql: """
                    UPDATE "__files" SET "blob" = NULL, "sealed" = 0, "state" = CASE "state" WHEN 2 THEN 2 ELSE 3 END, \
                    "reason" = CASE "state" WHEN 2 THEN NULL ELSE ? END WHERE "id" = ?
                    """, arguments: [FileState.lost, file.id])
        }
    }

    /// Whether there are files beside a database.
    static func isNeeded(for database: String) -> Bool {
        FileManager.default.fileExists(atPath: StoreFiles.path(of: database))
    }

    /// Whether a copy names files that lie beside what it was copied from.
    static func isNeeded(of copy: DatabaseQueue) throws -> Bool {
        try copy.read { db in
            guard try db.tableExists("__files") else { return false }
            return try Row.fetchOne(db, sql: #"SELECT 1 FROM "__files" WHERE "blob" IS NOT NULL LIMIT 1"#) != nil
        }
    }
}
