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
        let desk = try Desk(ids: ids, batchLimit: 5)
        try await desk.insertCards(4)
        desk.remote.next(arrives ? .loseAnswer : .loseRequest, on: .batch)
        let result = try await desk.sync.attemptPush()
        #expect(result.stoppedBy?.code == .unreachable)
        #expect(result.entries.map(\.outcome.name) == Array(repeating: "retryLater", count: 4))
        #expect(try desk.store.operations.all().allSatisfy { $0.state == .attempted && $0.attempts == 1 })
        #expect(try desk.store.checkIntegrity() == [])
        let again = try await desk.sync.push()
        #expect(again.isComplete)
        #expect(again.entries.map(\.outcome.name) == Array(repeating: arrives ? "adopted" : "done", count: 4))
        #expect(try desk.arrived == ["0", "1", "2", "3"] && desk.isLevel())
        // A server that makes the IDs would create a second object of each.
        #expect(desk.asked.filter { $0 == .find }.count == (ids == .server ? 4 : 0))
    }

    @Test func `a batch that arrives late changes nothing twice`() async throws {
        let desk = try Desk(batchLimit: 5)
        let ids = try await desk.insertCards(4)
        desk.remote.next(.deliverLate(after: 2), on: .batch)
        try await desk.sync.attemptPush()
        try await desk.store.write { _ = try $0.delete(Card.self, localID: ids[0]) }
        #expect(try await desk.sync.push().isComplete)
        try await desk.sync.push()
        #expect(try desk.arrived == ["1", "2", "3"] && desk.isLevel())
    }

    @Test(arguments: [RemoteFailure.unreachable, .unauthenticated(status: 401, underlying: nil)])
    func `a batch that was not carried out stays pending and stops the push`(failure: RemoteFailure) async throws {
        let desk = try Desk(batchLimit: 2) { $0.inFlight = 1 }
        try await desk.insertCards(4)
        desk.remote.next(.fail(failure), on: .batch)
        let result = try await desk.sync.attemptPush()
        #expect(result.entries.map(\.outcome.name) == ["retryLater", "retryLater", "notReached", "notReached"])
        #expect(result.stoppedBy != nil && desk.batchSizes == [2])
        let operations = try desk.store.operations.all()
        #expect(operations.allSatisfy { $0.state == .pending } && operations.map(\.attempts) == [1, 1, 0, 0])
        #expect(try await desk.sync.push().isComplete)
        #expect(try desk.isLevel() && desk.batchSizes == [2, 2, 2])
    }

    // MARK: Values at fault

    /// A batch is one transaction on the server. A value that it can never store fails the whole batch.
    @Test(arguments: [1, 8], ["0", "3", "7"])
    func `a value that fails its batch blocks no other operation`(inFlight: Int, bad: String) async throws {
        for failure in [Self.error500, Self.invalid] {
            let desk = try Desk(batchLimit: 8) { $0.inFlight = inFlight }
            try await desk.insertCards(8)
            desk.remote.always(.fail(failure), on: .barcode(bad))
            let result = try await desk.sync.push()
            #expect(result.stoppedBy == nil)
            for entry in result.entries {
                let isBad = try desk.card(entry.localID)?.barcode == bad
                #expect(entry.outcome.name == (isBad ? "retryLater" : "done"))
            }
            #expect(desk.arrived == (0..<8).map(String.init).filter { $0 != bad })
            // Halves, and not eight single requests.
            #expect(desk.batchSizes.first == 8 && desk.exchanges <= 12, "\(desk.batchSizes)")
            #expect(try desk.store.operations.count() == 1 && desk.store.checkIntegrity() == [])
            desk.remote.endLastingFaults()
            #expect(try await desk.sync.push().isComplete)
            #expect(try desk.isLevel())
        }
    }

    @Test func `several values at fault block nothing`() async throws {
        let desk = try Desk(batchLimit: 10) { $0.inFlight = 4 }
        try await desk.insertCards(40)
        for bad in ["3", "4", "17", "39"] { desk.remote.always(.fail(Self.error500), on: .barcode(bad)) }
        for _ in 1...3 { try await desk.sync.attemptPush() }
        #expect(desk.arrived.count == 36)
        #expect(try desk.store.operations.count() == 4 && desk.store.checkIntegrity() == [])
    }

    /// Kinto responds with 503 and `Retry-After` to U+0000.
    @Test func `a batch that is delayed twice is divided`() async throws {
        let desk = try Desk(batchLimit: 4) { $0.inFlight = 1 }
        try await desk.insertCards(4)
        desk.remote.always(.fail(.later(status: 503, retryAfter: .seconds(3))), on: .barcode("2"))
        let start = desk.clock.now()
        let result = try await desk.sync.push()
        #expect(result.entries.map(\.outcome.name) == ["done", "done", "retryLater", "done"])
        #expect(result.stoppedBy == nil && Array(desk.batchSizes.prefix(3)) == [4, 4, 2])
        // Each pause was observed.
        #expect(desk.clock.now() >= start + 9)
        #expect(desk.arrived == ["0", "1", "3"])
    }

    @Test(arguments: [503, 429])
    func `a batch that is delayed once is sent again as it was`(status: Int) async throws {
        let desk = try Desk(batchLimit: 4) { $0.inFlight = 1 }
        try await desk.insertCards(4)
        desk.remote.next(.fail(.later(status: status, retryAfter: .seconds(3))), on: .batch)
        let start = desk.clock.now()
        #expect(try await desk.sync.push().isComplete)
        #expect(try desk.batchSizes == [4, 4] && desk.isLevel())
        #expect(desk.clock.now() >= start + 3)
    }

    /// It says nothing about values.
    @Test func `a limit of the rate of requests divides no batch`() async throws {
        let desk = try Desk(batchLimit: 4) { $0.inFlight = 1 }
        try await desk.insertCards(4)
        desk.remote.always(.fail(.later(status: 429, retryAfter: .seconds(3))), on: .any)
        let result = try await desk.sync.attemptPush()
        #expect(desk.batchSizes == [4, 4, 4] && desk.exchanges == 3)
        #expect(result.entries.map(\.outcome.name) == Array(repeating: "retryLater", count: 4))
        // The server has not acted.
        #expect(try desk.store.operations.all().allSatisfy { $0.state == .pending })
        desk.remote.endLastingFaults()
        #expect(try await desk.sync.push().isComplete)
        #expect(try desk.isLevel())
    }

    @Test func `a server that accepts only small batches gets small batches`() async throws {
        let (desk, sizes) = (try Desk(batchLimit: 8), Synchronized<[Int]>([]))
        let remote = desk.remote
        let picky = PickyRemote(
            remote, limit: { 8 },
            answer: { requests throws(RemoteFailure) in
                sizes.change { $0.append(requests.count) }
                guard requests.count <= 2 else { throw .refused(status: 413, message: "Too large.") }
                return try await remote.send(requests)
            })
        try await desk.insertCards(16)
        let result = try await desk.context(with: picky) { $0.inFlight = 1 }.push()
        #expect(result.isComplete && result.failedOperations.isEmpty)
        // The size is learned once in a push.
        #expect(sizes.value == [8, 4] + Array(repeating: 2, count: 8))
        #expect(try desk.isLevel())
    }

    @Test func `a batch with too few outcomes is invalid`() async throws {
        let desk = try Desk(batchLimit: 4)
        let remote = desk.remote
        let picky = PickyRemote(
            remote, limit: { 4 },
            answer: { requests throws(RemoteFailure) in Array(try await remote.send(requests).dropLast()) })
        try await desk.insertCards(4)
        let result = try await desk.context(with: picky).push()
        #expect(result.entries.map(\.outcome.name) == Array(repeating: "adopted", count: 4))
        #expect(try desk.isLevel() && desk.arrived.count == 4)
    }

    // MARK: The server is down

    @Test(arguments: [1, 8])
    func `a server that is down gets few batches`(inFlight: Int) async throws {
        let desk = try Desk(batchLimit: 10) { $0.inFlight = inFlight }
        try await desk.insertCards(100)
        desk.remote.always(.fail(Self.error500), on: .any)
        let result = try await desk.sync.attemptPush()
        #expect(result.stoppedBy?.code == .later && desk.exchanges <= 40, "\(desk.exchanges)")
        desk.remote.endLastingFaults()
        #expect(try await desk.sync.push().isComplete)
        #expect(try desk.isLevel())
    }

    @Test func `a sign-in page gets one batch`() async throws {
        let desk = try Desk(batchLimit: 10) { $0.inFlight = 1 }
        try await desk.insertCards(30)
        desk.remote.always(.fail(.nonsense), on: .any)
        let result = try await desk.sync.attemptPush()
        #expect(result.stoppedBy?.code == .invalidResponse && desk.batchSizes == [10] && desk.exchanges == 1)
        #expect(result.entries.filter { $0.outcome.name == "notReached" }.count == 20)
        desk.remote.endLastingFaults()
        #expect(try await desk.sync.push().isComplete)
        #expect(try desk.isLevel())
    }

    // MARK: A failed batch that was stored

    @Test(arguments: [ScriptedRemote.IDs.client, .server])
    func `inserts of a failed batch are not simply repeated`(ids: ScriptedRemote.IDs) async throws {
        let desk = try Desk(ids: ids, batchLimit: 4) { $0.inFlight = 1 }
        try await desk.insertCards(4)
        desk.remote.next(.failAfterwards(Self.error500), on: .batch)
        let result = try await desk.sync.push()
        #expect(result.isComplete && result.entries.map(\.outcome.name) == Array(repeating: "adopted", count: 4))
        #expect(desk.asked.filter { $0 == .find }.count == (ids == .server ? 4 : 0))
        #expect(try desk.arrived.count == 4 && desk.isLevel())
    }

    @Test func `updates and deletes of a failed batch are done once`() async throws {
        let desk = try Desk(batchLimit: 4) { $0.inFlight = 1 }
        try desk.sync.table(Card.self).setConflicts(.report)
        let cards = [try await desk.syncedCard("a"), try await desk.syncedCard("b"), try await desk.syncedCard("c")]
        try await desk.store.write { tx in
            try tx.update(Card.self, localID: cards[0].localID) { $0.points = 7 }
            try tx.update(Card.self, localID: cards[1].localID) { $0.nickname = "mine" }
            try tx.delete(Card.self, localID: cards[2].localID)
        }
        desk.remote.next(.failAfterwards(Self.error500), on: .batch)
        let result = try await desk.sync.push()
        #expect(result.isComplete, "\(result.entries.map(\.outcome.name))")
        #expect(try desk.arrived == ["a", "b"] && desk.isLevel())
    }

    /// Another device deletes the object before the insert is repeated, which would restore it.
    @Test(arguments: [1, 4])
    func `a repeated insert restores no deleted object`(limit: Int) async throws {
        let desk = try Desk(traits: .insertRestoresDeleted, batchLimit: limit) { $0.inFlight = 1 }
        try desk.sync.table(Card.self).setConflicts(.serverWins)
        let (ids, remote) = (try await desk.insertCards(4), desk.remote)
        remote.next(.failAfterwards(Self.error500), on: .insert)
        remote.next(.meanwhile { remote.remove("Card", id: ServerID(ids[0].rawValue)) }, on: .find)
        let result = try await desk.sync.push()
        #expect(result.entries.first?.outcome.name == "tookServers")
        #expect(try desk.arrived == ["1", "2", "3"] && desk.isLevel())
        #expect(desk.asked.filter { $0 == .find }.count == limit)
    }
}
