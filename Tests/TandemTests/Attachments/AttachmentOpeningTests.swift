import Foundation
import TandemTesting
import TestSupport
import Testing

@testable import Tandem

/// The effects of opening and closing a store on its folder of files.
@Suite(.ownThreads) struct AttachmentOpeningTests {
    private func put(_ name: String, in folder: TestFolder, shard: String? = nil, link: String? = nil) throws -> String
    {
        let place = folder.file() + "-files/" + (shard ?? String(name.prefix(2)))
        try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
        if let link {
            try FileManager.default.createSymbolicLink(atPath: place + "/" + name, withDestinationPath: link)
        } else {
            try Data("x".utf8).write(to: URL(fileURLWithPath: place + "/" + name))
        }
        return place + "/" + name
    }

    @Test(arguments: StoreKind.files) func `opening removes files without a row and nothing else`(
        kind: StoreKind
    ) throws {
        let folder = try TestFolder(kind)
        var store = try kind.open(at: folder.file(), [Album.self])
        let cover = try store.attach("cover")
        try store.write { try $0.insert(Album(title: "а", cover: cover)) }
        store.close()
        let orphan = BlobName.random().rawValue
        let (outside, swept) = (folder.file("outside"), try put(orphan, in: folder))
        try Data("x".utf8).write(to: URL(fileURLWithPath: outside))
        let partial = try put("\(orphan).partial", in: folder)
        let kept = [
            try put("notes.txt", in: folder, shard: "ab"), try put(orphan, in: folder, shard: "zz"),
            try put(BlobName.random().rawValue, in: folder, link: outside), outside,
        ]
        store = try kind.open(at: folder.file(), [Album.self])
        defer { store.close() }
        for path in [swept, partial] { #expect(!FileManager.default.fileExists(atPath: path)) }
        for path in kept { #expect(access(path, F_OK) == 0, "\(path)") }
        #expect(try store.text(of: cover) == "cover")
    }

    @Test(arguments: StoreKind.files)
    func `opening does not remove files that another store has attached but not written`(
        kind: StoreKind
    ) throws {
        let folder = try TestFolder(kind)
        let first = try kind.open(at: folder.file(), [Album.self])
        defer { first.close() }
        let cover = try first.attach("cover")
        let second = try kind.open(at: folder.file(), [Album.self])
        #expect(try first.text(of: cover) == "cover")
        // Only the first store can write the draft.
        expectError(.unknownAttachment) { try second.write { try $0.insert(Album(title: "б", cover: cover)) } }
        try first.write { try $0.insert(Album(title: "а", cover: cover)) }
        #expect(try second.text(of: cover) == "cover")
        let shared = try second.write { try $0.insert(Album(title: "б", cover: cover)) }
        #expect(shared.cover == cover)
        second.close()
        try first.expectFilesInOrder()
    }

    @Test(arguments: StoreKind.files) func `closing a store removes its drafts`(kind: StoreKind) throws {
        let folder = try TestFolder(kind)
        let store = try kind.open(at: folder.file(), [Album.self])
        let cover = try store.attach("cover")
        let path = try #require(try store.attachments.diskURL(of: cover)).path
        #expect(FileManager.default.fileExists(atPath: path))
        store.close()
        #expect(!FileManager.default.fileExists(atPath: path))
        expectError(.closed) { try store.attachments.data(of: cover) }
        expectError(.closed) { try store.attachments.add(Data(), name: "") }
    }

    @Test func `the folder of an in-memory store is removed with the store`() throws {
        let store = try Store.inMemory(models: Album.self)
        let cover = try store.attach("cover")
        try store.write { try $0.insert(Album(title: "а", cover: cover)) }
        let path = try store.fileFolder().path
        #expect(FileManager.default.fileExists(atPath: path))
        store.close()
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test(arguments: StoreKind.files) func `a read-only store reads files and changes nothing`(
        kind: StoreKind
    ) throws {
        let folder = try TestFolder(kind)
        var configuration = Store.Configuration()
        var store = try kind.open(at: folder.file(), [Album.self])
        store.close()
        configuration.isReadOnly = true
        store = try kind.open(at: folder.file(), [Album.self], configuration: configuration)
        store.close()
        #expect(!FileManager.default.fileExists(atPath: folder.file() + "-files"))
        store = try kind.open(at: folder.file(), [Album.self])
        let cover = try store.attach("cover")
        try store.write { try $0.insert(Album(title: "а", cover: cover)) }
        store.close()
        let orphan = try put(BlobName.random().rawValue, in: folder)
        store = try kind.open(at: folder.file(), [Album.self], configuration: configuration)
        defer { store.close() }
        #expect(try store.text(of: store.objects(Album.self).first()?.cover) == "cover")
        #expect(FileManager.default.fileExists(atPath: orphan))
        expectError(.readOnly) { try store.attachments.add(Data(), name: "") }
    }

    @Test func `an obstacle in the folder's place is reported when a file is requested`() throws {
        let folder = try TestFolder()
        try FileManager.default.createSymbolicLink(atPath: folder.file() + "-files", withDestinationPath: "/tmp")
        let store = try Store(at: folder.file(), models: Album.self)
        defer { store.close() }
        try store.write { try $0.insert(Album(title: "а")) }
        expectError(.cannotOpen) { try store.attachments.add(Data(), name: "") }
    }

    @Test(arguments: StoreKind.files)
    func `a folder that can't be locked serves files but accepts none until it can be locked`(kind: StoreKind) throws {
        let folder = try TestFolder()
        var store = try kind.open(at: folder.file(), [Album.self])
        let cover = try store.attach("cover")
        try store.write { try $0.insert(Album(title: "а", cover: cover)) }
        store.close()
        let lock = folder.file() + "-files/.open"
        try FileManager.default.removeItem(atPath: lock)
        try FileManager.default.createDirectory(atPath: lock, withIntermediateDirectories: false)
        store = try kind.open(at: folder.file(), [Album.self])
        defer { store.close() }
        #expect(try store.text(of: cover) == "cover")
        for _ in 0..<2 { expectError(.ioFailure) { try store.attach("draft") } }
        try FileManager.default.removeItem(atPath: lock)
        let draft = try store.attach("draft")
        // Another store sees that the folder is in use.
        let other = try kind.open(at: folder.file(), [Album.self])
        defer { other.close() }
        #expect(try store.text(of: draft) == "draft")
    }

    @Test(arguments: StoreKind.withKey) func `an encrypted store's files show neither names nor bytes`(
        kind: StoreKind
    ) throws {
        let folder = try TestFolder(kind)
        let store = try kind.open(at: folder.file(), [Album.self])
        let cover = try store.attach(String(repeating: "совершенно секретно ", count: 5000), name: "Тайна.jpg")
        try store.write { try $0.insert(Album(title: "а", cover: cover)) }
        let hash = try #require(cover.sha256).hex
        for isOpen in [true, false] {
            if !isOpen { store.close() }
            let all = try #require(FileManager.default.enumerator(atPath: folder.path))
            for case let name as String in all {
                for secret in ["Тайна", "секретно", "image/jpeg", hash, cover.id.rawValue] {
                    #expect(!name.contains(secret))
                    let bytes = FileManager.default.contents(atPath: folder.file(name)) ?? Data()
                    #expect(!bytes.shows(secret), "\(secret) in \(name)")
                }
            }
        }
    }

    @Test(arguments: StoreKind.allCases) func `damaged files are reported`(kind: StoreKind) throws {
        try kind.withStore(Album.self) { store in
            let (cover, page) = (try store.attach("обложка"), try store.attach("страница"))
            try store.write { try $0.insert(Album(title: "а", cover: cover, pages: [page])) }
            let path = try #require(try store.attachments.diskURL(of: cover)).path
            let handle = try #require(FileHandle(forUpdatingAtPath: path))
            try handle.truncate(atOffset: 5)
            try handle.close()
            #expect(try store.checkIntegrity().count == 1)
            if store.isEncrypted {
                expectError(.corrupt) { try store.attachments.data(of: cover) }
            } else {
                expectError(.fileMismatch) { try store.attachments.verify(cover) }
            }
            try FileManager.default.removeItem(atPath: path)
            expectError(.corrupt) { try store.attachments.data(of: cover) }
            #expect(try store.attachments.diskURL(of: cover) == nil)
            #expect(try store.checkIntegrity().count == 1)
            try store.attachments.verify(page)
            // A row with a path out of the folder finds no file.
            try store.writer.queue.unsafeReentrantWrite { _ in
                try store.writer.connection.execute(
                    "UPDATE __files SET blob = '../../../../etc/passwd' WHERE id = ?",
                    binding: [.text(page.id.rawValue)])
            }
            expectError(.corrupt) { try store.attachments.data(of: page) }
            #expect(try store.checkIntegrity().count == 2)
            _ = try store.write { try $0.delete($0.objects(Album.self)) }
        }
    }

    @Test(arguments: StoreKind.allCases) func `a file is read in pieces and in parts, and copied`(
        kind: StoreKind
    ) async throws {
        let folder = try TestFolder()
        try await kind.withStore(Album.self) { store in
            let bytes = Data((0..<2_500_000).map { UInt8(truncatingIfNeeded: $0 &* 7) })
            let film = try store.attachments.add(bytes, name: "ფილმი.mp4")
            try await store.write { try $0.insert(Album(title: "а", cover: film)) }
            var read = Data()
            for try await piece in try store.attachments.stream(of: film) {
                #expect(piece.count <= 1 << 20)
                read += piece
            }
            #expect(read == bytes)
            let reader = try store.attachments.reader(of: film)
            #expect(reader.size == 2_500_000)
            #expect(try reader.read(at: 1_234_567, count: 100) == bytes[1_234_567..<1_234_667])
            #expect(try reader.read(at: 2_499_999, count: 100).count == 1)
            expectError(.invalidValue) { try reader.read(at: -1, count: 1) }
            try Data("old".utf8).write(to: URL(fileURLWithPath: folder.file("copy")))
            try store.attachments.export(film, to: folder.file("copy"))
            #expect(try folder.contents() == ["copy": bytes])
            let url = try #require(try store.attachments.diskURL(of: film))
            let onDisk = try Data(contentsOf: url)
            #expect((onDisk == bytes) == !store.isEncrypted)
            expectError(.cannotOpen) { try store.attachments.export(film, to: folder.file("no/such")) }
        }
    }
}
