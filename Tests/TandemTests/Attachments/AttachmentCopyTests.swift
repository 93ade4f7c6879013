import Foundation
import GRDB
import SQLiteCipher
import TandemTesting
import TestSupport
import Testing

@testable import Tandem

/// Backups, exports, encryption and salvage copy the files too.
@Suite(.ownThreads) struct AttachmentCopyTests {
    let folder: TestFolder
    init() throws { folder = try TestFolder() }

    private static let otherKey = CipherKey.raw([UInt8](1...32))

    private func fill(_ store: Store) throws -> [Attachment] {
        let files = [try store.attach("cover"), try store.attach(String(repeating: "страница", count: 30_000))]
        try store.write { try $0.insert(Album(title: "а", cover: files[0], pages: [files[1]])) }
        return files
    }

    private func expectFiles(_ store: Store, sourceLocation: SourceLocation = #_sourceLocation) throws {
        let album = try #require(try store.objects(Album.self).first(), sourceLocation: sourceLocation)
        #expect(try store.text(of: album.cover) == "cover", sourceLocation: sourceLocation)
        #expect(
            try store.text(of: album.pages.first) == String(repeating: "страница", count: 30_000),
            sourceLocation: sourceLocation)
        for file in album.pages { try store.attachments.verify(file) }
        try store.expectFilesInOrder(sourceLocation: sourceLocation)
    }

    @Test(arguments: StoreKind.allCases, StoreKind.files)
    func `an export contains the files in its own encryption`(source: StoreKind, target: StoreKind) throws {
        let store = try source.open(at: folder.file(), [Album.self])
        defer { store.close() }
        _ = try fill(store)
        // The second round replaces the first copy and has one file less.
        for round in 0..<2 {
            if round == 0 { try store.write { try $0.insert(Album(title: "б", cover: store.attach("gone"))) } }
            if let profile = target.profile {
                try store.export(to: folder.file("copy"), key: Self.otherKey, profile: profile)
            } else {
                try store.exportPlain(to: folder.file("copy"))
            }
            let copy =
                if let profile = target.profile {
                    try Store(at: folder.file("copy"), key: Self.otherKey, profile: profile, models: Album.self)
                } else {
                    try Store(at: folder.file("copy"), models: Album.self)
                }
            try expectFiles(copy)
            #expect(try copy.blobs().count == 3 - round)
            copy.close()
            if round == 0 {
                _ = try store.write { tx in try tx.delete(tx.objects(Album.self).where { $0.title == "б" }) }
            }
        }
        try expectFiles(store)
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasPrefix(".tandem") }
        #expect(names == [])
    }

    @Test(arguments: StoreKind.allCases) func `a backup contains the files`(kind: StoreKind) throws {
        let store = try kind.open(at: folder.file(), [Album.self])
        _ = try fill(store)
        let draft = try store.attach("draft")
        try store.backup(to: folder.file("backup"))
        _ = try store.write { try $0.delete($0.objects(Album.self)) }
        #expect(try store.text(of: draft) == "draft" && store.blobs().count == 1)
        store.close()
        let kind = kind == .memory ? StoreKind.file : kind
        let backup = try kind.open(at: folder.file("backup"), [Album.self])
        defer { backup.close() }
        try expectFiles(backup)
    }

    @Test func `a backup of a store without files has no folder and removes the folder of a replaced store`() throws {
        let store = try Store(at: folder.file(), models: Album.self)
        defer { store.close() }
        try store.backup(to: folder.file("backup"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).allSatisfy { !$0.contains("-files") })
        let full = try Store(at: folder.file("full"), models: Album.self)
        _ = try fill(full)
        try full.backup(to: folder.file("backup"))
        full.close()
        try store.backup(to: folder.file("backup"))
        let backup = try Store(at: folder.file("backup"), models: Album.self)
        defer { backup.close() }
        #expect(try backup.blobs() == [] && backup.objects(Album.self).count() == 0)
    }

    @Test func `no file is removed during a copy, and the next write removes them`() throws {
        let store = try Store(at: folder.file(), models: Album.self)
        defer { store.close() }
        _ = try fill(store)
        try store.fileFolder().whileCopying {
            _ = try store.write { try $0.delete($0.objects(Album.self)) }
            #expect(try store.blobs().count == 2 && store.knownFiles() == [])
            #expect(try store.checkIntegrity() == [])
        }
        try store.write { _ in }
        #expect(try store.blobs() == [] && store.knownFiles() == [])
        try store.expectFilesInOrder()
    }

    @Test func `a backup fails if a pending file is missing, unless the target already has it`() throws {
        let store = try Store(at: folder.file(), models: Album.self)
        defer { store.close() }
        let files = try fill(store)
        try store.backup(to: folder.file("backup"))
        let url = try #require(try store.attachments.diskURL(of: files[0]))
        let bytes = try Data(contentsOf: url)
        try FileManager.default.removeItem(at: url)
        expectError(.corrupt) { try store.backup(to: folder.file("second")) }
        try store.backup(to: folder.file("backup"))
        #expect(!FileManager.default.fileExists(atPath: folder.file("second")))
        let left = try #require(FileManager.default.enumerator(atPath: folder.file("second") + "-files"))
        #expect(!left.contains { BlobName((("\($0)") as NSString).lastPathComponent) != nil })
        let backup = try Store(at: folder.file("backup"), models: Album.self)
        try expectFiles(backup)
        backup.close()
        // A file that the server has too is left out.
        try store.write { _ = try $0.sync.acknowledgeUpload(of: files[0].id, at: "https://e.org/1", etag: nil) }
        try store.backup(to: folder.file("second"))
        let second = try Store(at: folder.file("second"), models: Album.self)
        defer { second.close() }
        #expect(
            try second.attachments.status(of: files[0])
                == AttachmentStatus(state: .uploaded, isOnDevice: false, attempts: 0))
        #expect(try second.checkIntegrity() == [])
        try bytes.write(to: url)
    }

    @Test(arguments: StoreKind.withKey) func `encrypting a store encrypts its files`(kind: StoreKind) throws {
        let store = try Store(at: folder.file(), models: Album.self)
        let files = try fill(store)
        let old = try #require(try store.attachments.diskURL(of: files[0])).path
        store.close()
        try Store.encrypt(at: folder.file(), key: StoreKind.key, profile: kind.profile ?? .aes256gcm)
        #expect(!FileManager.default.fileExists(atPath: old))
        var encrypted = try kind.open(at: folder.file(), [Album.self])
        try expectFiles(encrypted)
        #expect(try encrypted.sql("SELECT DISTINCT sealed FROM __files").map { $0[0] } == [.integer(1)])
        encrypted.close()
        try Store.changeKey(
            at: folder.file(), from: StoreKind.key, profile: kind.profile ?? .aes256gcm, to: Self.otherKey)
        encrypted = try Store(
            at: folder.file(), key: Self.otherKey, profile: kind.profile ?? .aes256gcm, models: Album.self)
        defer { encrypted.close() }
        try expectFiles(encrypted)
    }

    @Test func `opening an encrypted store encrypts the files that are still plain`() throws {
        var store = try Store(at: folder.file(), models: Album.self)
        let files = try fill(store)
        store.close()
        // The state after a process ended between encrypting the database and its files.
        let database = try EncryptedDatabase(path: folder.file(), key: StoreKind.key)
        try database.encryptPlainFile()
        store = try StoreKind.encrypted.open(at: folder.file(), [Album.self])
        defer { store.close() }
        #expect(try store.sql("SELECT DISTINCT sealed FROM __files").map { $0[0] } == [.integer(1)])
        let url = try #require(try store.attachments.diskURL(of: files[0]))
        #expect(try !Data(contentsOf: url).shows("cover"))
        try expectFiles(store)
    }

    @Test(arguments: StoreKind.withKey) func `a salvaged store has its files`(kind: StoreKind) throws {
        let store = try kind.open(at: folder.file(), [Album.self])
        let files = try fill(store)
        let lost = try #require(try store.attachments.diskURL(of: files[0]))
        store.close()
        try FileManager.default.removeItem(at: lost)
        _ = try Store.salvage(
            at: folder.file(), key: StoreKind.key, profile: kind.profile ?? .aes256gcm, to: folder.file("salvaged"))
        let salvaged = try kind.open(at: folder.file("salvaged"), [Album.self])
        defer { salvaged.close() }
        let album = try #require(try salvaged.objects(Album.self).first())
        #expect(album.cover == files[0])
        expectError(.attachmentNotHere) { try salvaged.attachments.data(of: files[0]) }
        #expect(try salvaged.attachments.status(of: files[0]).state == .failed(reason: FileState.lost))
        try salvaged.attachments.verify(files[1])
        try salvaged.expectFilesInOrder()
    }

    @Test(arguments: StoreKind.withKey)
    func `salvage recovers the lost rows of files that were waiting for upload`(kind: StoreKind) throws {
        let store = try kind.open(at: folder.file(), [Album.self])
        let files = try fill(store)
        let lost = String(repeating: "f", count: 32)
        try store.writer.queue.unsafeReentrantWrite { _ in
            for id in [files[0].id.rawValue, lost] {
                try store.writer.connection.execute(
                    #"INSERT INTO "__file_uploads" VALUES (?, ?)"#,
                    binding: [.text(id), .text("https://shop.example/\(id)")])
            }
        }
        #expect(try store.checkIntegrity().count == 1)
        store.close()
        _ = try Store.salvage(
            at: folder.file(), key: StoreKind.key, profile: kind.profile ?? .aes256gcm, to: folder.file("salvaged"))
        let salvaged = try kind.open(at: folder.file("salvaged"), [Album.self])
        defer { salvaged.close() }
        #expect(try salvaged.sql("SELECT file FROM __file_uploads").map { $0[0] } == [.text(files[0].id.rawValue)])
        #expect(
            try salvaged.sql("SELECT url FROM __file_deletions").map { $0[0] } == [
                .text("https://shop.example/\(lost)")
            ]
        )
        try salvaged.expectFilesInOrder()
    }

    @Test func `a failed salvage leaves no files of its own and keeps the existing ones`() throws {
        let store = try StoreKind.file.open(at: folder.file(), [Album.self])
        let files = try fill(store)
        let target = folder.file("salvaged")
        // The state during a salvage: the database is already in its place.
        try store.backup(to: target)
        let there = try #require(try store.attachments.diskURL(of: files[0])).lastPathComponent
        defer { store.close() }
        let folder = FileFolder(path: AttachmentFiles.path(of: target), key: nil)
        _ = try folder.sweep { $0.rawValue == there }
        folder.close()
        let queue = try DatabaseQueue(path: target)
        try queue.write { db in
            try db.execute(
                sql: """
                    CREATE TRIGGER bad BEFORE UPDATE ON "__files" BEGIN SELECT RAISE(ABORT, 'no'); END
                    """)
        }
        #expect(throws: DatabaseError.self) {
            try BlobCopier(copy: queue, source: try store.fileFolder(), target: target, missing: .leftOut)
                .run(isEncrypted: false)
        }
        try queue.close()
        let names = try Files.below(target + "-files").map { ($0 as NSString).lastPathComponent }
        #expect(names == [there])
    }

    enum LostKey: CaseIterable { case missing, short, withoutFolder }

    @Test(arguments: StoreKind.withKey, LostKey.allCases)
    func `a salvage without the key for files or without the files reports them as not on the device`(
        kind: StoreKind, loss: LostKey
    ) throws {
        let store = try kind.open(at: folder.file(), [Album.self])
        let files = try fill(store)
        try store.write { _ = try $0.sync.acknowledgeUpload(of: files[0].id, at: "https://e.org/1", etag: nil) }
        try store.writer.queue.unsafeReentrantWrite { _ in
            switch loss {
            case .missing: try store.writer.connection.execute("DELETE FROM __settings WHERE key = 'fileKey'")
            case .short:
                try store.writer.connection.execute("UPDATE __settings SET value = x'00' WHERE key = 'fileKey'")
            case .withoutFolder: break
            }
        }
        store.close()
        if loss == .withoutFolder { try FileManager.default.removeItem(atPath: folder.file() + "-files") }
        let profile = try #require(kind.profile)
        _ = try Store.salvage(at: folder.file(), key: StoreKind.key, profile: profile, to: folder.file("salvaged"))
        let salvaged = try kind.open(at: folder.file("salvaged"), [Album.self])
        defer { salvaged.close() }
        for file in files { expectError(.attachmentNotHere) { try salvaged.attachments.data(of: file) } }
        #expect(try salvaged.attachments.status(of: files[0]).state == .uploaded)
        #expect(try salvaged.attachments.status(of: files[1]).state == .failed(reason: FileState.lost))
        try salvaged.expectFilesInOrder()
        // The salvaged store has its own key.
        let file = try salvaged.attach("neu")
        try salvaged.write { try $0.insert(Album(title: "б", cover: file)) }
        #expect(try salvaged.text(of: file) == "neu")
    }
}
