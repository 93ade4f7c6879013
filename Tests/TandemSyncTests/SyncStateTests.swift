import Foundation
import Tandem
import TandemTesting
import TestSupport
import Testing

@testable import TandemSync

@Model(.localOnly) private struct Draft {
    var text: String
}

/// The user-visible state of unsent changes.
@Suite(.ownThreads) struct SyncStateTests {
    private let refusal = OperationError(status: 400, message: "no such shop", at: Date(timeIntervalSince1970: 0))

    @Test func `an object reports its state`() async throws {
        let (store, context) = try SyncWorld().device()
        let card = try await store.write { try $0.insert(Card(shop: "Лента", barcode: "1")) }
        func state() async throws -> SyncState? { try await context.state(of: card) }
        @Sendable func id() throws -> PendingOperation.ID { try #require(try store.operations.operation(of: card)).id }
        #expect(try await state() == .pending(.insert))

        // The response was lost, so it waits to be sent again. While a push runs it is being sent.
        let attempt = try await store.write { try $0.beginAttempt(try id()).attempts }
        #expect(try await state() == .pending(.insert))
        context.statusTracker.setActivity(.pushing(done: 0, total: 1))
        #expect(try await state() == .sending(.insert))

        _ = try await store.write { try $0.sync.fail(try id(), attempt: attempt, with: refusal, retry: false) }
        #expect(try await state() == .failed(.insert, error: refusal))
        let conflict = OperationError(status: 409, message: "taken", at: refusal.at, serverItem: Data([1]))
        try await store.write { try $0.fail(try id(), with: conflict, retry: false) }
        #expect(try await state() == .conflict(.insert, error: conflict))
        try await store.write { try $0.sync.hold(try id()) }
        #expect(try await state() == .held(.insert))
        try await store.write { tx in
            try tx.sync.release(try id())
            _ = try tx.beginAttempt(try id())
            try tx.acknowledge(try id(), serverID: "s", version: "1")
        }
        #expect(try await state() == .synced)
        try await store.write { _ = try $0.delete(card) }
        #expect(try await state() == .pending(.delete))
        try await store.write { tx in
            _ = try tx.beginAttempt(try id())
            try tx.acknowledge(try id())
        }
        #expect(try await state() == nil)
        #expect(try await context.state(of: Card(shop: "", barcode: "")) == nil)
    }

    @Test func `an object that waits for a failed insert reports it`() async throws {
        let (store, context) = try SyncWorld().device()
        let (first, second, card, free) = try await store.write { tx in
            let first = try tx.insert(Person(name: "Ада"))
            let second = try tx.insert(Person(name: "Борис", friend: first.reference))
            let card = try tx.insert(Card(shop: "Лента", barcode: "1", owner: second.reference))
            return (first, second, card, try tx.insert(Card(shop: "Лента", barcode: "2")))
        }
        let pet = try await store.write { try $0.insert(Pet(name: "Рыжик")) }
        let keeper = try await store.write { try $0.insert(Person(name: "Вера", pets: [pet.reference])) }
        #expect(try await context.state(of: card) == .pending(.insert))
        try await store.write { tx in
            for object in [first.localID, pet.localID] {
                let id = try #require(try tx.operations.all().first { $0.localID == object }).id
                try tx.fail(id, with: refusal, retry: false)
            }
        }
        #expect(try await context.state(of: first) == .failed(.insert, error: refusal))
        // An indirect reference blocks too.
        for state in [try await context.state(of: second), try await context.state(of: card)] {
            #expect(state == .waiting(.insert, for: first.localID, model: "Person"))
        }
        #expect(try await context.state(of: keeper) == .waiting(.insert, for: pet.localID, model: "Pet"))
        #expect(try await context.state(of: free) == .pending(.insert))
        // The wait ends automatically.
        try await store.write { tx in
            try tx.sync.release(try #require(try tx.operations.operation(of: first)).id)
        }
        #expect(try await context.state(of: card) == .pending(.insert))
    }

    /// A held insert blocks like a failed one.
    @Test func `an object that waits for a held insert reports it`() async throws {
        let (store, context) = try SyncWorld().device()
        let (first, card) = try await store.write { tx in
            let first = try tx.insert(Person(name: "Ада"))
            let second = try tx.insert(Person(name: "Борис", friend: first.reference))
            return (first, try tx.insert(Card(shop: "Лента", barcode: "1", owner: second.reference)))
        }
        let id = try #require(try store.operations.operation(of: first)).id
        try await context.hold(id)
        #expect(try await context.state(of: first) == .held(.insert))
        #expect(try await context.state(of: card) == .waiting(.insert, for: first.localID, model: "Person"))
        try await context.retry(id)
        #expect(try await context.state(of: card) == .pending(.insert))
    }

    /// It is never sent to a server, so it is not synced either.
    @Test func `a local-only object has no state`() async throws {
        let store = try Store(inMemoryModels: [Draft.self], configuration: Store.Configuration())
        let context = try SyncWorld().context(store)
        let draft = try await store.write { try $0.insert(Draft(text: "…")) }
        await #expect(throws: SyncError.self) { try await context.state(of: draft) }
        await #expect { _ = try await context.state(of: Pet(name: "Рыжик")) } throws: {
            ($0 as? SyncError)?.code == .unknownModel
        }
        var states = context.states(of: draft).makeAsyncIterator()
        await #expect { _ = try await states.next() } throws: { ($0 as? SyncError)?.code == .unknownModel }
    }

    @Test func `objects in a cycle of references wait for none`() async throws {
        let (store, context) = try SyncWorld().device()
        let first = try await store.write { tx in
            let first = try tx.insert(Person(name: "Ада"))
            let second = try tx.insert(Person(name: "Борис", friend: first.reference))
            return try tx.update(Person.self, localID: first.localID) { $0.friend = second.reference }
        }
        #expect(try await context.state(of: first) == .pending(.insert))
    }

    @Test func `states are live`() async throws {
        let (store, context) = try SyncWorld().device()
        let card = try await store.write { try $0.insert(Card(shop: "Лента", barcode: "1")) }
        var states = context.states(of: card).makeAsyncIterator()
        #expect(try await states.next() == .pending(.insert))
        try await store.write { try $0.sync.hold(try #require(try $0.operations.operation(of: card)).id) }
        #expect(try await states.next() == .held(.insert))
        try await store.write { _ = try $0.delete(card) }
        // Another object's change is not reported.
        try await store.write { _ = try $0.insert(Card(shop: "Магнит", barcode: "2")) }
        #expect(try await states.next() == .some(nil))
        store.close()
        #expect(try await states.next() == nil)
    }

    @Test func `the context reports its activity`() async throws {
        struct Failure: Error {}
        let (store, context) = try SyncWorld().device()
        var statuses = context.statuses.makeAsyncIterator()
        var expected = SyncStatus()
        #expect(try await statuses.next() == expected)
        let ids = try await store.write { tx in
            try (0..<3).map { try tx.insert(Card(shop: "Лента", barcode: "\($0)")).localID }
        }
        expected.pending = 3
        #expect(try await statuses.next() == expected)
        try await store.write { tx in
            for (number, id) in ids.prefix(2).enumerated() {
                let operation = try #require(try tx.operations.all().first { $0.localID == id }).id
                if number == 0 {
                    try tx.fail(operation, with: refusal, retry: false)
                } else {
                    try tx.sync.hold(operation)
                }
            }
        }
        (expected.pending, expected.failed, expected.held) = (1, 1, 1)
        #expect(try await statuses.next() == expected)

        await #expect(throws: Failure.self) {
            try await context.withExclusiveSync {
                #expect(context.statusTracker.status.isSyncing)
                context.statusTracker.setActivity(.pulling(table: "Card", received: 3, total: nil))
                throw Failure()
            }
        }
        // It also ends with an error.
        let after = context.statusTracker.status
        #expect(!after.isSyncing && after.activity == nil && after.lastError == "Failure")
        try await context.withExclusiveSync {}
        #expect(context.statusTracker.status.lastError == nil)
        await #expect(throws: CancellationError.self) {
            try await context.withExclusiveSync { throw CancellationError() }
        }
        #expect(
            !context.statusTracker.status.isSyncing
                && context.statusTracker.status.lastError == "The sync was cancelled.")
    }

