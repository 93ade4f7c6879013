import Foundation
import SQLiteCipher
import TandemTesting
import TestSupport
import Testing

@testable import Tandem

/// Unused files are removed unless a copy is in progress. In that case they are recorded and removed later.
@Suite(.ownThreads) struct AttachmentGarbageTests {
    let folder: TestFolder
    init() throws { folder = try TestFolder() }

    private func open(_ kind: StoreKind) throws -> Store { try kind.open(at: folder.file(), [Album.self]) }

    private func album(_ text: String, in store: Store) throws -> Attachment {
        let file = try store.attach(text)
        try store.write { try $0.insert(Album(title: text, cover: file)) }
        return file
    }

    /// Runs a block while the files are locked for copying, as by another process.
    private func copying<T>(_ body: () throws -> T) throws -> T {
        try FileFolder(path: folder.file() + "-files", key: nil).whileCopying(body)
    }

    private func leftovers(_ store: Store) throws -> Int { try store.sql("SELECT * FROM __file_leftovers").count }

    // MARK: Cache

    @Test(arguments: StoreKind.files)
    func `a file that is evicted from the cache during a backup is removed by the next write`(
        kind: StoreKind
    ) throws {
        let store = try open(kind)
        defer { store.close() }
        let file = try album("а", in: store)
        try store.write { _ = try $0.sync.acknowledgeUpload(of: file.id, at: "https://e.org/1", etag: nil) }
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

    /// The store is never alone here, so that nothing is swept.
    @Test(arguments: StoreKind.files)
    func `a file that is freed during a backup is removed by the next opening, even if other stores have it open`(
        kind: StoreKind
    ) throws {
        let (first, second) = (try open(kind), try open(kind))
        defer { second.close() }
        let files = [try album("а", in: first), try album("б", in: first)]
        try first.write { _ = try $0.sync.acknowledgeUpload(of: files[0].id, at: "https://e.org/1", etag: nil) }
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

    @Test func `a file that one store frees is removed by another store's next write`() throws {
        let (first, second) = (try open(.file), try open(.file))
        defer { for store in [first, second] { store.close() } }
        _ = try album("а", in: first)
        try copying { _ = try first.write { try $0.delete($0.objects(Album.self)) } }
        #expect(try second.blobs().count == 1)
        try second.write { _ in }
        #expect(try second.blobs() == [])
        // Each store deletes the records of the files that it removed itself.
        try first.write { _ in }
        try first.expectFilesInOrder()
    }

    @Test func `a file that can't be removed causes only one flush of the log`() throws {
        let store = try open(.file)
        defer { store.close() }
        let file = try album("а", in: store)
        let url = try #require(try store.attachments.diskURL(of: file))
        try FileManager.default.removeItem(at: url)
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
        _ = try store.write { try $0.delete($0.objects(Album.self)) }
        let name = url.lastPathComponent
        #expect(store.files.stuck == [name])
        // The log can't be flushed, so that an attempt to flush is visible as an error.
        let looped = folder.file("looped")
        #expect(symlink(looped + "-wal", looped + "-wal") == 0)
        let outcome = try store.writer.queue.unsafeReentrantWrite { _ in
            func run(_ stuck: Set<String>) throws -> BlobGarbageCollector.Outcome? {
                try BlobGarbageCollector(
                    connection: store.writer.connection, folder: try store.fileFolder(), unflushed: looped,
                    stuck: stuck
                ).run()
            }
            #expect(try run([]) == nil && run(["another"]) == nil)
            return try run([name])
        }
        #expect(outcome?.stuck == [name] && outcome?.removed == [])
    }

    @Test func `removing a file is tried again if it fails`() throws {
        let store = try open(.file)
        let file = try album("а", in: store)
        let url = try #require(try store.attachments.diskURL(of: file))
        // A folder has the file's name. The store never touches folders.
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

    @Test(arguments: StoreKind.allCases) func `a rolled back transaction frees no files`(kind: StoreKind) throws {
        let store = try open(kind)
        defer { store.close() }
        let file = try album("а", in: store)
        try store.write { _ = try $0.sync.acknowledgeUpload(of: file.id, at: "https://e.org/1", etag: nil) }
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
        // A draft that was inserted and deleted keeps its file.
        let draft = try store.attach("б")
        try store.write { tx in try tx.delete(tx.insert(Album(title: "б", cover: draft))) }
        #expect(try store.text(of: draft) == "б" && leftovers(store) == 0)
        try store.write { try $0.insert(Album(title: "б", cover: draft)) }
        try store.expectFilesInOrder()
    }

    // MARK: Opening

    @Test(arguments: StoreKind.files) func `opening sweeps nothing during a copy and sweeps later`(
        kind: StoreKind
    ) throws {
        var store = try open(kind)
        _ = try album("а", in: store)
        store.close()
        let orphan = try FileFolder(path: folder.file() + "-files", key: nil).add(.bytes([1])).blob
        try copying {
            store = try open(kind)
            #expect(try store.blobs().count == 2)
            #expect(try store.checkIntegrity() == [])
        }
        // Another store has it open from here on.
        let other = try open(kind)
        defer { for store in [store, other] { store.close() } }
        try store.write { _ in }
        #expect(try store.blobs().count == 1 && !store.blobs().contains(orphan.rawValue))
        try store.write { _ in }
        try store.expectFilesInOrder()
    }

    @Test(arguments: StoreKind.withKey) func `encrypting files when opening leaves no gap in a copy in progress`(
        kind: StoreKind
    ) throws {
        var store = try open(.file)
        let file = try album("совершенно секретно", in: store)
        let plain = try #require(try store.attachments.diskURL(of: file)).path
        store.close()
        // The state after a process ended between encrypting the database and its files.
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
