import DatasyncWire
import Foundation
import Tandem
import TandemTesting
import TestSupport
import Testing

@testable import TandemSync

/// The limits that the article describes. A failing test here is a limit that no longer exists.
@Suite(.ownThreads) struct LimitsArticleTests {
    @Test func `a lost response without a lookup property creates a duplicate`() async throws {
        let fixture = try SyncFixture(ids: .server, lookUp: nil)
        try await fixture.store.write { try $0.insert(Card(shop: "Лента", barcode: "1")) }
        fixture.remote.next(.loseResponse)
        try await fixture.sync.attemptPush()
        try await fixture.sync.push()
        #expect(fixture.remote.items(in: "Card").count == 2)
    }

    @Test func `a discarded insert with a lost response stays on the server`() async throws {
        let fixture = try SyncFixture(ids: .server, lookUp: nil)
        let id = try await fixture.store.write { try $0.insert(Card(shop: "Лента", barcode: "1")) }.localID
        fixture.remote.next(.loseResponse)
        try await fixture.sync.attemptPush()
        try await fixture.store.write { _ = try $0.delete(Card.self, localID: id) }
        #expect(try await fixture.sync.push().isComplete)
        #expect(fixture.remote.items(in: "Card").count == 1)
        #expect(try await fixture.sync.pull(Card.self).inserted == 1)
    }

    @Test func `an insert that arrives twice makes two objects if the server makes the IDs`() async throws {
        for (ids, count) in [(ScriptedRemote.IDs.server, 2), (.client, 1)] {
            let fixture = try SyncFixture(ids: ids)
            try await fixture.store.write { try $0.insert(Card(shop: "Лента", barcode: "1")) }
            fixture.remote.next(.deliverTwice)
            _ = try await fixture.sync.attemptPush()
            #expect(fixture.remote.items(in: "Card").count == count, "\(ids)")
        }
    }