    @Test func `a sync that only waited keeps the status of the running one`() async throws {
        struct Failure: Error {}
        let (_, context) = try SyncWorld().device()
        await #expect(throws: Failure.self) { try await context.withExclusiveSync { throw Failure() } }
        let before = context.statusTracker.status.lastError
        try await context.withExclusiveSync {
            let activity = SyncStatus.Activity.pulling(table: "Card", received: 3, total: nil)
            context.statusTracker.setActivity(activity)
            let waiting = Task.detached { try await context.withExclusiveSync {} }
            waiting.cancel()
            await #expect(throws: CancellationError.self) { try await waiting.value }
            let status = context.statusTracker.status
            #expect(status.isSyncing && status.activity == activity && status.lastError == before)
        }
        #expect(context.statusTracker.status.lastError == nil && context.statusTracker.status.activity == nil)
    }

    /// Another sync waits for the lock, and the ended one has no activity.
    @Test func `an ended sync has no activity although another one waits`() async throws {
        let (_, context) = try SyncWorld().device()
        let name = context.store.lockName
        let asyncLock = AsyncLocks.all.lock(of: name)
        defer { AsyncLocks.all.release(name) }
        let first = Task {
            try await context.withExclusiveSync {
                context.statusTracker.setActivity(.pulling(table: "Card", received: 3, total: nil))
            }
        }
        try await first.value
        try await asyncLock.lock()
        let second = Task { try await context.withExclusiveSync {} }
        while !context.statusTracker.status.isSyncing { await Task.yield() }
        #expect(context.statusTracker.status.activity == nil)
        asyncLock.unlock()
        try await second.value
    }
}
