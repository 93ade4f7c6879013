import Foundation
import OpenCombine
import Tandem
import TandemTesting
import TestSupport
import Testing

@testable import TandemSync

/// A live query of the operations that wait for the user.
@Suite(.ownThreads, .timeLimit(.minutes(10))) struct FailuresTests {
    /// A failure in one line.
    private static func line(_ failure: TableOperationError) -> String {
        "\(failure.operation.table) \(failure.operation.localID) \(failure.status ?? 0) "
            + (failure.isConflict ? "conflict" : "\(failure.message)")
    }

    @Test func `the failed operations are live`() async throws {
        let fixture = try SyncFixture { $0.inFlight = 1 }
        try fixture.sync.table(Card.self).setConflicts(.report)
        let card = try await fixture.syncedCard()
        let last = Synchronized<[String]?>(nil)
        let failures = fixture.sync.failures
        let isOver = Synchronized(false)
        let watch = Task {
            for try await all in failures { last.change { $0 = all.map(Self.line) } }
            isOver.change { $0 = true }
        }
        #expect(await comesTrue { last.value == [] })

        // Both sides have changed it, and the app leaves the decision to the user.
        try await fixture.store.write { _ = try $0.update(Card.self, localID: card.localID) { $0.points = 2 } }
        fixture.remote.edit("Card", id: try #require(card.serverID)) { $0.set(.integer(3), of: "points") }
        try await fixture.sync.push()
        let conflict = "Card \(card.localID) 412 conflict"
        #expect(await comesTrue { last.value == [conflict] })

        // The server rejects another one.
        let pet = try await fixture.store.write { try $0.insert(Pet(name: "Рыжик")) }
        fixture.remote.next(.fail(.refused(status: 400, message: "no such pet")), on: .insert)
        let refused = try #require(try await fixture.sync.push().failedOperations.last)
        let refusal = "Pet \(pet.localID) 400 The server refuses the request (400): no such pet"
        #expect(await comesTrue { last.value == [conflict, refusal] })
        #expect(try await fixture.sync.failedOperations().map(Self.line) == [conflict, refusal])

        // A pending operation is not included, and a decision removes one.
        try await fixture.store.write { _ = try $0.insert(Card(shop: "Магнит", barcode: "2")) }
        try await fixture.sync.retry(refused.id)
        #expect(await comesTrue { last.value == [conflict] })
        try await fixture.sync.takeServers(try #require(try fixture.operation?.id))
        #expect(await comesTrue { last.value == [] })
        fixture.store.close()
        #expect(await comesTrue { isOver.value })
        try await watch.value
    }

    /// The same operation, with a newer server item.
    @Test func `a pull that changes a failure's server side is reported`() async throws {
        let fixture = try SyncFixture()
        try fixture.sync.table(Card.self).setConflicts(.report)
        let card = try await fixture.syncedCard()
        try await fixture.store.write { _ = try $0.update(Card.self, localID: card.localID) { $0.points = 2 } }
        let id = try #require(card.serverID)
        fixture.remote.edit("Card", id: id) { $0.set(.integer(3), of: "points") }
        try await fixture.sync.push()
        let points = Synchronized<StorageValue?>(nil)
        let failures = fixture.sync.failures
        let watch = Task {
            for try await all in failures { points.change { $0 = all.first?.serverValues?["points"] } }
        }
        #expect(await comesTrue { points.value == 3 })
        fixture.remote.edit("Card", id: id) { $0.set(.integer(4), of: "points") }
        try await fixture.sync.pull(Card.self, queryID: "cards")
        #expect(await comesTrue { points.value == 4 })
        watch.cancel()
    }

    @Test func `the failed operations are published`() async throws {
        let fixture = try SyncFixture()
        let seen = Synchronized<[Int]>([])
        let isFinished = Synchronized(false)
        let subscription = fixture.sync.failuresPublisher.sink(
            receiveCompletion: { _ in isFinished.change { $0 = true } },
            receiveValue: { failures in seen.change { $0.append(failures.count) } })
        #expect(await comesTrue { seen.value == [0] })
        try await fixture.store.write { _ = try $0.insert(Card(shop: "Лента", barcode: "1")) }
        fixture.remote.next(.fail(.refused(status: 400, message: "no")), on: .insert)
        let id = try #require(try await fixture.sync.push().failedOperations.first?.id)
        #expect(await comesTrue { seen.value == [0, 1] })
        try await fixture.sync.discard(id)
        #expect(await comesTrue { seen.value == [0, 1, 0] })
        fixture.store.close()
        #expect(await comesTrue { isFinished.value })
        withExtendedLifetime(subscription) {}
    }
}
