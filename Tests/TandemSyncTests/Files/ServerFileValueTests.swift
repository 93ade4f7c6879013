import Foundation
import Tandem
import TandemTesting
import TestSupport
import Testing

@testable import TandemSync

/// A server's values of a file that is known here.
@Suite(.ownThreads) struct ServerFileValueTests {
    private func said(
        _ photo: Tandem.Attachment, url: String? = nil, size: Int64? = nil, sha256: String? = nil
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
        let desk = try PhotoFixture()
        let id = try desk.attached().localID
        try await desk.sync.push()
        let before = try #require(try desk.receipt(id).photo)
        #expect(try desk.store.attachments.status(of: before).isOnDevice)
        // The server has reduced its size.
        let small = PhotoFixture.bytes(100, seed: 3)
        let draft = try desk.store.attachments.add(small, name: "x")
        let (url, hex) = (try #require(before.serverURL), try #require(draft.sha256).hex)
        desk.shelf.put(small, at: url)
        desk.remote.edit("Receipt", id: ServerID(id.rawValue)) { $0.put("photo", said(before, size: 100, sha256: hex)) }
        try await desk.sync.pull(Receipt.self, queryID: "all")
        let after = try #require(try desk.receipt(id).photo)
        #expect(after.size == 100)
        #expect(after.sha256?.hex == hex)
        #expect(after.name == "other.jpg")
        #expect(try !desk.store.attachments.status(of: after).isOnDevice)
        #expect(try desk.store.checkIntegrity() == [])
        try await desk.sync.download(after)
        #expect(try Array(desk.store.attachments.data(of: after)) == small)
        // A value that was read before is the same file, with the store's current values.
        let copy = try await desk.store.write { try $0.insert(Receipt(shop: "копия", photo: before)) }
        #expect(try desk.receipt(copy.localID).photo == after)
    }

    @Test func `a file that moved on the server is found at its new URL without the old ETag`() async throws {
        let desk = try PhotoFixture()
        let id = try desk.attached().localID
        try await desk.sync.push()
        let before = try #require(try desk.receipt(id).photo)
        let url = "https://shelf.example/elsewhere.jpg"
        desk.remote.edit("Receipt", id: ServerID(id.rawValue)) { $0.put("photo", said(before, url: url)) }
        try await desk.sync.pull(Receipt.self, queryID: "all")
        let after = try #require(try desk.receipt(id).photo)
        #expect(after.serverURL == url)
        // The bytes are the same.
        #expect(try desk.store.attachments.status(of: after).isOnDevice)
        #expect(try await desk.store.read { try $0.etag(of: after.id) } == nil)
        #expect(try desk.store.checkIntegrity() == [])
    }

    @Test func `a pending file stays unchanged if a server's item has its ID`() async throws {
        let desk = try PhotoFixture()
        let receipt = try desk.attached()
        try await desk.restarted(withFiles: false).push()
        let photo = try #require(receipt.photo)
        let word = said(photo, url: "https://shelf.example/liar.jpg", size: 7)
        desk.remote.edit("Receipt", id: ServerID(receipt.localID.rawValue)) { item in
            item.put("photo", word)
            item.put("points", .integer(5))
        }
        desk.remote.edit("Receipt", id: "other") { $0.put("shop", .text("Б")) }
        try await desk.restarted(withFiles: false).pull(Receipt.self, queryID: "all")
        #expect(try Array(desk.store.attachments.data(of: photo)) == PhotoFixture.bytes())
        // The other objects are not blocked.
        #expect(try await desk.store.objects(Receipt.self).all().count == 2)
        try await desk.sync.push()
        #expect(desk.shelf.files[PhotoServer.url(photo.id.rawValue)]?.bytes == PhotoFixture.bytes())
    }

    @Test func `a server's value of one object does not replace a file that other objects share`() async throws {
        let desk = try PhotoFixture()
        let id = try desk.attached().localID
        try await desk.sync.push()
        let photo = try #require(try desk.receipt(id).photo)
        // A client with access to its own object only claims that the file is another one.
        let evil = said(photo, url: "https://shelf.example/evil", size: 3, sha256: String(repeating: "ab", count: 32))
        desk.remote.edit("Receipt", id: "theirs") { item in
            item.put("shop", .text("Б"))
            item.put("photo", evil)
        }
        try await desk.sync.pull(Receipt.self, queryID: "all")
        #expect(try Array(desk.store.attachments.data(of: photo)) == PhotoFixture.bytes())
        #expect(try await desk.store.objects(Receipt.self).all().allSatisfy { $0.photo == photo })
        #expect(try desk.store.checkIntegrity() == [])
    }

    @Test func `an object that gets another object's pending file is not synced`() async throws {
        let desk = try PhotoFixture()
        let other = try await desk.synced()
        let scan = try desk.store.attachments.add(PhotoFixture.bytes(), name: "1.jpg")
        let passport = try await desk.store.write { try $0.insert(Passport(holder: "1", scan: scan)) }
        try await desk.restarted(withFiles: false).push()
        let told = try #require(desk.remote.items(in: "Passport").first?[member: "scan"])
        desk.remote.edit("Receipt", id: ServerID(other.localID.rawValue)) { $0.put("photo", told) }
        let context = desk.restarted(withFiles: false)
        try await context.pull(Receipt.self, queryID: "all")
        #expect(try desk.receipt(other.localID).photo?.id == scan.id)
        #expect(try !desk.receipt(other.localID).isSynced)
        #expect(try desk.store.checkIntegrity() == [])
        try await desk.sync.synchronize()
        #expect(try desk.receipt(other.localID).isSynced)
        #expect(try await desk.store.objects(Passport.self).all().map(\.localID) == [passport.localID])
        #expect(try desk.store.checkIntegrity() == [])
    }
}