    @Test func `a delete without tombstones is found by a full pull`() async throws {
        let fixture = try SyncFixture(softDelete: false)
        let card = try await fixture.syncedCard()
        try await fixture.sync.pull(Card.self, queryID: "cards")
        fixture.remote.remove("Card", id: try #require(card.serverID))
        #expect(try await fixture.sync.pull(Card.self, queryID: "cards").deleted == 0)
        #expect(try await fixture.sync.pull(Card.self).deleted == 1)
    }

    @Test func `a late insert after a hard delete restores its object`() async throws {
        let fixture = try SyncFixture(softDelete: false)
        let id = try await fixture.store.write { try $0.insert(Card(shop: "Лента", barcode: "1")) }.localID
        fixture.remote.next(.deliverLate(after: 3))
        try await fixture.sync.attemptPush()
        try await fixture.store.write { _ = try $0.delete(Card.self, localID: id) }
        #expect(try await fixture.sync.push().isComplete)
        for _ in 1...3 { _ = try await fixture.remote.find("Card", key: .id("x")) }
        #expect(fixture.remote.items(in: "Card").count == 1)
    }

    @Test(arguments: [true, false])
    func `a late undelete restores an object that was deleted again`(versions: Bool) async throws {
        let fixture = try SyncFixture(versions: versions)
        let card = try await fixture.syncedCard()
        try await fixture.store.write { try $0.delete(Card.self, localID: card.localID) }
        fixture.remote.next(.loseResponse)
        try await fixture.sync.attemptPush()
        try await fixture.store.write { _ = try $0.undelete(Card.self, localID: card.localID) }
        // With versions, the first undelete has the version before the delete, and is rejected.
        if versions { fixture.remote.next(.meanwhile {}, on: .undelete) }
        fixture.remote.next(.deliverLate(after: 3), on: .undelete)
        try await fixture.sync.attemptPush()
        try await fixture.store.write { try $0.delete(Card.self, localID: card.localID) }
        #expect(try await fixture.sync.push().isComplete && fixture.remote.items(in: "Card").isEmpty)
        for _ in 1...3 { _ = try await fixture.remote.find("Card", key: .id("x")) }
        #expect(fixture.remote.items(in: "Card").count == 1)
    }

    @Test func `a date takes the server's precision`() async throws {
        let fixture = try SyncFixture()
        let (exact, cut) = (1_795_000_000.123456, 1_795_000_000.123)
        let date = Date(timeIntervalSince1970: exact)
        let id = try await fixture.store.write { tx in
            try tx.insert(Card(shop: "Лента", barcode: "1", expires: date))
        }.localID
        #expect(try fixture.card(id)?.expires == date)
        try await fixture.sync.push()
        let after = try #require(try fixture.card(id)?.expires?.timeIntervalSince1970)
        #expect(abs(after - cut) < 0.00001)
    }

    /// The article on conflicts describes this for `newestWins`. The local clock is an hour ahead, and the change there
    /// is newer. An earlier run has pulled it, so that no request is needed.
    @Test(arguments: [true, false])
    func `a context without a response uses the uncorrected local clock`(hasHadOne: Bool) async throws {
        let fixture = try SyncFixture()
        fixture.clock.advance(by: 3600)
        let card = try await fixture.syncedCard()
        let context = hasHadOne ? fixture.sync : try fixture.restarted()
        try context.table(Card.self).setConflicts(.newestWins)
        fixture.clock.advance(by: 50)
        try await fixture.store.write { _ = try $0.update(Card.self, localID: card.localID) { $0.points = 2 } }
        fixture.remote.advanceClock(by: 100)
        fixture.remote.edit("Card", id: try #require(card.serverID)) { $0.set(.integer(3), of: "points") }
        try await fixture.receiveAll()
        try await context.push()
        #expect(try fixture.card(card.localID)?.points == (hasHadOne ? 3 : 2))
    }

    @Test func `a server that replaces items loses others' changes without versions`() async throws {
        let world = try SyncWorld(.datasync)
        let (store, sync) = try world.device()
        var features = TableFeatures()
        features.versions = false
        try sync.table(Card.self).setFeatures(features)
        try await world.others.card("a", shop: "Лента")
        try await sync.pull(Card.self, queryID: "cards")
        try await store.write { _ = try $0.update(Card.self, localID: "a") { $0.points = 9 } }
        try await world.others.card("a", shop: "Магнит")
        #expect(try await sync.push().isComplete)
        #expect(try world.texts("Card", "shop") == ["Лента"])
    }

    /// Another device replaces or removes a photograph, and deletes the file. This device does not know yet that the
    /// server has the URL. By the default policy, it then sends the URL again.
    @Test(arguments: [true, false])
    func `a URL that is resent names a file that another device has deleted`(isReplaced: Bool) async throws {
        let fixture = try PhotoFixture { $0.deletesFiles = true }
        let (store, _) = try fixture.other()
        let other = fixture.restarted(on: store) { $0.deletesFiles = true }
        let id = try await fixture.synced().localID
        let photo = try fixture.store.attachments.add(PhotoFixture.bytes(), name: "1.jpg")
        let url = PhotoServer.url(photo.id.rawValue)
        try await fixture.store.write { _ = try $0.update(Receipt.self, localID: id) { $0.photo = photo } }
        fixture.remote.next(.loseResponse, on: .update)
        try await fixture.sync.attemptPush()
        try await other.synchronize()
        let seen = try #require(try await store.objects(Receipt.self).first())
        #expect(seen.photo?.serverURL == url)
        let second = isReplaced ? try store.attachments.add([9, 9, 9], name: "2.jpg") : nil
        try await store.write { _ = try $0.update(Receipt.self, localID: seen.localID) { $0.photo = second } }
        try await other.push()
        #expect(fixture.fileServer.files[url] == nil)
        try await fixture.sync.push()
        let receipt = try fixture.receipt(id)
        #expect(receipt.isSynced && receipt.photo?.serverURL == url)
        #expect(fixture.served(receipt) == receipt.photo?.__json)
        #expect(fixture.fileServer.files[url] == nil)
    }

    @Test func `an undelete after a lost response names a file that another device has deleted`() async throws {
        let fixture = try PhotoFixture { $0.deletesFiles = true }
        let (store, _) = try fixture.other()
        let other = fixture.restarted(on: store) { $0.deletesFiles = true }
        let receipt = try fixture.attached()
        try await fixture.sync.push()
        try await other.synchronize()
        let seen = try #require(try await store.objects(Receipt.self).first())
        try await fixture.store.write { _ = try $0.delete(Receipt.self, localID: receipt.localID) }
        fixture.remote.next(.loseResponse, on: .delete)
        try await fixture.sync.attemptPush()
        try await store.write { _ = try $0.delete(Receipt.self, localID: seen.localID) }
        try await other.push()
        #expect(fixture.fileServer.files.isEmpty)
        try await fixture.store.write { _ = try $0.undelete(Receipt.self, localID: receipt.localID) }
        try await fixture.sync.push()
        let restored = try fixture.receipt(receipt.localID)
        #expect(restored.isSynced && restored.photo?.serverURL != nil)
        #expect(fixture.served(restored) == restored.photo?.__json)
        #expect(fixture.fileServer.files.isEmpty)
    }
}
