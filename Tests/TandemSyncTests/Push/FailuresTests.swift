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
        let desk = try Desk { $0.inFlight = 1 }
        try desk.sync.table(Card.self).setConflicts(.report)
        let card = try await desk.syncedCard()
        let last = Synchronized<[String]?>(nil)
        let failures = desk.sync.failures
        let isOver = Synchronized(false)
        let watch = Task {
            for try await all in failures { last.change { $0 = all.map(Self.line) } }
            isOver.change { $0 = true }
        }
        #expect(await comesTrue { last.value == [] })

        // Both sides have changed it, and the app leaves the decision to the user.
        try await desk.store.write { _ = try $0.update(Card.self, localID: card.localID) { $0.points = 2 } }
        desk.remote.edit("Card", id: try #require(card.serverID)) { $0.set(.integer(3), of: "points") }
        try await desk.sync.push()
        let conflict = "Card \(card.localID) 412 conflict"
        #expect(await comesTrue { last.value == [conflict] })

        // The server rejects another one.
        let pet = try await desk.store.write { try $0.insert(Pet(name: "Рыжик")) }
        desk.remote.next(.fail(.refused(status: 400, message: "no such pet")), on: .insert)
        let refused = try #require(try await desk.sync.push().failedOperations.last)
        let refusal = "Pet \(pet.localID) 400 The server refuses the request (400): no such pet"
        #expect(await comesTrue { last.value == [conflict, refusal] })
        #expect(try await desk.sync.failedOperations().map(Self.line) == [conflict, refusal])

        // A pending operation is not included, and a decision removes one.
        try await desk.store.write { _ = try $0.insert(Card(shop: "Магнит", barcode: "2")) }
        try await desk.sync.retry(refused.id)
        #expect(await comesTrue { last.value == [conflict] })
        try await desk.sync.takeServers(try #require(try desk.operation?.id))
        #expect(await comesTrue { last.value == [] })
        desk.store.close()
        #expect(await comesTrue { isOver.value })
        try await watch.value
    }

    /// The same operation, with a newer server item.
    @Test func `a pull that changes a failure's server side is reported`() async throws {
        let desk = try Desk()
        try desk.sync.table(Card.self).setConflicts(.report)
        let card = try await desk.syncedCard()
        try await desk.store.write { _ = try $0.update(Card.self, localID: card.localID) { $0.points = 2 } }
        let id = try #require(card.serverID)
        desk.remote.edit("Card", id: id) { $0.set(.integer(3), of: "points") }
        try await desk.sync.push()
        let points = Synchronized<StorageValue?>(nil)
        let failures = desk.sync.failures
        let watch = Task {
            for try await all in failures { points.change { $0 = all.first?.serverValues?["points"] } }
        }
        #expect(await comesTrue { points.value == 3 })
        desk.remote.edit("Card", id: id) { $0.set(.integer(4), of: "points") }
        try await desk.sync.pull(Card.self, queryID: "cards")
        #expect(await comesTrue { points.value == 4 })
        watch.cancel()
    }

    @Test func `the failed operations are published`() async throws {
        let desk = try Desk()
        let seen = Synchronized<[Int]>([])
        let isFinished = Synchronized(false)
        let subscription = desk.sync.failuresPublisher.sink(
            receiveCompletion: { _ in isFinished.change { $0 = true } },
            receiveValue: { failures in seen.change { $0.append(failures.count) } })
        #expect(await comesTrue { seen.value == [0] })
        try await desk.store.write { _ = try $0.insert(Card(shop: "Лента", barcode: "1")) }
        desk.remote.next(.fail(.refused(status: 400, message: "no")), on: .insert)
        let id = try #require(try await desk.sync.push().failedOperations.first?.id)
        #expect(await comesTrue { seen.value == [0, 1] })
        try await desk.sync.discard(id)
        #expect(await comesTrue { seen.value == [0, 1, 0] })
        desk.store.close()
        #expect(await comesTrue { isFinished.value })
        withExtendedLifetime(subscription) {}
    }
}
