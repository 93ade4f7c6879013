import Foundation
import Tandem
import TandemTesting
import TestSupport
import Testing

@testable import TandemSync

/// A download uses the store's current values of a file, and not those of an old attachment value.
@Suite(.ownThreads) struct DownloadSourceTests {
    private static let id = "00112233445566778899aabbccddeeff"
    private static let urls = ["https://a.example/чек.jpg", "https://b.example/чек.jpg"]

    /// Returns a server's value of a photograph.
    private static func document(_ url: String, of bytes: [UInt8]? = nil) -> JSONNode {
        var members: [(key: String, value: JSONNode)] = [("id", .text(id))]
        if let bytes {
            members.append(("sha256", .text(OutgoingFile(id: id, name: "", contentType: "", bytes: bytes).sha256)))
            members.append(("size", .integer(Int64(bytes.count))))
        }
        return .object(members + [("url", .text(url))])
    }

    /// Sets a receipt's photograph on the server, and pulls it.
    @discardableResult
    private func pull(_ fixture: PhotoFixture, _ photo: JSONNode) async throws -> Attachment {
        fixture.remote.edit("Receipt", id: "r1") { item in
            item.put("shop", .text("Лента"))
            item.put("points", .integer(1))
            item.put("photo", photo)
            item.put("scans", .array([]))
        }
        try await fixture.sync.synchronize()
        return try #require(try await fixture.store.objects(Receipt.self).all().first?.photo)
    }

    @Test func `an old value is downloaded from the file's current URL`() async throws {
        let (fixture, bytes) = (try PhotoFixture(), PhotoFixture.bytes())
        let old = try await pull(fixture, Self.document(Self.urls[0], of: bytes))
        let new = try await pull(fixture, Self.document(Self.urls[1], of: bytes))
        #expect(old.serverURL == Self.urls[0] && new.serverURL == Self.urls[1])
        fixture.fileServer.put(bytes, at: Self.urls[1])
        try await fixture.sync.download(old)
        #expect(fixture.fileServer.requests == ["download \(Self.urls[1]) from 0"])
        #expect(try Array(fixture.store.attachments.data(of: new)) == bytes)
    }

    @Test func `a value without a hash is checked against the store's hash`() async throws {
        let (fixture, bytes) = (try PhotoFixture(), PhotoFixture.bytes())
        let photo = try await pull(fixture, Self.document(Self.urls[0], of: bytes))
        let bare = try JSONDecoder().decode(
            Attachment.self, from: Data(#"{"id":"\#(Self.id)","url":"\#(Self.urls[0])"}"#.utf8))
        #expect(bare.size == nil && bare.sha256 == nil)
        fixture.fileServer.put(bytes.map { ~$0 }, at: Self.urls[0])
        await #expect { try await fixture.sync.download(bare) } throws: { ($0 as? TandemError)?.code == .fileMismatch }
        fixture.fileServer.put(bytes, at: Self.urls[0])
        try await fixture.sync.download(bare)
        try fixture.store.attachments.verify(photo)
        #expect(try fixture.store.checkIntegrity() == [])
    }

    @Test(arguments: [true, false])
    func `a file that moved during its download is downloaded from its new URL`(isGone: Bool) async throws {
        let (fixture, bytes) = (try PhotoFixture(), PhotoFixture.bytes())
        let photo = try await pull(fixture, Self.document(Self.urls[0]))
        fixture.fileServer.put(bytes.map { ~$0 }, at: Self.urls[0])
        fixture.fileServer.put(bytes, at: Self.urls[1])
        let once = Counter()
        fixture.fileServer.whileDownloading {
            guard once.next() == 1 else { return }
            _ = try? await pull(fixture, Self.document(Self.urls[1]))
            if isGone { fixture.fileServer.remove(Self.urls[0]) }
        }
        try await fixture.sync.download(photo)
        #expect(fixture.fileServer.requests == Self.urls.map { "download \($0) from 0" })
        #expect(try Array(fixture.store.attachments.data(of: photo)) == bytes)
    }

    @Test func `a file that keeps moving is an error, and a removed file is unknown`() async throws {
        let (fixture, bytes) = (try PhotoFixture(), PhotoFixture.bytes())
        let photo = try await pull(fixture, Self.document(Self.urls[0]))
        for url in Self.urls { fixture.fileServer.put(bytes, at: url) }
        let count = Counter()
        fixture.fileServer.whileDownloading { _ = try? await pull(fixture, Self.document(Self.urls[count.next() % 2])) }
        await #expect { try await fixture.sync.download(photo) } throws: { ($0 as? TandemError)?.code == .fileMismatch }
        #expect(fixture.fileServer.requests.count == 3)
        let id = try #require(try await fixture.store.objects(Receipt.self).first()).localID
        fixture.fileServer.whileDownloading {
            try? await fixture.store.write { tx in _ = try tx.update(Receipt.self, localID: id) { $0.photo = nil } }
        }
        await #expect { try await fixture.sync.download(photo) } throws: {
            ($0 as? TandemError)?.code == .unknownAttachment
        }
        #expect(try fixture.store.checkIntegrity() == [])
    }

    @Test func `bytes of an unverifiable file are not combined with another file's`() async throws {
        let (fixture, bytes) = (try PhotoFixture(), PhotoFixture.bytes(5000))
        let photo = try await pull(fixture, Self.document(Self.urls[0]))
        fixture.fileServer.put(bytes, at: Self.urls[0])
        fixture.fileServer.hideETags()
        fixture.fileServer.next("download", .breakAfter(2000))
        try await fixture.sync.download(photo)
        #expect(fixture.fileServer.requests == Array(repeating: "download \(Self.urls[0]) from 0", count: 2))
        #expect(try Array(fixture.store.attachments.data(of: photo)) == bytes)
    }

    @Test func `a download of unknown size is limited`() async throws {
        let fixture = try PhotoFixture { $0.downloadLimit = 2000 }
        let url = "https://old.example/фото.jpg"
        let photo = try await pull(fixture, .text(url))
        func expectTooLarge() async {
            await #expect { try await fixture.sync.download(photo) } throws: { error in
                (error as? SyncError)?.code == .tooLarge && "\(error)".contains("downloadLimit")
            }
        }
        fixture.fileServer.put(PhotoFixture.bytes(2001), at: url)
        await expectTooLarge()
        // The server announces fewer bytes than it sends.
        fixture.fileServer.next("download", .say(10))
        await expectTooLarge()
        #expect(try fixture.store.checkIntegrity() == [])
        fixture.fileServer.put(PhotoFixture.bytes(2000), at: url)
        try await fixture.sync.download(photo)
        #expect(try fixture.store.attachments.data(of: photo).count == 2000)
    }

