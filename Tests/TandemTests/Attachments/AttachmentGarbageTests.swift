import Foundation
import SQLiteCipher
import TandemTesting
import TestSupport
import Testing

@testable import Tandem

/// What nobody needs any more goes, and not while somebody copies it: then it is remembered, and goes later.
@Suite(.ownThreads) struct AttachmentGarbageTests {
    let folder: TestFolder
    init() throws { folder = try TestFolder() }

    private func open(_ kind: StoreKind) throws -> Store { try kind.open(at: folder.file(), [Album.self]) }

    private func album(_ text: String, in store: Store) throws -> Attachment {
        let file = try store.attach(text)
        try store.write { try $0.insert(Album(title: text, cover: file)) }
        return file
    }

    /// Somebody who copies: another process, for all that the store knows.
    private func copying<T>(_ body: () throws -> T) throws -> T {
        try FileFolder(path: folder.file() + "-files", key: nil).whileCopying(body)
    }

    private func leftovers(_ store: Store) throws -> Int { try store.sql("SELECT * FROM __file_leftovers").count }

    // MARK: The cache

    @Test(arguments: StoreKind.files) func `What leaves the cache during a backup goes with the next write`(
        kind: StoreKind
    ) throws {
        let store = try open(kind)
        defer { store.close() }
        let file = try album("а", in: store)
        try store.write { _ = try $0.acknowledgeUpload(of: file.id, at: "https://e.org/1", etag: nil) }
        try copying {
            #expect(try store.attachments.evict(file))
            try store.write { try $0.insert(Album(title: "б")) }
            #expect(try store.blobs().count == 1)
            #expect(try store.checkIntegrity() == [])
        }
        try store.write { _ in }
        #expect(try store.blobs() == [])
        try store.write { _ in }
        #expect(try leftovers(store) == 0)
        try store.expectFilesInOrder()
    }

    /// Nobody is ever alone here, so that nothing is swept.
    @Test(arguments: StoreKind.files) func `What leaves during a backup goes at an opening, though others have it open`(
        kind: StoreKind
    ) throws {
        let (first, second) = (try open(kind), try open(kind))
        defer { second.close() }
        let files = [try album("а", in: first), try album("б", in: first)]
        try first.write { _ = try $0.acknowledgeUpload(of: files[0].id, at: "https://e.org/1", etag: nil) }
        try copying {
            #expect(try first.attachments.evict(files[0]))
            _ = try first.write { try $0.delete($0.objects(Album.self).where { $0.title == "б" }) }
            first.close()
            #expect(try second.blobs().count == 2)
        }
        let third = try open(kind)
        defer { third.close() }
        #expect(try third.blobs() == [])
        #expect(try second.checkIntegrity() == [])
    }

    @Test func `What one leaves another takes away with its next write`() throws {
        let (first, second) = (try open(.file), try open(.file))
        defer { for store in [first, second] { store.close() } }
        _ = try album("а", in: first)
        try copying { _ = try first.write { try $0.delete($0.objects(Album.self)) } }
        #expect(try second.blobs().count == 1)
        try second.write { _ in }
        #expect(try second.blobs() == [])
        // Each strikes what it took itself.
        try first.write { _ in }
        try first.expectFilesInOrder()
    }

    @Test func `What can't be removed has the log flushed once`() throws {
        let store = try open(.file)
        defer { store.close() }
        let file = try album("а", in: store)
        let url = try #require(try store.attachments.diskURL(of: file))
        try FileManager.default.removeItem(at: url)
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
        _ = try store.write { try $0.delete($0.objects(Album.self)) }
        let name = url.lastPathComponent
        #expect(store.files.stuck == [name])
        // A log that can't be flushed: who comes this far has tried.
        let looped = folder.file("looped")
        #expect(symlink(looped + "-wal", looped + "-wal") == 0)
        let outcome = try store.writer.queue.unsafeReentrantWrite { _ in
            func run(_ stuck: Set<String>) throws -> FileCollecting.Outcome? {
                try FileCollecting(
                    connection: store.writer.connection, folder: try store.fileFolder(), unflushed: looped,
                    stuck: stuck
                ).run()
            }
            #expect(try run([]) == nil && run(["another"]) == nil)
            return try run([name])
        }
        #expect(outcome?.stuck == [name] && outcome?.removed == [])
    }

