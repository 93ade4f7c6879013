import DatasyncWire
import Foundation
import Tandem
import TandemTesting
import TestSupport
import Testing

@testable import TandemSync

/// Attachments of tables whose other clients expect plain URLs.
@Suite(.ownThreads) struct URLTextTests {
    private func sendURLs(_ sync: SyncContext) throws {
        let table = try sync.table(Receipt.self)
        try table.setAttachments(\.photo, as: .urlText)
        try table.setAttachments(\.scans, as: .urlText)
    }

    private func fixture(nested: Bool = true) throws -> PhotoFixture {
        let fixture = try PhotoFixture(nestedJSON: nested)
        try sendURLs(fixture.sync)
        return fixture
    }

    @Test(arguments: [true, false])
    func `attachments are sent as URLs, and pulls of these URLs change nothing`(nested: Bool) async throws {
        let fixture = try fixture(nested: nested)
        let scans = try [1, 2].map { try fixture.store.attachments.add([UInt8($0)], name: "\($0).png") }
        let receipt = try fixture.attached()
        try await fixture.store.write { _ = try $0.update(Receipt.self, localID: receipt.localID) { $0.scans = scans } }
        #expect(try await fixture.sync.push().isComplete)
        let sent = try fixture.receipt(receipt.localID)
        let photo = try #require(sent.photo)
        let url = try #require(photo.serverURL)
        let urls = sent.scans.compactMap(\.serverURL)
        #expect(fixture.served(receipt) == .text(url) && urls.count == 2)
        #expect(FileInvariants.document(fixture.served(receipt, "scans")) == .array(urls.map { .text($0) }))
        #expect(photo.id == receipt.photo?.id && photo.name == "чек.jpg" && photo.sha256 == receipt.photo?.sha256)
        for queryID in ["all", "all", nil] {
            #expect(try await fixture.sync.pull(Receipt.self, queryID: queryID).changes == 0)
        }

        // Another client changes another property.
        fixture.remote.edit("Receipt", id: ServerID(receipt.localID.rawValue)) { $0.put("points", .integer(9)) }
        #expect(try await fixture.sync.pull(Receipt.self, queryID: "all").updated == 1)
        let now = try fixture.receipt(receipt.localID)
        #expect(now.points == 9 && now.photo == photo && now.scans == sent.scans && now.isSynced)
        #expect(try fixture.store.attachments.status(of: photo).isOnDevice)
        #expect(try fixture.store.checkIntegrity() == [])
    }

    @Test func `another device knows a file by its URL, and an edit of another property omits the file`()
        async throws
    {
        let fixture = try fixture()
        let receipt = try fixture.attached()
        #expect(try await fixture.sync.push().isComplete)
        let photo = try #require(try fixture.receipt(receipt.localID).photo)
        let url = try #require(photo.serverURL)
        let (store, sync) = try fixture.other()
        try sendURLs(sync)
        try await sync.pull(Receipt.self, queryID: "all")
        let there = try #require(try await store.objects(Receipt.self).first())
        let named = Attachment(atServerURL: url)
        #expect(there.photo == named)
        try await sync.download(named)
        #expect(try Array(store.attachments.data(of: named)) == PhotoFixture.bytes())

        fixture.remote.forgetRequests()
        try await store.write { _ = try $0.update(there) { $0.points = 5 } }
        #expect(try await sync.push().isComplete)
        #expect(fixture.remote.requests.filter { $0.kind == .update }.map { $0.members.map(\.key) } == [["points"]])
        #expect(fixture.served(receipt) == .text(url))
        #expect(try await fixture.sync.pull(Receipt.self, queryID: "all").updated == 1)
        #expect(try fixture.receipt(receipt.localID).photo == photo)
    }

    @Test func `another URL is another file, and the old file is removed with its local copy`() async throws {
        let fixture = try fixture()
        let receipt = try fixture.attached()
        #expect(try await fixture.sync.push().isComplete)
        let old = try #require(try fixture.receipt(receipt.localID).photo)
        let url = "https://old.example/photos/receipt%202.PNG?v=1"
        fixture.remote.edit("Receipt", id: ServerID(receipt.localID.rawValue)) { $0.put("photo", .text(url)) }
        #expect(try await fixture.sync.pull(Receipt.self, queryID: "all").updated == 1)
        let new = try #require(try fixture.receipt(receipt.localID).photo)
        #expect(new.serverURL == url && new.name == "receipt 2.PNG" && new.contentType == "image/png")
        #expect(new.size == nil && new.sha256 == nil)
        #expect(try !fixture.store.attachments.status(of: new).isOnDevice)
        #expect(fixture.isGone(old))

        fixture.remote.edit("Receipt", id: ServerID(receipt.localID.rawValue)) { $0.put("photo", .null) }
        #expect(try await fixture.sync.pull(Receipt.self, queryID: "all").updated == 1)
        #expect(try fixture.receipt(receipt.localID).photo == nil)
        #expect(try fixture.store.checkIntegrity() == [])
    }

