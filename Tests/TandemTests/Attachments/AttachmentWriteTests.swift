import Foundation
import TandemTesting
import TestSupport
import Testing

@testable import Tandem

/// Attaching files, and their fate when transactions end and objects are deleted.
@Suite(.ownThreads) struct AttachmentWriteTests {
    @Test(arguments: StoreKind.allCases) func `an attached file is read back`(kind: StoreKind) throws {
        try kind.withStore(Album.self) { store in
            let cover = try store.attach("обложка", name: "Обложка.JPG")
            #expect(cover.name == "Обложка.JPG" && cover.contentType == "image/jpeg" && cover.size == 14)
            let album = try store.write { try $0.insert(Album(title: "Лето", cover: cover, pages: [cover])) }
            #expect(album.cover == cover)
            #expect(try store.text(of: album.cover) == "обложка")
            #expect(try store.attachments.status(of: cover).state == .pending)
            try store.attachments.verify(cover)
            try store.expectFilesInOrder()
        }
    }

    @Test(arguments: StoreKind.allCases) func `a file, a URL and a stream can be attached`(kind: StoreKind) async throws
    {
        let folder = try TestFolder()
        let bytes = Data((0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        try bytes.write(to: URL(fileURLWithPath: folder.file("დიდი.png")))
        try await kind.withStore(Album.self) { store in
            let path = try store.attachments.add(contentsOf: folder.file("დიდი.png"))
            let url = try store.attachments.add(
                contentsOf: URL(fileURLWithPath: folder.file("დიდი.png")), name: "x", contentType: "y/z")
            let pieces = AsyncStream<Data> { continuation in
                for start in stride(from: 0, to: bytes.count, by: 70_000) {
                    continuation.yield(bytes[start..<min(start + 70_000, bytes.count)])
                }
                continuation.finish()
            }
            let streamed = try await store.attachments.add(from: pieces, name: "")
            #expect(path.name == "დიდი.png" && path.contentType == "image/png" && url.contentType == "y/z")
            #expect(Set([path.sha256, url.sha256, streamed.sha256]).count == 1)
            try await store.write { try $0.insert(Album(title: "", cover: path, pages: [url, streamed])) }
            for attachment in [path, url, streamed] { #expect(try store.attachments.data(of: attachment) == bytes) }
            try store.expectFilesInOrder()
            #expect(throws: TandemError.self) { try store.attachments.add(contentsOf: URL(string: "https://a.b/c")!) }
            expectError(.cannotOpen) { try store.attachments.add(contentsOf: folder.path) }
        }
    }

    @Test(arguments: StoreKind.allCases) func `a draft is removed with its last copy`(kind: StoreKind) throws {
        try kind.withStore(Album.self) { store in
            var copies = [try store.attach("один"), try store.attach("два")]
            #expect(try store.blobs().count == 2)
            #expect(try store.text(of: copies[1]) == "два")
            #expect(try store.attachments.status(of: copies[0]).isOnDevice)
            copies.append(copies[0])
            copies.removeFirst()
            #expect(try store.blobs().count == 2)
            copies.removeLast()
            #expect(try store.blobs().count == 1)
            copies = []
            #expect(try store.blobs() == [])
        }
    }

    @Test(arguments: StoreKind.allCases) func `a value can be used again after a rollback`(kind: StoreKind) throws {
        struct Stop: Error {}
        try kind.withStore(Album.self) { store in
            var cover: Attachment? = try store.attach("cover")
            #expect(throws: Stop.self) {
                try store.write { tx in
                    try tx.insert(Album(title: "а", cover: cover))
                    #expect(try store.text(of: cover) == "cover")
                    throw Stop()
                }
            }
            #expect(try store.text(of: cover) == "cover" && store.knownFiles() == [])
            // The write is undone inside a transaction that continues, and then repeated.
            try store.write { tx in
                try? tx.store.write { inner in
                    try inner.insert(Album(title: "б", cover: cover))
                    throw Stop()
                }
                try tx.insert(Album(title: "в"))
            }
            #expect(try store.knownFiles() == [] && store.blobs().count == 1)
            try store.write { try $0.insert(Album(title: "г", cover: cover)) }
            try store.expectFilesInOrder()
            // A file whose object is inserted and deleted in one transaction is a draft again.
            cover = try store.attach("other")
            try store.write { tx in
                let album = try tx.insert(Album(title: "д", cover: cover))
                try tx.delete(album)
            }
            #expect(try store.text(of: cover) == "other" && store.knownFiles().count == 1)
            cover = nil
            try store.expectFilesInOrder()
        }
    }

    @Test(arguments: StoreKind.allCases) func `copies share the file, and the last one frees it`(kind: StoreKind) throws
    {
        try kind.withStore(Album.self, ScanSlip.self) { store in
            let cover = try store.attach("cover")
            let first = try store.write { try $0.insert(Album(title: "а", cover: cover)) }
            let (second, slip) = try store.write { tx in
                (try tx.insert(Album(title: "б", pages: [cover, cover])), try tx.insert(ScanSlip(scan: cover)))
            }
            #expect(try store.blobs().count == 1 && store.fileUses().count == 3)
            _ = try store.write { try $0.delete(first) }
            try store.write { try $0.update(Album.self, localID: second.localID) { $0.pages = [] } }
            #expect(try store.text(of: slip.scan) == "cover")
            _ = try store.write { try $0.delete(slip) }
            #expect(try store.blobs() == [] && store.knownFiles() == [])
            expectError(.unknownAttachment) { try store.attachments.data(of: cover) }
            // The file was removed before its value.
            expectError(.unknownAttachment) { try store.write { try $0.insert(ScanSlip(scan: cover)) } }
            try store.expectFilesInOrder()
        }
    }

    @Test(arguments: StoreKind.allCases) func `replacing a photo removes its file`(kind: StoreKind) throws {
        try kind.withStore(Album.self) { store in
            let (one, two) = (try store.attach("1"), try store.attach("2"))
            var album = try store.write { try $0.insert(Album(title: "а", cover: one, sketch: one)) }
            album.cover = two
            try store.write { try $0.update(album) }
            #expect(try store.blobs().count == 2)
            album.sketch = nil
            try store.write { try $0.update(album) }
            #expect(try store.knownFiles() == [two.id.rawValue])
            // The file moves from one property to another in one step.
            album.sketch = two
            album.cover = nil
            try store.write { try $0.update(album) }
            #expect(try store.fileUses() == ["Album 1 \(two.id) here"])
            try store.expectFilesInOrder()
        }
    }

    @Test(arguments: StoreKind.allCases) func `foreign and invented attachments are refused`(kind: StoreKind) throws {
        try kind.withStore(Album.self) { store in
            let other = try Store.inMemory(models: Album.self)
            let foreign = try other.attach("foreign")
            let album = try store.write { try $0.insert(Album(title: "а")) }
            let error = expectError(.unknownAttachment) {
                try store.write { try $0.insert(Album(title: "б", cover: foreign)) }
            }
            #expect(error?.property == "cover" && error?.model == "Album")
            expectError(.unknownAttachment) {
                try store.write { try $0.update(Album.self, localID: album.localID) { $0.pages = [foreign] } }
            }
            expectError(.unknownAttachment) {
                try store.write { tx in
                    try tx.upsert(Album.self, values: ["title": "в", "cover": ["id": "\(someFileID())", "name": "x"]])
                }
            }
            expectError(.invalidValue) {
                try store.write { try $0.upsert(Album.self, values: ["title": "в", "cover": ["id": "../x"]]) }
            }
            // Other bytes under a known ID.
            let known = try store.attach("known")
            try store.write { try $0.update(Album.self, localID: album.localID) { $0.cover = known } }
            let forged = Attachment(
                id: known.id, name: "x", contentType: "y", size: 99, sha256: known.sha256, serverURL: nil)
            expectError(.unknownAttachment) { try store.write { try $0.insert(Album(title: "г", cover: forged)) } }
            try store.expectFilesInOrder()
            #expect(try store.objects(Album.self).count() == 1)
            #expect(try other.blobs().count == 1)
            #expect(try other.text(of: foreign) == "foreign")
        }
    }

    @Test(arguments: StoreKind.allCases) func `every way to write an object writes its files`(kind: StoreKind) throws {
        try kind.withStore(Album.self) { store in
            let files = try (0..<6).map { try store.attach("file \($0)") }
            try store.write { tx in
                try tx.insert(contentsOf: [Album(title: "0", cover: files[0])])
                try tx.upsert(Album(title: "1", cover: files[1]))
                try tx.upsert(Album.self, values: ["title": "2", "cover": files[2], "pages": [files[3]]])
                let json = #"{"title":"3","cover":{"id":"\#(files[4].id)","name":"n","type":"t"}}"#
                try tx.upsert(Album.self, json: Data(json.utf8))
            }
            try store.applyServerObject(Album(title: "4", cover: files[5]), serverID: "4")
            let albums = try store.objects(Album.self).sorted(by: \.title).all()
            #expect(albums.map(\.cover?.id) == [0, 1, 2, 4, 5].map { files[$0].id })
            // The store's information about a file replaces the value's.
            #expect(albums[3].cover == files[4])
            #expect(try store.blobs().count == 6)
            try store.expectFilesInOrder()
            #expect(!albums[4].isSynced)
        }
    }

    @Test func `a failed insert leaves the file to the value`() throws {
        let store = try Store.inMemory(models: Album.self)
        var cover: Attachment? = try store.attach("cover")
        let album = try store.write { tx in
            let album = try tx.insert(Album(title: "а"))
            #expect(throws: TandemError.self) {
                try tx.insert(Album(title: "б", cover: cover).identified(by: album.localID))
            }
            return album
        }
        #expect(try store.knownFiles() == [] && store.text(of: cover) == "cover")
        try store.write { try $0.update(Album.self, localID: album.localID) { $0.cover = cover } }
        cover = nil
        try store.expectFilesInOrder()
    }

    @Test(arguments: StoreKind.allCases) func `a tombstone keeps its files until it is erased`(kind: StoreKind) throws {
        try kind.withStore(Album.self) { store in
            let cover = try store.attach("cover")
            let album = try store.applyServerObject(Album(title: "а", cover: cover), serverID: "s1")
            _ = try store.write { try $0.delete(album) }
            #expect(try store.text(of: cover) == "cover")
            let back = try store.write { try $0.undelete(album) }
            #expect(try store.text(of: back.cover) == "cover" && !back.isSynced)
            _ = try store.write { try $0.delete(album) }
            try store.expectFilesInOrder()
            let operation = try #require(try store.operations.all().first)
            try store.write { tx in
                try tx.beginAttempt(operation.id)
                try tx.acknowledge(operation.id)
            }
            #expect(try store.blobs() == [] && store.objects(Album.self).includingDeleted().count() == 0)
            try store.expectFilesInOrder()
        }
    }

    @Test func `writing a value from before the acknowledgement does not undo it`() throws {
        let store = try Store.inMemory(models: Album.self)
        let cover = try store.attach("cover")
        var album = try store.write { try $0.insert(Album(title: "а", cover: cover)) }
        try store.write { _ = try $0.sync.acknowledgeUpload(of: cover.id, at: "https://example.org/1", etag: "e") }
        album.title = "б"
        let written = try store.write { try $0.update(album) }
        #expect(written.cover?.serverURL == "https://example.org/1" && written.title == "б")
        #expect(try store.object(ofType: Album.self, forPrimaryKey: album.localID) == written)
    }

    @Test func `open files can be read to their end`() throws {
        let store = try Store.inMemory(models: ScanSlip.self)
        let scan = try store.attach(String(repeating: "ж", count: 100_000))
        let slip = try store.write { try $0.insert(ScanSlip(scan: scan)) }
        let reader = try store.attachments.reader(of: scan)
        _ = try store.write { try $0.delete(slip) }
        #expect(try store.blobs() == [])
        #expect(try reader.read(at: 199_998, count: 100) == Data("ж".utf8))
        #expect(try reader.read(at: 200_000, count: 1).isEmpty)
    }
}