    @Test func `What can't be removed is tried again`() throws {
        let store = try open(.file)
        let file = try album("а", in: store)
        let url = try #require(try store.attachments.diskURL(of: file))
        // As if it were nothing of ours, which is not touched.
        try FileManager.default.removeItem(at: url)
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
        _ = try store.write { try $0.delete($0.objects(Album.self)) }
        try store.write { _ in }
        #expect(try leftovers(store) == 1)
        try FileManager.default.removeItem(at: url)
        try Data("x".utf8).write(to: url)
        try store.write { _ in }
        store.close()
        #expect(!FileManager.default.fileExists(atPath: url.path))
        let again = try open(.file)
        defer { again.close() }
        #expect(try leftovers(again) == 0)
    }

    @Test(arguments: StoreKind.allCases) func `What is undone is not left over`(kind: StoreKind) throws {
        let store = try open(kind)
        defer { store.close() }
        let file = try album("а", in: store)
        try store.write { _ = try $0.acknowledgeUpload(of: file.id, at: "https://e.org/1", etag: nil) }
        try store.write { tx in
            struct Undone: Error {}
            do {
                try store.write { _ in
                    #expect(try tx.evict(file.id))
                    throw Undone()
                }
            } catch is Undone {}
        }
        try store.write { _ in }
        #expect(try store.text(of: file) == "а" && leftovers(store) == 0)
        // A draft that was written and taken back keeps its file.
        let draft = try store.attach("б")
        try store.write { tx in try tx.delete(tx.insert(Album(title: "б", cover: draft))) }
        #expect(try store.text(of: draft) == "б" && leftovers(store) == 0)
        try store.write { try $0.insert(Album(title: "б", cover: draft)) }
        try store.expectFilesInOrder()
    }

    // MARK: Opening

    @Test(arguments: StoreKind.files) func `Nothing is swept that somebody copies, and later it is`(
        kind: StoreKind
    ) throws {
        var store = try open(kind)
        _ = try album("а", in: store)
        store.close()
        let orphan = try FileFolder(path: folder.file() + "-files", key: nil).take(.bytes([1])).blob
        try copying {
            store = try open(kind)
            #expect(try store.blobs().count == 2)
            #expect(try store.checkIntegrity() == [])
        }
        // Another has the store open from now on.
        let other = try open(kind)
        defer { for store in [store, other] { store.close() } }
        try store.write { _ in }
        #expect(try store.blobs().count == 1 && !store.blobs().contains(orphan.rawValue))
        try store.write { _ in }
        try store.expectFilesInOrder()
    }

    @Test(arguments: StoreKind.withKey) func `What is encrypted at an opening leaves no hole in a copy under way`(
        kind: StoreKind
    ) throws {
        var store = try open(.file)
        let file = try album("совершенно секретно", in: store)
        let plain = try #require(try store.attachments.diskURL(of: file)).path
        store.close()
        // As a process that died after the database leaves it.
        try EncryptedDatabase(path: folder.file(), key: StoreKind.key, profile: #require(kind.profile))
            .encryptPlainFile()
        try copying {
            store = try open(kind)
            #expect(try store.sql("SELECT sealed FROM __files").map { $0[0] } == [.integer(1)])
            #expect(FileManager.default.fileExists(atPath: plain))
            #expect(try store.checkIntegrity() == [])
        }
        defer { store.close() }
        try store.write { _ in }
        #expect(!FileManager.default.fileExists(atPath: plain))
        try store.write { _ in }
        try store.expectFilesInOrder()
        #expect(try store.text(of: file) == "совершенно секретно")
    }
}
