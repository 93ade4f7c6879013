import Foundation
import GRDB
import GRDBSQLite
import SQLiteCipher

extension Store {
    /// How a copy of a store is kept.
    enum CopyEncryption {
        /// As the store itself.
        case same
        case plain
        case encrypted(CipherKey, CipherProfile)

        var isSame: Bool { if case .same = self { true } else { false } }
    }

    private func isPlain(_ encryption: CopyEncryption) -> Bool {
        switch encryption {
        case .same: cipher == nil
        case .plain: true
        case .encrypted: false
        }
    }

    /// Copies the store to a file of its own beside the target, which then takes the target's place.
    func copy(to path: String, as encryption: CopyEncryption) throws {
        try checkOpen()
        let frame = AccessFrame.current(on: self)
        // What SQLite builds anew it builds outside of transactions.
        if frame is WriteTransaction || frame != nil && !encryption.isSame {
            throw TandemError(
                .invalidQuery, "A store can't be copied inside a transaction.", advice: "Leave the block first.",
                store: self.path)
        }
        let target = StoreFile(path)
        do {
            try target.check(isEncrypted: !isPlain(encryption), isReadOnly: false)
            try checkTarget(path, encryption)
            // A name as short as the folder allows, whatever the target's.
            let partial = target.folder + "/.tandem-\(UUIDv7.shared.next())"
            defer { try? Rewriting.removeDatabase(partial) }
            let place = try place(partial, encryption)
            var files: (folder: FileFolder, names: Set<BlobName>)?
            // A copy that does not come about leaves none of its files.
            var isDone = false
            defer { if !isDone, let files { FileCopying.discard(files, at: path) } }
            try whileFilesStay { folder in
                try reading { connection in
                    try Rewriting.copy(from: connection.sqlite, at: readers == nil ? nil : self.path, to: place)
                }
                files = try folder.flatMap { try copyFiles(from: $0, to: path, namedBy: place, encryption) }
            }
            try StoreFile.flush(partial)
            try checkTarget(path, encryption)
            guard rename(partial, path) == 0 else {
                throw TandemError(
                    .ioFailure, "The copy can't take its place: \(String(cString: strerror(errno))).",
                    advice: "Check the folder's permissions.", store: path)
            }
            isDone = true
            try StoreFile.flush(target.folder)
            FileCopying.finish(files, at: path)
        } catch {
            throw TandemError.naming(error, path)
        }
    }

    /// Runs a block in which no file goes that a row names when it begins.
    private func whileFilesStay(_ body: (FileFolder?) throws -> Void) throws {
        let hasFiles =
            readers == nil ? schema.hasAttachments : FileCopying.isNeeded(for: StoreFile(self.path).absolute)
        guard hasFiles else { return try body(nil) }
        let folder = try fileFolder()
        try folder.whileCopying { try body(folder) }
    }

    private func copyFiles(
        from folder: FileFolder, to path: String, namedBy place: Rewriting.Place, _ encryption: CopyEncryption
    ) throws -> (folder: FileFolder, names: Set<BlobName>)? {
        let copy = try place.open(GRDB.Configuration())
        defer { try? copy.close() }
        return try FileCopying(copy: copy, source: folder, target: path, leavesOut: false)
            .run(isEncrypted: !isPlain(encryption))
    }

    private func place(_ path: String, _ encryption: CopyEncryption) throws -> Rewriting.Place {
        let path = StoreFile(path).absolute
        return switch encryption {
        case .plain: .plain(path)
        case .encrypted(let key, let profile):
            .encrypted(try EncryptedDatabase(path: path, key: key, profile: profile))
        case .same:
            if let cipher { .encrypted(try cipher.sibling(at: path)) } else { .plain(path) }
        }
    }

    /// Whether the target may be replaced.
    private func checkTarget(_ path: String, _ encryption: CopyEncryption) throws {
        let files = FileManager.default
        for suffix in ["-wal", "-shm", "-journal"] where files.fileExists(atPath: path + suffix) {
            throw TandemError(
                .busy, "The target store is open, or was not closed.", advice: "Close it first.", store: path)
        }
        guard files.fileExists(atPath: path) else { return }
        let place = try place(path, encryption)
        do {
            try Self.checkIsStore(place)
        } catch {
            // Whatever else is there is not ours to replace.
            throw TandemError(
                .notAStore, "The target is no Tandem store that this copy could replace.",
                advice: "Check the path; nothing was written to it.", store: path, underlying: error)
        }
    }

    /// Throws if a database is no Tandem store.
    static func checkIsStore(_ place: Rewriting.Place) throws {
        if case .plain(let path) = place {
            // Without a connection, which would write an unfinished log of another program's back to its file.
            let head = DatabaseHead(path: path)
            if head?.isStore == true { return }
            if head?.isUndecided == true, hasLog(path), try isStore(place) { return }
        } else if try isStore(place) {
            return
        }
        throw TandemError(
            .notAStore, "The file is a database, but no Tandem store.",
            advice: "Check the path; nothing was written to it.", store: place.path)
    }

    private static func hasLog(_ path: String) -> Bool { access(path + "-wal", F_OK) == 0 }

    private static func isStore(_ place: Rewriting.Place) throws -> Bool {
        var configuration = GRDB.Configuration()
        configuration.readonly = true
        let queue =
            if case .encrypted(let database) = place, !hasLog(place.path) {
                // Or the connection would leave the log that it needs beside the file, and could not remove it.
                try database.openUnchanging(configuration: configuration)
            } else {
                try place.open(configuration)
            }
        defer { try? queue.close() }
        return try queue.read { try Int64.fetchOne($0, sql: "PRAGMA application_id") } == StoreOpener.applicationID
    }
}
