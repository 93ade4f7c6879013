import Foundation
import Tandem
import TandemTesting
import TestSupport
import Testing

@testable import TandemSync

@Suite(.ownThreads) struct FileConflictTests {
    static let rules: [(String, ConflictPolicy<Receipt>)] = [
        ("standard", .merge()), ("server wins", .serverWins), ("client wins", .clientWins), ("report", .report),
        ("newest", .newestWins),
    ]

    /// A receipt that the server knows, with a photograph that the server does not have yet.
    private func waiting(_ fixture: PhotoFixture) async throws -> Receipt {
        let receipt = try fixture.attached()
        try await fixture.restarted(withFiles: false).push()
        return receipt
    }

    @Test(arguments: rules.indices)
    func `the URL's update does not conflict with a change of another property`(index: Int) async throws {
        let fixture = try PhotoFixture()
        try fixture.sync.table(Receipt.self).setConflicts(Self.rules[index].1)
        let receipt = try await waiting(fixture)
        let id = ServerID(receipt.localID.rawValue)
        let remote = fixture.remote
        remote.next(
            .conflict { item in
                item.put("points", .integer(77))
            }, on: .update)
        let result = try await fixture.sync.push()
        #expect(result.isComplete, "\(Self.rules[index].0): \(result)")
        let here = try fixture.receipt(receipt.localID)
        #expect(here.points == 77)
        #expect(here.photo?.serverURL != nil)
        #expect(here.isSynced)
        let item = try #require(remote.all(in: "Receipt").first { $0.id == id })
        #expect(item[member: "points"] == .integer(77))
        #expect(item[member: "photo"] != .null)
    }

    @Test(arguments: rules.indices, [true, false])
    func `another device's URL does not conflict with a local change`(index: Int, isPulled: Bool) async throws {
        let fixture = try PhotoFixture()
        let (store, sync) = try fixture.other()
        try sync.table(Receipt.self).setConflicts(Self.rules[index].1)
        let receipt = try await waiting(fixture)
        try await sync.synchronize()
        let here = try #require(try await store.objects(Receipt.self).first())
        #expect(here.photo == nil)
        try await store.write { _ = try $0.update(Receipt.self, localID: here.localID) { $0.points = 5 } }
        // The file is uploaded meanwhile, and its URL makes another version.
        fixture.clock.advance(by: 60)
        try await fixture.sync.push()
        if isPulled { try await sync.pull(Receipt.self) }
        let result = try await sync.push()
        #expect(result.isComplete, "\(Self.rules[index].0): \(result)")
        let now = try #require(try await store.objects(Receipt.self).first())
        #expect(now.points == 5 && now.isSynced)
        #expect(now.photo?.id == receipt.photo?.id)
        let item = try #require(fixture.remote.all(in: "Receipt").first)
        #expect(item[member: "points"] == .integer(5))
        #expect(item[member: "photo"] != .null)
    }

    /// The server writes the URL when it has the file, and no pull has fetched that.
    @Test(arguments: rules.indices)
    func `a URL set by the server does not conflict with the next change`(index: Int) async throws {
        let fixture = try PhotoFixture { $0.serverSetsFileURLs = true }
        try fixture.sync.table(Receipt.self).setConflicts(Self.rules[index].1)
        let receipt = try fixture.attached()
        try await fixture.sync.push()
        let id = ServerID(receipt.localID.rawValue)
        let photo = try #require(try fixture.receipt(receipt.localID).photo)
        #expect(photo.serverURL != nil)
        fixture.remote.edit("Receipt", id: id) { $0.put("photo", photo.__json) }
        try await fixture.store.write { _ = try $0.update(Receipt.self, localID: receipt.localID) { $0.points = 5 } }
        let result = try await fixture.sync.push()
        #expect(result.isComplete, "\(Self.rules[index].0): \(result)")
        try await fixture.sync.pull(Receipt.self, queryID: "all")
        let here = try fixture.receipt(receipt.localID)
        #expect(here.points == 5 && here.isSynced && here.photo == photo)
        #expect(try Array(fixture.store.attachments.data(of: photo)) == PhotoFixture.bytes())
        #expect(fixture.fileServer.requests.count == 1)
    }

