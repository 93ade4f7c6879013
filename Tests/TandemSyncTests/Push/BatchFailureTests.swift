import Foundation
import Tandem
import TandemTesting
import TestSupport
import Testing

@testable import TandemSync

/// Batches that fail as a whole.
@Suite(.ownThreads, .timeLimit(.minutes(10))) struct BatchFailureTests {
    private static let error500 = RemoteFailure.later(status: 500, retryAfter: nil)

    private static let invalid = RemoteFailure.invalidResponse(
        InvalidResponse(
            .wrongType, message: "It is an array.", table: "Card", url: "https://shop.example/batch", status: 200))

    // MARK: Lost responses

    @Test(arguments: [ScriptedRemote.IDs.client, .server], [true, false])
    func `a lost batch leaves each operation with an unknown outcome`(
        ids: ScriptedRemote.IDs, arrives: Bool
    ) async throws {
        let fixture = try SyncFixture(ids: ids, batchLimit: 5)
        try await fixture.insertCards(4)
        fixture.remote.next(arrives ? .loseResponse : .loseRequest, on: .batch)
        let result = try await fixture.sync.attemptPush()
        #expect(result.stoppedBy?.code == .unreachable)
        #expect(result.entries.map(\.outcome.name) == Array(repeating: "retryLater", count: 4))
        #expect(try fixture.store.operations.all().allSatisfy { $0.state == .attempted && $0.attempts == 1 })
        #expect(try fixture.store.checkIntegrity() == [])
        let again = try await fixture.sync.push()
        #expect(again.isComplete)
        #expect(again.entries.map(\.outcome.name) == Array(repeating: arrives ? "adopted" : "done", count: 4))
        #expect(try fixture.arrived == ["0", "1", "2", "3"] && fixture.isLevel())
        // A server that makes the IDs would create a second object of each.
        #expect(fixture.asked.filter { $0 == .find }.count == (ids == .server ? 4 : 0))
    }

    @Test func `a batch that arrives late changes nothing twice`() async throws {
        let fixture = try SyncFixture(batchLimit: 5)
        let ids = try await fixture.insertCards(4)
        fixture.remote.next(.deliverLate(after: 2), on: .batch)
        try await fixture.sync.attemptPush()
        try await fixture.store.write { _ = try $0.delete(Card.self, localID: ids[0]) }
        #expect(try await fixture.sync.push().isComplete)
        try await fixture.sync.push()
        #expect(try fixture.arrived == ["1", "2", "3"] && fixture.isLevel())
    }

    @Test(arguments: [RemoteFailure.unreachable, .unauthenticated(status: 401, underlying: nil)])
    func `a batch that was not carried out stays pending and stops the push`(failure: RemoteFailure) async throws {
        let fixture = try SyncFixture(batchLimit: 2) { $0.inFlight = 1 }
        try await fixture.insertCards(4)
        fixture.remote.next(.fail(failure), on: .batch)
        let result = try await fixture.sync.attemptPush()
        #expect(result.entries.map(\.outcome.name) == ["retryLater", "retryLater", "notReached", "notReached"])
        #expect(result.stoppedBy != nil && fixture.batchSizes == [2])
        let operations = try fixture.store.operations.all()
        #expect(operations.allSatisfy { $0.state == .pending } && operations.map(\.attempts) == [1, 1, 0, 0])
        #expect(try await fixture.sync.push().isComplete)
        #expect(try fixture.isLevel() && fixture.batchSizes == [2, 2, 2])
    }

    // MARK: Values at fault

    /// A batch is one transaction on the server. A value that it can never store fails the whole batch.
    @Test(arguments: [1, 8], ["0", "3", "7"])
    func `a value that fails its batch blocks no other operation`(inFlight: Int, bad: String) async throws {
        for failure in [Self.error500, Self.invalid] {
            let fixture = try SyncFixture(batchLimit: 8) { $0.inFlight = inFlight }
            try await fixture.insertCards(8)
            fixture.remote.always(.fail(failure), on: .barcode(bad))
            let result = try await fixture.sync.push()
            #expect(result.stoppedBy == nil)
            for entry in result.entries {
                let isBad = try fixture.card(entry.localID)?.barcode == bad
                #expect(entry.outcome.name == (isBad ? "retryLater" : "done"))
            }
            #expect(fixture.arrived == (0..<8).map(String.init).filter { $0 != bad })
            // Halves, and not eight single requests.
            #expect(fixture.batchSizes.first == 8 && fixture.exchanges <= 12, "\(fixture.batchSizes)")
            #expect(try fixture.store.operations.count() == 1 && fixture.store.checkIntegrity() == [])
            fixture.remote.endLastingFaults()
            #expect(try await fixture.sync.push().isComplete)
            #expect(try fixture.isLevel())
        }
    }

    @Test func `several values at fault block nothing`() async throws {
        let fixture = try SyncFixture(batchLimit: 10) { $0.inFlight = 4 }
        try await fixture.insertCards(40)
        for bad in ["3", "4", "17", "39"] { fixture.remote.always(.fail(Self.error500), on: .barcode(bad)) }
        for _ in 1...3 { try await fixture.sync.attemptPush() }
        #expect(fixture.arrived.count == 36)
        #expect(try fixture.store.operations.count() == 4 && fixture.store.checkIntegrity() == [])
    }

    /// Kinto responds with 503 and `Retry-After` to U+0000.
    @Test func `a batch that is delayed twice is divided`() async throws {
        let fixture = try SyncFixture(batchLimit: 4) { $0.inFlight = 1 }
        try await fixture.insertCards(4)
        fixture.remote.always(.fail(.later(status: 503, retryAfter: .seconds(3))), on: .barcode("2"))
        let start = fixture.clock.now()
        let result = try await fixture.sync.push()
        #expect(result.entries.map(\.outcome.name) == ["done", "done", "retryLater", "done"])
        #expect(result.stoppedBy == nil && Array(fixture.batchSizes.prefix(3)) == [4, 4, 2])
        // Each pause was observed.
        #expect(fixture.clock.now() >= start + 9)
        #expect(fixture.arrived == ["0", "1", "3"])
    }

    @Test(arguments: [503, 429])
    func `a batch that is delayed once is sent again as it was`(status: Int) async throws {
        let fixture = try SyncFixture(batchLimit: 4) { $0.inFlight = 1 }
        try await fixture.insertCards(4)
        fixture.remote.next(.fail(.later(status: status, retryAfter: .seconds(3))), on: .batch)
        let start = fixture.clock.now()
        #expect(try await fixture.sync.push().isComplete)
        #expect(try fixture.batchSizes == [4, 4] && fixture.isLevel())
        #expect(fixture.clock.now() >= start + 3)
    }

    /// It says nothing about values.
    @Test func `a limit of the rate of requests divides no batch`() async throws {
        let fixture = try SyncFixture(batchLimit: 4) { $0.inFlight = 1 }
        try await fixture.insertCards(4)
        fixture.remote.always(.fail(.later(status: 429, retryAfter: .seconds(3))), on: .any)
        let result = try await fixture.sync.attemptPush()
        #expect(fixture.batchSizes == [4, 4, 4] && fixture.exchanges == 3)
        #expect(result.entries.map(\.outcome.name) == Array(repeating: "retryLater", count: 4))
        // The server has not acted.
        #expect(try fixture.store.operations.all().allSatisfy { $0.state == .pending })
        fixture.remote.endLastingFaults()
        #expect(try await fixture.sync.push().isComplete)
        #expect(try fixture.isLevel())
    }

    @Test func `a server that accepts only small batches gets small batches`() async throws {
        let (fixture, sizes) = (try SyncFixture(batchLimit: 8), Synchronized<[Int]>([]))
        let remote = fixture.remote
        let picky = PickyRemote(
            remote, limit: { 8 },
            respond: { requests throws(RemoteFailure) in
                sizes.change { $0.append(requests.count) }
                guard requests.count <= 2 else { throw .refused(status: 413, message: "Too large.") }
                return try await remote.send(requests)
            })
        try await fixture.insertCards(16)
        let result = try await fixture.context(with: picky) { $0.inFlight = 1 }.push()
        #expect(result.isComplete && result.failedOperations.isEmpty)
        // The size is learned once in a push.
        #expect(sizes.value == [8, 4] + Array(repeating: 2, count: 8))
        #expect(try fixture.isLevel())
    }

    @Test func `a batch with too few outcomes is invalid`() async throws {
        let fixture = try SyncFixture(batchLimit: 4)
        let remote = fixture.remote
        let picky = PickyRemote(
            remote, limit: { 4 },
            respond: { requests throws(RemoteFailure) in Array(try await remote.send(requests).dropLast()) })
        try await fixture.insertCards(4)
        let result = try await fixture.context(with: picky).push()
        #expect(result.entries.map(\.outcome.name) == Array(repeating: "adopted", count: 4))
        #expect(try fixture.isLevel() && fixture.arrived.count == 4)
    }

    // MARK: The server is down

    @Test(arguments: [1, 8])
    func `a server that is down gets few batches`(inFlight: Int) async throws {
        let fixture = try SyncFixture(batchLimit: 10) { $0.inFlight = inFlight }
        try await fixture.insertCards(100)
        fixture.remote.always(.fail(Self.error500), on: .any)
        let result = try await fixture.sync.attemptPush()
        #expect(result.stoppedBy?.code == .later && fixture.exchanges <= 40, "\(fixture.exchanges)")
        fixture.remote.endLastingFaults()
        #expect(try await fixture.sync.push().isComplete)
        #expect(try fixture.isLevel())
    }

    @Test func `a sign-in page gets one batch`() async throws {
        let fixture = try SyncFixture(batchLimit: 10) { $0.inFlight = 1 }
        try await fixture.insertCards(30)
        fixture.remote.always(.fail(.nonsense), on: .any)
        let result = try await fixture.sync.attemptPush()
        #expect(result.stoppedBy?.code == .invalidResponse && fixture.batchSizes == [10] && fixture.exchanges == 1)
        #expect(result.entries.filter { $0.outcome.name == "notReached" }.count == 20)
        fixture.remote.endLastingFaults()
        #expect(try await fixture.sync.push().isComplete)
        #expect(try fixture.isLevel())
    }

    // MARK: A failed batch that was stored

    @Test(arguments: [ScriptedRemote.IDs.client, .server])
    func `inserts of a failed batch are not simply repeated`(ids: ScriptedRemote.IDs) async throws {
        let fixture = try SyncFixture(ids: ids, batchLimit: 4) { $0.inFlight = 1 }
        try await fixture.insertCards(4)
        fixture.remote.next(.failAfterwards(Self.error500), on: .batch)
        let result = try await fixture.sync.push()
        #expect(result.isComplete && result.entries.map(\.outcome.name) == Array(repeating: "adopted", count: 4))
        #expect(fixture.asked.filter { $0 == .find }.count == (ids == .server ? 4 : 0))
        #expect(try fixture.arrived.count == 4 && fixture.isLevel())
    }

    @Test func `updates and deletes of a failed batch are done once`() async throws {
        let fixture = try SyncFixture(batchLimit: 4) { $0.inFlight = 1 }
        try fixture.sync.table(Card.self).setConflicts(.report)
        let cards = [
            try await fixture.syncedCard("a"), try await fixture.syncedCard("b"), try await fixture.syncedCard("c"),
        ]
        try await fixture.store.write { tx in
            try tx.update(Card.self, localID: cards[0].localID) { $0.points = 7 }
            try tx.update(Card.self, localID: cards[1].localID) { $0.nickname = "mine" }
            try tx.delete(Card.self, localID: cards[2].localID)
        }
        fixture.remote.next(.failAfterwards(Self.error500), on: .batch)
        let result = try await fixture.sync.push()
        #expect(result.isComplete, "\(result.entries.map(\.outcome.name))")
        #expect(try fixture.arrived == ["a", "b"] && fixture.isLevel())
    }

    /// Another device deletes the object before the insert is repeated, which would restore it.
    @Test(arguments: [1, 4])
    func `a repeated insert restores no deleted object`(limit: Int) async throws {
        let fixture = try SyncFixture(traits: .insertRestoresDeleted, batchLimit: limit) { $0.inFlight = 1 }
        try fixture.sync.table(Card.self).setConflicts(.serverWins)
        let (ids, remote) = (try await fixture.insertCards(4), fixture.remote)
        remote.next(.failAfterwards(Self.error500), on: .insert)
        remote.next(.meanwhile { remote.remove("Card", id: ServerID(ids[0].rawValue)) }, on: .find)
        let result = try await fixture.sync.push()
        #expect(result.entries.first?.outcome.name == "tookServers")
        #expect(try fixture.arrived == ["1", "2", "3"] && fixture.isLevel())
        #expect(fixture.asked.filter { $0 == .find }.count == limit)
    }
}
