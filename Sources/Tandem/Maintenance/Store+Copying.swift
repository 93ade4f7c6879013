import Foundation
import GRDB
import SQLiteCipher

extension Store {
    /// The encryption of a store's copy.
    enum CopyEncryption {
        /// The encryption of the store itself.
        case same
        case plain
        case encrypted(CipherKey, profile: CipherProfile)

        var isSame: Bool { if case .same = self { true } else { false } }
    }

    private func isPlain(_ encryption: CopyEncryption) -> Bool {
        switch encryption {
        case .same: cipher == nil
        case .plain: true
        case .encrypted: false
        }
    }

    /// Hooks for tests while a store is copied.
    struct CopyHooks {
        /// Called before the database is copied, the first time.
        var willCopy: () throws -> Void = {}
        /// Called when the copy and its files are complete, before its database is in place.
        var hasFiles: () throws -> Void = {}
        /// Called after the copy is in place.
        var isInPlace: () throws -> Void = {}
    }

    /// Copies the store to a temporary file beside the target, and then replaces the target with it.
    func copy(to path: String, as encryption: CopyEncryption, hooks: CopyHooks = CopyHooks()) throws {
        try checkOpen()
        let frame = AccessFrame.current(on: self)
        // SQLite can rebuild a database only outside of transactions.
        if frame is WriteTransaction || frame != nil && !encryption.isSame {
            throw TandemError(
                .invalidQuery, message: "A store can't be copied inside a transaction.",
                advice: "Copy it after the block has returned.",
                store: self.path)
        }
        do {
            try StoreFile(path).check(isEncrypted: !isPlain(encryption), isReadOnly: false)
            // Replace the file itself, and not a link to it, because its files are beside it.
            let place = StorePath(path)
            let target = place.real
            try checkTarget(place, encryption: encryption)
            // Use the shortest possible name, independent of the target's name.
            let partial = StoreFile(target).folder + "/.tandem-\(UUIDv7.shared.next())"
            defer { try? DatabaseCopier.removeDatabase(partial) }
            let files = try copyWithFiles(
                to: self.install(partial, encryption: encryption), target: target, encryption: encryption, hooks: hooks)
            // A failed copy must leave no files.
            var isDone = false
            defer { if !isDone { files?.discard() } }
            try hooks.hasFiles()
            try StoreFile.flush(partial)
            try checkTarget(place, encryption: encryption)
            let written = FileMark(partial)
            guard rename(partial, target) == 0 else {
                throw TandemError(
                    .ioFailure, message: "The copy can't replace the target: \(String(cString: strerror(errno))).",
                    advice: "Check the folder's permissions.", store: path)
            }
            isDone = true
            try StoreFile.flush(StoreFile(target).folder)
            try hooks.isInPlace()
            CopiedFiles.finish(files, at: target, written: written)
        } catch {
            throw located(TandemError.naming(error, path: path))
        }
    }

    /// Copies the database, and the files that the copy names. The folder is locked before the database is copied, so
    /// that no file is removed meanwhile.
    private func copyWithFiles(
        to place: DatabaseCopier.Endpoint, target: String, encryption: CopyEncryption, hooks: CopyHooks
    ) throws -> CopiedFiles? {
        func copyDatabase() throws {
            try reading { try DatabaseCopier.copy(from: $0.sqlite, at: file, to: place) }
        }
        let knownKey = try fileKey(ofStoreAt: target, encryption: encryption)
        let hasFolder = file.map { BlobCopier.isNeeded(for: $0) } ?? schema.hasAttachments
        try hooks.willCopy()
        if !hasFolder {
            try copyDatabase()
            // Without a folder nothing was locked, and the first file may just have been added.
            guard try hasFiles(place) else {
                try removePrivateData(from: place)
                return nil
            }
            try DatabaseCopier.removeDatabase(place.path)
        }
        let folder = try fileFolder()
        return try folder.whileCopying {
            try copyDatabase()
            return try copyFiles(from: folder, to: target, namedBy: place, encryption: encryption, knownKey: knownKey)
        }
    }

    private func hasFiles(_ place: DatabaseCopier.Endpoint) throws -> Bool {
        let copy = try place.open(GRDB.Configuration())
        defer { try? copy.close() }
        return try BlobCopier.isNeeded(of: copy)
    }

