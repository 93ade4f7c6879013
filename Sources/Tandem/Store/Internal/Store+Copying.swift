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

    /// Where tests step in while a store is copied.
    struct CopyHooks {
        /// Called before the database is copied, the first time.
        var willCopy: () throws -> Void = {}
        /// Called when the copy is complete, with its files in place, and its database not yet.
        var hasFiles: () throws -> Void = {}
        /// Called when the copy has taken its place.
        var isInPlace: () throws -> Void = {}
    }

    /// Copies the store to a file of its own beside the target, which then takes the target's place.
    func copy(to path: String, as encryption: CopyEncryption, hooks: CopyHooks = CopyHooks()) throws {
        try checkOpen()
        let frame = AccessFrame.current(on: self)
        // What SQLite builds anew it builds outside of transactions.
        if frame is WriteTransaction || frame != nil && !encryption.isSame {
            throw TandemError(
                .invalidQuery, "A store can't be copied inside a transaction.", advice: "Leave the block first.",
                store: self.path)
        }
        do {
            try StoreFile(path).check(isEncrypted: !isPlain(encryption), isReadOnly: false)
            // The file itself is replaced, not a link to it: its files lie beside it.
            let place = StorePath(path)
            let target = place.real
            try checkTarget(place, encryption)
            // A name as short as the folder allows, whatever the target's.
            let partial = StoreFile(target).folder + "/.tandem-\(UUIDv7.shared.next())"
            defer { try? Rewriting.removeDatabase(partial) }
            let files = try copyWithFiles(to: self.place(partial, encryption), target, encryption, hooks)
            // A copy that does not come about leaves none of its files.
            var isDone = false
            defer { if !isDone { files?.discard() } }
            try hooks.hasFiles()
            try StoreFile.flush(partial)
            try checkTarget(place, encryption)
            let written = FileMark(partial)
            guard rename(partial, target) == 0 else {
                throw TandemError(
                    .ioFailure, "The copy can't take its place: \(String(cString: strerror(errno))).",
                    advice: "Check the folder's permissions.", store: path)
            }
            isDone = true
            try StoreFile.flush(StoreFile(target).folder)
            try hooks.isInPlace()
            CopiedFiles.finish(files, at: target, written)
        } catch {
            throw located(TandemError.naming(error, path))
        }
    }

    /// Copies the database, and the files that the copy names. None of them goes meanwhile: the folder is locked before
    /// the database is copied.
    private func copyWithFiles(
        to place: Rewriting.Place, _ target: String, _ encryption: CopyEncryption, _ hooks: CopyHooks
    ) throws -> CopiedFiles? {
        func copyDatabase() throws {
            try reading { try Rewriting.copy(from: $0.sqlite, at: file, to: place) }
        }
        let knownKey = try fileKey(ofStoreAt: target, encryption)
        let hasFolder = file.map { FileCopying.isNeeded(for: $0) } ?? schema.hasAttachments
        try hooks.willCopy()
        if !hasFolder {
            try copyDatabase()
            // Without a folder nothing was locked, and the first file may just have come.
            guard try hasFiles(place) else {
                try removeFileKeys(from: place)
                return nil
            }
            try Rewriting.removeDatabase(place.path)
        }
        let folder = try fileFolder()
        return try folder.whileCopying {
            try copyDatabase()
            return try copyFiles(from: folder, to: target, namedBy: place, encryption, knownKey: knownKey)
        }
    }

    private func hasFiles(_ place: Rewriting.Place) throws -> Bool {
        let copy = try place.open(GRDB.Configuration())
        defer { try? copy.close() }
        return try FileCopying.isNeeded(of: copy)
    }

    private func copyFiles(
        from folder: FileFolder, to target: String, namedBy place: Rewriting.Place, _ encryption: CopyEncryption,
        knownKey: FileKey?
    ) throws -> CopiedFiles? {
        let copy = try place.open(GRDB.Configuration())
        defer { try? copy.close() }
        let missing = FileCopying.Missing.refused { blob in
            try self.readingNewest { try $0.names(blob) }
        }
        try copy.writeWithoutTransaction { try FileKeys.remove(from: $0) }
        return try FileCopying(copy: copy, source: folder, target: target, missing: missing, knownKey: knownKey)
            .run(isEncrypted: !isPlain(encryption))
    }

    /// Removes the store's keys for files from a copy that names no file. The copy makes one with its first file.
    private func removeFileKeys(from place: Rewriting.Place) throws {
        guard cipher != nil else { return }
        let copy = try place.open(GRDB.Configuration())
        try copy.writeWithoutTransaction { try FileKeys.remove(from: $0) }
        try copy.close()
    }

    /// The key for files of the store that a copy replaces.
    private func fileKey(ofStoreAt target: String, _ encryption: CopyEncryption) throws -> FileKey? {
        guard !isPlain(encryption), FileManager.default.fileExists(atPath: target) else { return nil }
        return try Self.reading(place(target, encryption)) { try FileKeys($0)?.current }
    }

    private func place(_ path: String, _ encryption: CopyEncryption) throws -> Rewriting.Place {
        switch encryption {
        case .plain: .plain(path)
        case .encrypted(let key, let profile):
            .encrypted(try EncryptedDatabase(path: path, key: key, profile: profile))
        case .same:
            if let cipher { .encrypted(try cipher.sibling(at: path)) } else { .plain(path) }
        }
    }

    /// Whether the target may be replaced.
    private func checkTarget(_ target: StorePath, _ encryption: CopyEncryption) throws {
        let files = FileManager.default
        for suffix in ["-wal", "-shm", "-journal"] where files.fileExists(atPath: target.real + suffix) {
            throw TandemError(
                .busy, "The target store is open, or was not closed.", advice: "Close it first.", store: target.given)
        }
        guard files.fileExists(atPath: target.real) else { return }
        let place = try place(target.real, encryption)
        do {
            try Self.checkIsStore(place)
        } catch {
            // Whatever else is there is not ours to replace.
            throw TandemError(
                .notAStore, "The target is no Tandem store that this copy could replace.",
                advice: "Check the path; nothing was written to it.", store: target.given, underlying: error)
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
        try reading(place) { try Int64.fetchOne($0, sql: "PRAGMA application_id") } == StoreOpener.applicationID
    }

    /// Reads a store that is not open, and leaves no file beside it.
    private static func reading<Value>(_ place: Rewriting.Place, _ body: (Database) throws -> Value) throws -> Value {
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
        return try queue.read(body)
    }
}
