import Foundation
import Tandem
import TandemTesting
import TestSupport
import Testing

@testable import TandemSync

/// The batches of a push, and the outcome of each operation in them.
@Suite(.ownThreads, .timeLimit(.minutes(10))) struct BatchPushTests {
    @Test(arguments: [1, 2, 8])
    func `ready operations go out together, up to the limit`(inFlight: Int) async throws {
        let fixture = try SyncFixture(batchLimit: 5) { $0.inFlight = inFlight }
        try await fixture.insertCards(12)
        let result = try await fixture.sync.push()
        #expect(result.isComplete && result.entries.map(\.outcome.name) == Array(repeating: "done", count: 12))
        #expect(fixture.batchSizes.sorted() == [2, 5, 5] && fixture.exchanges == 3)
        #expect(fixture.remote.batchLimitRequests == 1 && fixture.remote.mostInFlight == 1)
        #expect(try fixture.isLevel())
        // With one request in flight, the order is that of the queue.
        let codes = fixture.remote.requests.map { request in request.members.first { $0.key == "barcode" }?.value }
        if inFlight == 1 { #expect(codes == (0..<12).map { .text("\($0)") }) }
    }

    @Test func `a single operation goes alone and asks for no limit`() async throws {
        let fixture = try SyncFixture(batchLimit: 5)
        try await fixture.insertCards(1)
        #expect(try await fixture.sync.push().isComplete)
        #expect(fixture.remote.batchLimitRequests == 0 && fixture.batchSizes.isEmpty && fixture.asked == [.insert])
    }

    @Test func `an empty queue asks for no limit`() async throws {
        let fixture = try SyncFixture(batchLimit: 5)
        #expect(try await fixture.sync.push().isComplete)
        #expect(fixture.remote.batchLimitRequests == 0 && fixture.exchanges == 0)
    }

    /// A batch has one transaction before the request and one after it.
    @Test(arguments: [(limit: 1, writes: 40), (limit: 20, writes: 2), (limit: 7, writes: 6)])
    func `a batch needs two transactions`(limit: Int, writes: Int) async throws {
        let fixture = try SyncFixture(batchLimit: limit)
        let store = CountingStore(base: TandemStore(fixture.store))
        let sync = fixture.context(with: fixture.remote, store: store) { $0.inFlight = 1 }
        // The first push also stores settings.
        try await fixture.insertCards(1)
        #expect(try await sync.push().isComplete)
        let before = store.writes.value
        try await fixture.store.write { tx in
            for code in 1...20 { try tx.insert(Card(shop: "Лента", barcode: "\(code)")) }
        }
        #expect(try await sync.push().isComplete)
        // Some writes belong to the push and not to an operation.
        let empty = store.writes.value
        #expect(try await sync.push().isComplete)
        let perPush = store.writes.value - empty
        #expect(empty - before - perPush == writes)
        #expect(try fixture.isLevel())
    }

    @Test func `a batch has changes of each kind`() async throws {
        let fixture = try SyncFixture(batchLimit: 5)
        let (edited, deleted) = (try await fixture.syncedCard("a"), try await fixture.syncedCard("b"))
        try await fixture.store.write { tx in
            try tx.update(Card.self, localID: edited.localID) { $0.points = 7 }
            try tx.delete(Card.self, localID: deleted.localID)
            try tx.insert(Card(shop: "Магнит", barcode: "c"))
        }
        #expect(try await fixture.sync.push().entries.map(\.outcome.name) == ["done", "done", "done"])
        #expect(fixture.batchSizes == [3] && fixture.asked == [.update, .delete, .insert])
        #expect(try fixture.isLevel() && fixture.arrived == ["a", "c"])
    }

    @Test func `each operation of a batch keeps its own outcome`() async throws {
        let fixture = try SyncFixture(batchLimit: 5)
        let cards = [
            try await fixture.syncedCard("a"), try await fixture.syncedCard("b"), try await fixture.syncedCard("c"),
        ]
        try await fixture.store.write { tx in
            for card in cards { try tx.update(Card.self, localID: card.localID) { $0.points = 7 } }
        }
        fixture.remote.next(.fail(.refused(status: 400, message: "Too many.")), on: .id(cards[0].localID.rawValue))
        fixture.remote.next(
            .conflict { $0.set(.text("theirs"), of: "nickname") }, on: .id(cards[1].localID.rawValue))
        let result = try await fixture.sync.push()
        #expect(result.entries.map(\.outcome.name) == ["refused", "merged", "done"])
        let failed = try #require(result.failedOperations.first?.operation)
        #expect(failed.localID == cards[0].localID && failed.error?.message.contains("Too many.") == true)
        // The merged values went out alone: no other operation was left.
        #expect(fixture.batchSizes == [3] && fixture.exchanges == 2)
        #expect(try fixture.card(cards[1].localID)?.nickname == "theirs")
        #expect(try fixture.served(cards[1].serverID)?[member: "points"] == .integer(7))
        try await fixture.sync.retry(failed.id)
        #expect(try await fixture.sync.push().isComplete)
        #expect(try fixture.isLevel())
    }

    @Test func `refusals of a batch share one transaction`() async throws {
        let fixture = try SyncFixture(batchLimit: 10)
        let store = CountingStore(base: TandemStore(fixture.store))
        let sync = fixture.context(with: fixture.remote, store: store)
        try await fixture.insertCards(10)
        fixture.remote.always(.fail(.refused(status: 403, message: "Not yours.")), on: .insert)
        let result = try await sync.push()
        #expect(result.entries.map(\.outcome.name) == Array(repeating: "refused", count: 10))
        #expect(try fixture.store.operations.count(in: .failed) == 10 && fixture.batchSizes == [10])
        #expect(store.writes.value <= 6, "\(store.writes.value)")
    }

    @Test(arguments: [PendingOperation.Kind.update, .delete])
    func `a change made while the batch is in flight is sent after it`(kind: PendingOperation.Kind) async throws {
        let fixture = try SyncFixture(batchLimit: 5)
        let ids = try await fixture.insertCards(3)
        fixture.remote.next(
            .meanwhile {
                try? await fixture.store.write { tx in
                    if kind == .delete {
                        _ = try tx.delete(Card.self, localID: ids[1])
                    } else {
                        _ = try tx.update(Card.self, localID: ids[1]) { $0.points = 9 }
                    }
                }
            }, on: .batch)
        #expect(try await fixture.sync.push().isComplete)
        #expect(
            fixture.batchSizes == [3]
                && fixture.asked == [.insert, .insert, .insert, kind == .delete ? .delete : .update])
        #expect(try fixture.isLevel() && fixture.arrived == (kind == .delete ? ["0", "2"] : ["0", "1", "2"]))
    }

    /// Edits in flight return to the queue and go out together too.
    @Test func `changes made in flight go out in a batch`() async throws {
        let fixture = try SyncFixture(batchLimit: 4)
        let ids = try await fixture.insertCards(4)
        fixture.remote.next(
            .meanwhile {
                try? await fixture.store.write { tx in
                    for id in ids { try tx.update(Card.self, localID: id) { $0.points = 9 } }
                }
            }, on: .batch)
        #expect(try await fixture.sync.push().isComplete)
        #expect(fixture.batchSizes == [4, 4] && fixture.exchanges == 2)
        #expect(try fixture.isLevel())
    }

    @Test func `a response without an item is looked up`() async throws {
        let fixture = try SyncFixture(batchLimit: 5)
        let ids = try await fixture.insertCards(3)
        fixture.remote.next(.respondWithoutBody, on: .id(ids[1].rawValue))
        #expect(try await fixture.sync.push().entries.map(\.outcome.name) == ["done", "done", "done"])
        #expect(fixture.asked == [.insert, .insert, .insert, .find])
        #expect(try fixture.isLevel())
    }

    /// The response names an object that exists here. It must not keep the others from being stored.
    @Test func `a response that can't be stored concerns only its object`() async throws {
        let fixture = try SyncFixture(ids: .server, batchLimit: 5)
        let card = try await fixture.syncedCard("a")
        let taken = try #require(card.serverID)
        try await fixture.insertCards(3)
        let remote = fixture.remote
        let picky = PickyRemote(
            remote, limit: { 5 },
            respond: { requests throws(RemoteFailure) in
                var results = try await remote.send(requests)
                if case .success(var response) = results[1], var item = response.item {
                    item.id = taken
                    response.item = item
                    results[1] = .success(response)
                }
                return results
            })
        let sync = fixture.context(with: picky)
        try sync.table(Card.self).setIdentity(.server(lookUp: "localKey"))
        #expect(try await sync.push().entries.map(\.outcome.name) == ["done", "refused", "done"])
        #expect(try fixture.store.operations.count() == 1 && fixture.store.checkIntegrity() == [])
    }

    /// Otherwise it would outweigh all other exchanges.
    @Test func `a slow batch counts as one measurement of the server's clock`() async throws {
        let fixture = try SyncFixture(batchLimit: 20) { $0.inFlight = 1 }
        for code in ["a", "b", "c"] { _ = try await fixture.syncedCard(code) }
        #expect(fixture.sync.serverClock.offset == 0)
        try await fixture.insertCards(12)
        let (clock, remote) = (fixture.clock, fixture.remote)
        remote.next(
            .meanwhile {
                clock.advance(by: 20)
                remote.advanceClock(by: 20)
            }, on: .batch)
        #expect(try await fixture.sync.push().isComplete)
        #expect(fixture.batchSizes == [12] && fixture.sync.serverClock.offset == 0)
    }

    /// Its request may be the reason why the outcome is unknown.
    @Test func `an operation with an unknown outcome goes alone in the next push`() async throws {
        let fixture = try SyncFixture(batchLimit: 5) { $0.inFlight = 1 }
        let lost = try await fixture.insertCards(1)[0]
        fixture.remote.next(.loseRequest, on: .insert)
        #expect(try await fixture.sync.attemptPush().stoppedBy?.code == .unreachable)
        fixture.remote.forgetRequests()
        try await fixture.store.write { tx in
            for code in ["a", "b"] { try tx.insert(Card(shop: "Лента", barcode: code)) }
        }
        #expect(try await fixture.sync.push().isComplete)
        #expect(fixture.batchSizes == [2])
        #expect(fixture.remote.requests.filter { $0.batch == nil }.map(\.id) == [lost.rawValue])
        #expect(try fixture.isLevel())
    }

    // MARK: The app's check

    @Test func `the app's check holds one operation of a batch`() async throws {
        let fixture = try SyncFixture(batchLimit: 5)
        try fixture.sync.table(Card.self).setBeforeSend { $0.object.barcode == "1" ? .hold : .send }
        try await fixture.insertCards(3)
        #expect(try await fixture.sync.push().entries.map(\.outcome.name) == ["done", "held", "done"])
        #expect(fixture.batchSizes == [2] && fixture.arrived == ["0", "2"])
    }

    /// The app edits the first object while it checks the second one.
    @Test func `values that the app has not checked are not sent`() async throws {
        let fixture = try SyncFixture(batchLimit: 5) { $0.inFlight = 1 }
        let (seen, store) = (Synchronized<[String]>([]), fixture.store)
        try fixture.sync.table(Card.self).setBeforeSend { operation in
            seen.change { $0.append("\(operation.object.barcode) \(operation.object.points)") }
            if operation.object.barcode == "1" {
                try await store.write { tx in
                    guard let card = try tx.objects(Card.self).where({ $0.barcode == "0" }).first() else { return }
                    try tx.update(Card.self, localID: card.localID) { $0.points = 9 }
                }
            }
            return .send
        }
        try await fixture.insertCards(3)
        #expect(try await fixture.sync.push().isComplete)
        #expect(seen.value == ["0 0", "1 0", "2 0", "0 9"])
        let sent = fixture.remote.requests.filter {
            $0.members.contains { $0.key == "barcode" && $0.value == .text("0") }
        }
        #expect(sent.map { $0.members.first { $0.key == "points" }?.value } == [.integer(9)])
        #expect(try fixture.isLevel())
    }

    @Test func `values that the app changes in its check go out in the batch`() async throws {
        let fixture = try SyncFixture(batchLimit: 5)
        try fixture.sync.table(Card.self).setBeforeSend { operation in
            var card = operation.object
            card.shop = card.shop.uppercased()
            return .sendChanged(card)
        }
        try await fixture.insertCards(3)
        #expect(try await fixture.sync.push().isComplete)
        #expect(
            fixture.batchSizes == [3]
                && fixture.remote.items(in: "Card").allSatisfy { $0[member: "shop"] == .text("ЛЕНТА") })
        #expect(try fixture.isLevel())
    }

    // MARK: The limit

    @Test func `a push without a connection stops when it asks for the limit`() async throws {
        let fixture = try SyncFixture()
        let remote = PickyRemote(
            fixture.remote, limit: { () throws(RemoteFailure) in throw .unreachable },
            respond: { _ throws(RemoteFailure) in throw .notFound })
        try await fixture.insertCards(3)
        let result = try await fixture.context(with: remote).attemptPush()
        #expect(result.stoppedBy?.code == .unreachable && fixture.exchanges == 0)
        #expect(result.entries.map(\.outcome.name) == Array(repeating: "notReached", count: 3))
        #expect(try fixture.store.operations.all().allSatisfy { $0.attempts == 0 && $0.state == .pending })
    }

    @Test func `an unavailable server is asked for the limit again`() async throws {
        let fixture = try SyncFixture(batchLimit: 3)
        let (calls, base) = (Counter(), fixture.remote)
        let remote = PickyRemote(
            base,
            limit: { () throws(RemoteFailure) in
                guard calls.next() > 1 else { throw .later(status: 503, retryAfter: .seconds(5)) }
                return 3
            }, respond: { requests throws(RemoteFailure) in try await base.send(requests) })
        try await fixture.insertCards(3)
        let start = fixture.clock.now()
        #expect(try await fixture.context(with: remote).push().isComplete)
        #expect(calls.value == 2 && fixture.batchSizes == [3] && fixture.clock.now() >= start + 5)
    }

    @Test(arguments: [0, -3, 1])
    func `operations go alone if the server has no batches`(limit: Int) async throws {
        let fixture = try SyncFixture()
        let remote = PickyRemote(
            fixture.remote, limit: { limit }, respond: { _ throws(RemoteFailure) in throw .notFound })
        try await fixture.insertCards(3)
        #expect(try await fixture.context(with: remote).push().isComplete)
        #expect(fixture.exchanges == 3 && fixture.batchSizes.isEmpty)
    }

    @Test func `operations go alone if the limit can't be read`() async throws {
        let fixture = try SyncFixture()
        let remote = PickyRemote(
            fixture.remote, limit: { () throws(RemoteFailure) in throw .nonsense },
            respond: { _ throws(RemoteFailure) in throw .notFound })
        try await fixture.insertCards(3)
        #expect(try await fixture.context(with: remote).push().isComplete)
        #expect(fixture.exchanges == 3)
    }
}
