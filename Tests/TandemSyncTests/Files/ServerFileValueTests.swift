import Foundation
import Tandem
import TandemTesting
import TestSupport
import Testing

@testable import TandemSync

/// A server's values of a file that is known here.
@Suite(.ownThreads) struct ServerFileValueTests {
    private func said(
        _ photo: Attachment, url: String? = nil, size: Int64? = nil, sha256: String? = nil
    ) -> JSONNode {
        .object([
            ("id", .text(photo.id.rawValue)), ("name", .text("other.jpg")),
            ("sha256", .text(sha256 ?? photo.sha256?.hex ?? "")), ("size", .integer(size ?? photo.size ?? 0)),
            ("type", .text("image/jpeg")), ("url", .text(url ?? photo.serverURL ?? "")),
        ])
    }

    @Test func `another size and hash of an uploaded file are accepted, and the file is downloaded again`()
        async throws
    {
        let fixture = try PhotoFixture()
        let id = try fixture.attached().localID
        try await fixture.sync.push()
        let before = try #require(try fixture.receipt(id).photo)
        #expect(try fixture.store.attachments.status(of: before).isOnDevice)
        // The server has reduced its size.
        let small = PhotoFixture.bytes(100, seed: 3)
        let draft = try fixture.store.attachments.add(small, name: "x")
        let (url, hex) = (try #require(before.serverURL), try #require(draft.sha256).hex)
        fixture.fileServer.put(small, at: url)
        fixture.remote.edit("Receipt", id: ServerID(id.rawValue)) {
            $0.put("photo", said(before, size: 100, sha256: hex))
        }
        try await fixture.sync.pull(Receipt.self, queryID: "all")
        let after = try #require(try fixture.receipt(id).photo)
        #expect(after.size == 100)
        #expect(after.sha256?.hex == hex)
        #expect(after.name == "other.jpg")
        #expect(try !fixture.store.attachments.status(of: after).isOnDevice)
        #expect(try fixture.store.checkIntegrity() == [])
        try await fixture.sync.download(after)
        #expect(try Array(fixture.store.attachments.data(of: after)) == small)
        // A value that was read before is the same file, with the store's current values.
        let copy = try await fixture.store.write { try $0.insert(Receipt(shop: "копия", photo: before)) }
        #expect(try fixture.receipt(copy.localID).photo == after)
    }

    @Test func `a file that moved on the server is found at its new URL without the old ETag`() async throws {
        let fixture = try PhotoFixture()
        let id = try fixture.attached().localID
        try await fixture.sync.push()
        let before = try #require(try fixture.receipt(id).photo)
        let url = "https://shelf.example/elsewhere.jpg"
        fixture.remote.edit("Receipt", id: ServerID(id.rawValue)) { $0.put("photo", said(before, url: url)) }
        try await fixture.sync.pull(Receipt.self, queryID: "all")
        let after = try #require(try fixture.receipt(id).photo)
        #expect(after.serverURL == url)
        // The bytes are the same.
        #expect(try fixture.store.attachments.status(of: after).isOnDevice)
        #expect(try await fixture.store.read { try $0.etag(of: after.id) } == nil)
        #expect(try fixture.store.checkIntegrity() == [])
    }

    @Test func `a pending file stays unchanged if a server's item has its ID`() async throws {
        let fixture = try PhotoFixture()
        let receipt = try fixture.attached()
        try await fixture.restarted(withFiles: false).push()
        let photo = try #require(receipt.photo)
        let word = said(photo, url: "https://shelf.example/liar.jpg", size: 7)
        fixture.remote.edit("Receipt", id: ServerID(receipt.localID.rawValue)) { item in
            item.put("photo", word)
            item.put("points", .integer(5))
        }
        fixture.remote.edit("Receipt", id: "other") { $0.put("shop", .text("Б")) }
        try await fixture.restarted(withFiles: false).pull(Receipt.self, queryID: "all")
        #expect(try Array(fixture.store.attachments.data(of: photo)) == PhotoFixture.bytes())
        // The other objects are not blocked.
        #expect(try await fixture.store.objects(Receipt.self).all().count == 2)
        try await fixture.sync.push()
        #expect(fixture.fileServer.files[PhotoServer.url(photo.id.rawValue)]?.bytes == PhotoFixture.bytes())
    }

    @Test func `a server's value of one object does not replace a file that other objects share`() async throws {
        let fixture = try PhotoFixture()
        let id = try fixture.attached().localID
        try await fixture.sync.push()
        let photo = try #require(try fixture.receipt(id).photo)
        // A client with access to its own object only claims that the file is another one.
        let evil = said(photo, url: "https://shelf.example/evil", size: 3, sha256: String(repeating: "ab", count: 32))
        fixture.remote.edit("Receipt", id: "theirs") { item in
            item.put("shop", .text("Б"))
            item.put("photo", evil)
        }
        try await fixture.sync.pull(Receipt.self, queryID: "all")
        #expect(try Array(fixture.store.attachments.data(of: photo)) == PhotoFixture.bytes())
        #expect(try await fixture.store.objects(Receipt.self).all().allSatisfy { $0.photo == photo })
        #expect(try fixture.store.checkIntegrity() == [])
    }

    @Test func `an object that gets another object's pending file is not synced`() async throws {
        let fixture = try PhotoFixture()
        let other = try await fixture.synced()
        let scan = try fixture.store.attachments.add(PhotoFixture.bytes(), name: "1.jpg")
        let passport = try await fixture.store.write { try $0.insert(Passport(holder: "1", scan: scan)) }
        try await fixture.restarted(withFiles: false).push()
        let told = try #require(fixture.remote.items(in: "Passport").first?[member: "scan"])
        fixture.remote.edit("Receipt", id: ServerID(other.localID.rawValue)) { $0.put("photo", told) }
        let context = fixture.restarted(withFiles: false)
        try await context.pull(Receipt.self, queryID: "all")
        #expect(try fixture.receipt(other.localID).photo?.id == scan.id)
        #expect(try !fixture.receipt(other.localID).isSynced)
        #expect(try fixture.store.checkIntegrity() == [])
        try await fixture.sync.synchronize()
        #expect(try fixture.receipt(other.localID).isSynced)
        #expect(try await fixture.store.objects(Passport.self).all().map(\.localID) == [passport.localID])
        #expect(try fixture.store.checkIntegrity() == [])
    }
}