    private func copyFiles(
        from folder: FileFolder, to target: String, namedBy place: DatabaseCopier.Endpoint,
        encryption: CopyEncryption, knownKey: FileKey?
    ) throws -> CopiedFiles? {
        let copy = try place.open(GRDB.Configuration())
        defer { try? copy.close() }
        let missing = BlobCopier.Missing.refused { blob in
            try self.readingNewest { try $0.names(blob) }
        }
        try copy.writeWithoutTransaction { db in
            try FileKeys.remove(from: db)
            try CommitRecorder.removeTable(from: db)
        }
        return try BlobCopier(copy: copy, source: folder, target: target, missing: missing, knownKey: knownKey)
            .run(isEncrypted: !isPlain(encryption))
    }

    /// Removes the store's file keys from a copy that names no file, and the values before recent commits. The copy
    /// creates a key with its first file.
    private func removePrivateData(from place: DatabaseCopier.Endpoint) throws {
        let copy = try place.open(GRDB.Configuration())
        try copy.writeWithoutTransaction { db in
            if cipher != nil { try FileKeys.remove(from: db) }
            try CommitRecorder.removeTable(from: db)
        }
        try copy.close()
    }

    /// Returns the file key of the store that a copy replaces.
    private func fileKey(ofStoreAt target: String, encryption: CopyEncryption) throws -> FileKey? {
        guard !isPlain(encryption), FileManager.default.fileExists(atPath: target) else { return nil }
        return try Self.reading(install(target, encryption: encryption)) { try FileKeys($0)?.current }
    }

    private func install(_ path: String, encryption: CopyEncryption) throws -> DatabaseCopier.Endpoint {
        switch encryption {
        case .plain: .plain(path)
        case .encrypted(let key, let profile):
            .encrypted(try EncryptedDatabase(path: path, key: key, profile: profile))
        case .same:
            if let cipher { .encrypted(try cipher.sibling(at: path)) } else { .plain(path) }
        }
    }

    /// Checks that the target may be replaced.
    private func checkTarget(_ target: StorePath, encryption: CopyEncryption) throws {
        let files = FileManager.default
        for suffix in ["-wal", "-shm", "-journal"] where files.fileExists(atPath: target.real + suffix) {
            throw TandemError(
                .busy, message: "The target store is open, or was not closed.", advice: "Close it first.",
                store: target.given)
        }
        guard files.fileExists(atPath: target.real) else { return }
        let place = try install(target.real, encryption: encryption)
        do {
            try Self.checkIsStore(place)
        } catch {
            // Any other file must not be replaced.
            throw TandemError(
                .notAStore, message: "The target is not a Tandem store that this copy can replace.",
                advice: "Check the path. Nothing was written to it.", store: target.given, underlying: error)
        }
    }

    /// Throws if a database is not a Tandem store.
    static func checkIsStore(_ place: DatabaseCopier.Endpoint) throws {
        if case .plain(let path) = place {
            // Do not use a connection, which would write another program's unfinished log to its file.
            let head = DatabaseHead(path: path)
            if head?.isStore == true { return }
            if head?.isUndecided == true, hasLog(path), try isStore(place) { return }
        } else if try isStore(place) {
            return
        }
        throw TandemError(
            .notAStore, message: "The file is a database, but not a Tandem store.",
            advice: "Check the path. Nothing was written to it.", store: place.path)
    }

    private static func hasLog(_ path: String) -> Bool { access(path + "-wal", F_OK) == 0 }

    private static func isStore(_ place: DatabaseCopier.Endpoint) throws -> Bool {
        try reading(place) { try Int64.fetchOne($0, sql: "PRAGMA application_id") } == DatabaseHead.applicationID
    }

    /// Reads a store that is not open, and leaves no file beside it.
    private static func reading<Value>(
        _ place: DatabaseCopier.Endpoint, body: (Database) throws -> Value
    ) throws -> Value {
        var configuration = GRDB.Configuration()
        configuration.readonly = true
        let queue =
            if case .encrypted(let database) = place, !hasLog(place.path) {
                // Otherwise the connection would create the log that it needs beside the file, and could not remove it.
                try database.openUnchanging(configuration: configuration)
            } else {
                try place.open(configuration)
            }
        defer { try? queue.close() }
        return try queue.read(body)
    }
}