    @Test func `a download of known size is limited to it, and another announced size is refused at once`()
        async throws
    {
        let (fixture, bytes) = (try PhotoFixture { $0.downloadLimit = 10 }, PhotoFixture.bytes(3000))
        let photo = try await pull(fixture, Self.document(Self.urls[0], of: bytes))
        fixture.fileServer.put(bytes, at: Self.urls[0])
        for size: Int64 in [2999, 3001, .max] {
            fixture.fileServer.next("download", .say(size))
            await #expect { try await fixture.sync.download(photo) } throws: { error in
                (error as? TandemError)?.code == .fileMismatch && "\(error)".contains("\(size) bytes")
            }
        }
        try await fixture.sync.download(photo)
        #expect(try Array(fixture.store.attachments.data(of: photo)) == bytes)
    }

    @Test func `a plain URL stays plain after a download, and its file may change`() async throws {
        let (fixture, url) = (try PhotoFixture(), "https://old.example/фото.jpg")
        let photo = try await pull(fixture, .text(url))
        fixture.fileServer.put([1, 2, 3], at: url)
        try await fixture.sync.download(photo)
        // Another receipt, whose file the store knows.
        fixture.remote.edit("Receipt", id: "r2") { item in
            item.put("shop", .text("Ашан"))
            item.put("points", .integer(1))
            item.put("photo", .text(url))
            item.put("scans", .array([]))
        }
        try await fixture.sync.synchronize()
        let other = try #require(try await fixture.store.objects(Receipt.self).where { $0.shop == "Ашан" }.first())
        try await fixture.store.write { _ = try $0.update(Receipt.self, localID: other.localID) { $0.points = 5 } }
        try await fixture.sync.push()
        #expect(fixture.remote.all(in: "Receipt").map { $0[member: "photo"] } == [.text(url), .text(url)])
        #expect(try fixture.store.attachments.evict(photo))
        fixture.fileServer.put([4, 5, 6, 7], at: url)
        try await fixture.sync.download(photo)
        #expect(try Array(fixture.store.attachments.data(of: photo)) == [4, 5, 6, 7])
        #expect(try fixture.store.checkIntegrity() == [])
    }
}