    @Test func `another client's photograph in place of a pending one is resolved by the app's policy`() async throws {
        let theirs = Attachment(atServerURL: "https://shelf.example/theirs.jpg")
        for takesTheirs in [true, false] {
            let fixture = try PhotoFixture()
            try fixture.sync.table(Receipt.self).setConflicts(takesTheirs ? .serverWins : .clientWins)
            let receipt = try await waiting(fixture)
            fixture.remote.edit("Receipt", id: ServerID(receipt.localID.rawValue)) { $0.put("photo", theirs.__json) }
            let context = fixture.restarted(withFiles: false)
            try await context.pull(Receipt.self, queryID: "all")
            // A pull does not overwrite a pending photograph.
            #expect(try fixture.receipt(receipt.localID).photo == receipt.photo)
            let result = try await fixture.sync.push()
            let here = try fixture.receipt(receipt.localID)
            #expect(here.isSynced)
            if takesTheirs {
                #expect(here.photo == theirs)
                #expect(result.entries.first?.lost?.values["photo"] != nil)
                #expect(fixture.fileServer.files.isEmpty)
                #expect(fixture.isGone(try #require(receipt.photo)))
            } else {
                #expect(here.photo?.id == receipt.photo?.id)
                #expect(here.photo?.serverURL != nil)
                #expect(fixture.served(receipt) == here.photo?.__json)
            }
            #expect(try fixture.store.operations.count() == 0)
        }
    }

    @Test func `a tombstone conflicts with a pending photograph, which is removed with its object`() async throws {
        let fixture = try PhotoFixture()
        let receipt = try await waiting(fixture)
        fixture.remote.remove("Receipt", id: ServerID(receipt.localID.rawValue))
        let result = try await fixture.sync.synchronize()
        #expect(result.lostEdits.map(\.localID) == [receipt.localID])
        #expect(result.lostEdits.first?.values["photo"] != nil)
        #expect(try await fixture.store.objects(Receipt.self).all().isEmpty)
        #expect(fixture.fileServer.requests.isEmpty)
        #expect(fixture.isGone(try #require(receipt.photo)))
    }

    @Test func `photographs that others add to a list are merged with pending ones`() async throws {
        let fixture = try PhotoFixture()
        let mine = try fixture.store.attachments.add([1, 2, 3], name: "mine.txt")
        let id = try await fixture.store.write { try $0.insert(Receipt(shop: "A", scans: [mine])) }.localID
        try await fixture.restarted(withFiles: false).push()
        let theirs = Attachment(atServerURL: "https://shelf.example/theirs.jpg")
        fixture.remote.edit("Receipt", id: ServerID(id.rawValue)) { $0.put("scans", .array([theirs.__json])) }
        try await fixture.sync.synchronize()
        let here = try fixture.receipt(id)
        #expect(here.scans.map(\.id) == [mine.id, theirs.id])
        #expect(here.scans.allSatisfy { $0.serverURL != nil })
        #expect(here.isSynced)
    }

    @Test func `a discarded update keeps an earlier pending photograph and sends the URLs uploaded since`()
        async throws
    {
        let fixture = try PhotoFixture()
        let first = try fixture.store.attachments.add([1, 2, 3], name: "1.txt")
        let id = try await fixture.store.write { try $0.insert(Receipt(shop: "A", scans: [first])) }.localID
        try await fixture.restarted(withFiles: false).push()
        let second = try fixture.store.attachments.add([4, 5, 6], name: "2.txt")
        try await fixture.store.write { _ = try $0.update(Receipt.self, localID: id) { $0.scans = [first, second] } }
        let operation = try #require(try fixture.store.operations.all().first)
        try await fixture.sync.hold(operation.id)
        try await fixture.sync.push()
        #expect(try fixture.receipt(id).scans.allSatisfy { $0.serverURL != nil })
        try await fixture.sync.discard(operation.id)
        #expect(try fixture.receipt(id).scans.map(\.id) == [first.id])
        try await fixture.sync.push()
        let here = try fixture.receipt(id)
        #expect(here.isSynced)
        #expect(
            fixture.remote.all(in: "Receipt").first?[member: "scans"] == .array(here.scans.map(\.__json)))
    }
}
