import Foundation
import TandemTesting
import TestSupport
import Testing

@testable import Tandem

/// Files that are removed while a read block or a reader uses an older state of the store.
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
    func `a file that is removed after a read block began is not reported as damage`(
        kind: StoreKind, readOnly: Bool
    ) throws {
        let writer = try open(kind)
        let files = try ["а", "б", "в"].map { try album($0, in: writer) }
        try writer.write { _ = try $0.sync.acknowledgeUpload(of: files[0].id, at: "https://e.org/1", etag: nil) }
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
            // Open files stay readable.
            #expect(try held.read(at: 0, count: 10) == Data("б".utf8))
            // A missing file that the newest state still names is damage, in a block too.
            try FileManager.default.removeItem(at: #require(try writer.attachments.diskURL(of: files[2])))
            expectError(.corrupt) { try reader.attachments.data(of: files[2]) }
        }
    }

    @Test(arguments: StoreKind.files) func `a file that is downloaded again after a read block began is readable`(
        kind: StoreKind
    ) throws {
        let (reader, writer) = (try open(kind), try open(kind))
        defer { for store in [reader, writer] { store.close() } }
        let file = try album("а", in: writer)
        try writer.write { _ = try $0.sync.acknowledgeUpload(of: file.id, at: "https://e.org/1", etag: nil) }
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

    @Test(arguments: StoreKind.allCases) func `a write block reads files by its own state`(
        kind: StoreKind
    ) throws {
        let store = try open(kind)
        defer { store.close() }
        let file = try album("а", in: store)
        try store.write { _ = try $0.sync.acknowledgeUpload(of: file.id, at: "https://e.org/1", etag: nil) }
        try store.write { tx in
            #expect(try tx.evict(file.id))
            expectError(.attachmentNotHere) { try store.attachments.data(of: file) }
            _ = try tx.delete(tx.objects(Album.self))
        }
        expectError(.unknownAttachment) { try store.attachments.data(of: file) }
    }

    // MARK: Readers

    /// A reader holds no lock. The sweep removes only files without a row, which no reader needs.
    @Test(arguments: StoreKind.files) func `a reader loses no files if other stores open`(
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
        // A copy that the reader makes has all files, even if other stores are opened meanwhile.
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

    @Test(arguments: StoreKind.withKey) func `a store that was opened before the key for files existed reads the files`(
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