    @Test(arguments: [false, true])
    func `a photo replaced here is sent as another URL and does not conflict after a lost response`(
        isLost: Bool
    ) async throws {
        let fixture = try fixture()
        try fixture.sync.table(Receipt.self).setConflicts(.report)
        let receipt = try fixture.attached()
        #expect(try await fixture.sync.push().isComplete)
        let new = try fixture.store.attachments.add(PhotoFixture.bytes(seed: 9), name: "new.jpg")
        try await fixture.store.write { _ = try $0.update(Receipt.self, localID: receipt.localID) { $0.photo = new } }
        if isLost {
            let url = JSONNode.text(PhotoServer.url(new.id.rawValue))
            fixture.remote.next(
                .loseResponse,
                on: RequestMatch { request in
                    request.kind == .update && request.members.contains { $0.key == "photo" && $0.value == url }
                })
        }
        for _ in 1...3 { _ = try? await fixture.sync.push() }
        #expect(try await fixture.sync.failedOperations().isEmpty)
        let here = try fixture.receipt(receipt.localID)
        #expect(here.isSynced && here.photo?.id == new.id && here.photo?.size == new.size)
        #expect(try fixture.served(receipt) == .text(#require(here.photo?.serverURL)))
        #expect(try await fixture.sync.pull(Receipt.self).changes == 0)
    }

    @Test(arguments: Dialect.both)
    func `a table with columns of URLs is shared with other clients`(dialect: Dialect) async throws {
        let world = try SyncWorld(dialect)
        let fileServer = PhotoServer()
        func device() throws -> (Store, SyncContext) {
            let clock = world.clock
            var configuration = Store.Configuration()
            configuration.now = clock.now
            var options = SyncContext.Options()
            options.clock = JumpingClock(clock)
            options.random = { 0 }
            let store = try Store(inMemoryModels: [Receipt.self], configuration: configuration)
            let sync = SyncContext(store: store, remote: world.remote(), files: fileServer, options: options)
            try sendURLs(sync)
            return (store, sync)
        }
        func put(_ id: String, _ photo: String, points: Int64) async throws {
            let members: [RemoteItem.Member] = [
                ("shop", .text("Лента")), ("points", .integer(points)), ("photo", .text(photo)),
                ("scans", .text("[\"\(photo)\"]")),
            ]
            try await world.others.put("Receipt", ServerID(id), members)
        }
        let url = "https://old.example/photos/a.jpg"
        let named = Attachment(atServerURL: url)
        try await put("r1", url, points: 1)
        let (store, sync) = try device()
        try await sync.pull(Receipt.self, queryID: "all")
        let theirs = try #require(try await store.objects(Receipt.self).first())
        #expect(theirs.photo == named && theirs.scans == [named])

        try await store.write { _ = try $0.update(theirs) { $0.points = 5 } }
        let photo = try store.attachments.add(PhotoFixture.bytes(), name: "чек.jpg")
        let mine = try await store.write { try $0.insert(Receipt(shop: "Магнит", photo: photo, scans: [photo])) }
        #expect(try await sync.push().isComplete)
        let known = try #require(try store.object(ofType: Receipt.self, forPrimaryKey: mine.localID)?.photo)
        let sent = try #require(known.serverURL)
        #expect(try world.texts("receipt", "photo") == [url, sent].sorted())
        let lists = try world.texts("receipt", "scans").compactMap { FileInvariants.document(.text($0)) }
        #expect(lists.count == 2 && lists.contains(.array([.text(url)])) && lists.contains(.array([.text(sent)])))
        for queryID in ["all", nil] {
            #expect(try await sync.pull(Receipt.self, queryID: queryID).changes == 0)
        }
        #expect(try store.attachments.status(of: known).isOnDevice)

        // Another client puts another file into both columns.
        world.clock.advance(by: 60)
        try await put(mine.localID.rawValue, url, points: 0)
        #expect(try await sync.pull(Receipt.self, queryID: "all").updated == 1)
        let now = try #require(try store.object(ofType: Receipt.self, forPrimaryKey: mine.localID))
        #expect(now.photo == named && now.scans == [named] && now.isSynced)
        #expect(throws: TandemError.self) { try store.attachments.status(of: known) }
        #expect(try store.checkIntegrity() == [])

        let (other, otherSync) = try device()
        try await otherSync.pull(Receipt.self)
        #expect(try await other.objects(Receipt.self).all().map(\.photo) == [named, named])
    }

    @Test func `a property that is not sent has no form`() throws {
        let table = try PhotoFixture().sync.table(Receipt.self)
        let error = #expect(throws: SyncError.self) { try table.setAttachments(\.draft, as: .urlText) }
        #expect(error?.code == .notEncodable && error?.property == "draft")
    }

    @Test func `a file without a URL has no text`() throws {
        let fixture = try fixture()
        let receipt = try fixture.attached()
        let property = try #require(Receipt.__definition.properties.first { $0.name == "photo" })
        let value = Migration.stored(try #require(receipt.photo))
        #expect(throws: RequestEncodingError.self) { try WireFormat().node(of: value, for: property, as: .urlText) }
        #expect(try WireFormat().node(of: .null, for: property, as: .urlText) == .null)
    }
}
