import Foundation
import TandemTesting
import TestSupport
import Testing

@testable import Tandem

/// Files that go while somebody reads an older state of the store, or only reads at all.
@Suite(.ownThreads) struct AttachmentSnapshotTests {
    let folder: TestFolder
    init() throws { folder = try TestFolder() }

    private func open(_ kind: StoreKind, readOnly: Bool = false) throws -> Store {
        var configuration = Store.Configuration()
        configuration.isReadOnly = readOnly
        return try kind.open(at: folder.file(), [Album.self], configuration: configuration)
    }

    private func album(_ text: String, in store: Store) throws -> Attachment {
        let file = try store.attach(text)
        try store.write { try $0.insert(Album(title: text, cover: file)) }
        return file
    }

    @Test(arguments: StoreKind.files, [true, false])
    func `What has gone since a read block began is no damage`(kind: StoreKind, readOnly: Bool) throws {
        let writer = try open(kind)
        let files = try ["а", "б", "в"].map { try album($0, in: writer) }
        try writer.write { _ = try $0.acknowledgeUpload(of: files[0].id, at: "https://e.org/1", etag: nil) }
        let reader = try open(kind, readOnly: readOnly)
        defer { for store in [reader, writer] { store.close() } }
        try reader.read { tx in
            let albums = try tx.objects(Album.self).sorted(by: \.title).all()
            #expect(try albums.map { try reader.text(of: $0.cover) } == ["а", "б", "в"])
            let held = try reader.attachments.reader(of: files[1])
            #expect(try writer.attachments.evict(files[0]))
            _ = try writer.write { try $0.delete($0.objects(Album.self).where { $0.title == "б" }) }
            let cover = try #require(albums[0].cover)
            expectError(.attachmentNotHere) { try reader.attachments.data(of: cover) }
            #expect(try reader.attachments.diskURL(of: cover) == nil)
            expectError(.unknownAttachment) { try reader.attachments.data(of: files[1]) }
            #expect(try reader.text(of: albums[2].cover) == "в")
            // What is open stays so.
            #expect(try held.read(at: 0, count: 10) == Data("б".utf8))
            // What the store names still is damage, also in a block.
            try FileManager.default.removeItem(at: #require(try writer.attachments.diskURL(of: files[2])))
            expectError(.corrupt) { try reader.attachments.data(of: files[2]) }
        }
    }

    @Test(arguments: StoreKind.files) func `A file that was downloaded again since a read block began is read`(
        kind: StoreKind
    ) throws {
        let (reader, writer) = (try open(kind), try open(kind))
        defer { for store in [reader, writer] { store.close() } }
        let file = try album("а", in: writer)
        try writer.write { _ = try $0.acknowledgeUpload(of: file.id, at: "https://e.org/1", etag: nil) }
        try reader.read { tx in
            #expect(try tx.objects(Album.self).count() == 1)
            #expect(try writer.attachments.evict(file))
            let download = try #require(try writer.attachments.download(file))
            try download.write(Data("а".utf8))
            #expect(try download.finish())
            #expect(try reader.text(of: file) == "а")
            #expect(try reader.attachments.diskURL(of: file) == writer.attachments.diskURL(of: file))
        }
    }

    @Test(arguments: StoreKind.allCases) func `In a write block it is the block's own state that counts`(
        kind: StoreKind
    ) throws {
        let store = try open(kind)
        defer { store.close() }
        let file = try album("а", in: store)
        try store.write { _ = try $0.acknowledgeUpload(of: file.id, at: "https://e.org/1", etag: nil) }
        try store.write { tx in
            #expect(try tx.evict(file.id))
            expectError(.attachmentNotHere) { try store.attachments.data(of: file) }
            _ = try tx.delete(tx.objects(Album.self))
        }
        expectError(.unknownAttachment) { try store.attachments.data(of: file) }
    }

    // MARK: Who only reads

    /// It holds no lock: what is swept is what no row names, and that is none of a reader's.
    @Test(arguments: StoreKind.files) func `Who only reads loses nothing to those who open the store`(
        kind: StoreKind
    ) throws {
        var writer = try open(kind)
        let files = try ["а", "б"].map { try album($0, in: writer) }
        let reader = try open(kind, readOnly: true)
        defer { for store in [reader, writer] { store.close() } }
        try reader.read { tx in
            #expect(try tx.objects(Album.self).count() == 2)
            _ = try writer.attach("draft")
            writer.close()
            writer = try open(kind)
            #expect(try files.map { try reader.text(of: $0) } == ["а", "б"])
        }
        // A copy that it makes has all files, whoever opens the store meanwhile.
        let hooks = Store.CopyHooks(willCopy: {
            _ = try writer.write { try $0.delete($0.objects(Album.self).where { $0.title == "а" }) }
            writer.close()
            writer = try open(kind)
        })
        try reader.copy(to: folder.file("backup"), as: .same, hooks: hooks)
        let backup = try kind.open(at: folder.file("backup"), [Album.self])
        defer { backup.close() }
        #expect(try backup.text(of: backup.objects(Album.self).first()?.cover) == "б")
        try backup.expectFilesInOrder()
    }

    @Test(arguments: StoreKind.withKey) func `Who opened the store before it had a key for files reads them`(
        kind: StoreKind
    ) throws {
        var writer = try open(kind)
        try writer.writer.queue.unsafeReentrantWrite { _ in
            try writer.writer.connection.execute("DELETE FROM __settings WHERE key = 'fileKey'")
        }
        writer.close()
        let reader = try open(kind, readOnly: true)
        expectError(.attachmentNotHere) {
            try reader.attachments.data(
                of: Attachment(
                    id: someFileID(), name: "", contentType: "", size: 1, sha256: nil, serverURL: "https://e.org/1"))
        }
        writer = try open(kind)
        defer { for store in [reader, writer] { store.close() } }
        let file = try album("а", in: writer)
        #expect(try reader.text(of: file) == "а")
    }
}
