import Foundation
import Synchronization
import Tandem
import TandemTesting
import TestSupport
import Testing

@testable import TandemSync

/// A push that waits, and is stopped meanwhile.
@Suite(.ownThreads) struct PauseTests {
    /// A clock whose sleeps end only with a cancellation.
    private final class EndlessClock: SyncClock {
        private let isSleeping = Atomic(false)
        func now() -> Date { Date(timeIntervalSince1970: 1_795_000_000) }

        func sleep(for duration: Duration) async throws {
            isSleeping.store(true, ordering: .relaxed)
            while true { try await Task.sleep(for: .seconds(3600)) }
        }

        /// Waits until a task sleeps.
        func untilSomebodySleeps() async {
            while !isSleeping.load(ordering: .relaxed) { try? await Task.sleep(for: .milliseconds(1)) }
        }
    }

    /// A server that requests a pause for the first request, and becomes unreachable for the second.
    private struct Server: Remote {
        let clock: EndlessClock
        let retryAfter: Duration?
        /// The number of requests that arrive before the first response. A later one would wait for the pause.
        let concurrent: Int
        let requests = Counter()

        let format = WireFormat()
        func page(_ request: PageRequest) async throws(RemoteFailure) -> RemotePage { throw .notFound }
        func find(_ table: RemoteTableName, key: RemoteKey) async throws(RemoteFailure) -> RemoteItem? { nil }
        func update(_ item: OutgoingItem) async throws(RemoteFailure) -> RemoteResponse { throw .notFound }
        func delete(_ item: OutgoingItem) async throws(RemoteFailure) -> RemoteResponse { throw .notFound }
        func undelete(_ item: OutgoingItem) async throws(RemoteFailure) -> RemoteResponse { throw .notFound }

        func insert(_ item: OutgoingItem) async throws(RemoteFailure) -> RemoteResponse {
            guard requests.next() > 1 else {
                while requests.value < concurrent, !Task.isCancelled { try? await Task.sleep(for: .milliseconds(1)) }
                throw .later(status: 503, retryAfter: retryAfter)
            }
            await clock.untilSomebodySleeps()
            throw .unreachable
        }
    }

    /// - Parameter retryAfter: A pause for all requests, or `nil` for a delay of the operation alone.
    @Test(.timeLimit(.minutes(10)), arguments: [Duration.seconds(20), nil])
    func `a push that stops ends its sleep`(retryAfter: Duration?) async throws {
        let store = try Store(inMemoryModels: [Person.self, Card.self, Pet.self])
        try await store.write { tx in
            for code in 1...2 { try tx.insert(Card(shop: "Лента", barcode: "\(code)")) }
        }
        let clock = EndlessClock()
        var options = SyncContext.Options()
        (options.clock, options.random, options.inFlight) = (clock, { .max }, 2)
        let sync = SyncContext(
            store: store, remote: Server(clock: clock, retryAfter: retryAfter, concurrent: 2), options: options)
        let result = try await sync.attemptPush()
        #expect(result.stoppedBy?.code == .unreachable)
        #expect(result.entries.map(\.outcome.name) == ["retryLater", "retryLater"])
    }

    @Test(.timeLimit(.minutes(10)))
    func `a push that is cancelled ends its sleep`() async throws {
        let store = try Store(inMemoryModels: [Person.self, Card.self, Pet.self])
        try await store.write { _ = try $0.insert(Card(shop: "Лента", barcode: "1")) }
        let clock = EndlessClock()
        var options = SyncContext.Options()
        options.clock = clock
        let server = Server(clock: clock, retryAfter: .seconds(20), concurrent: 1)
        let sync = SyncContext(store: store, remote: server, options: options)
        let push = Task { try await sync.push() }
        await clock.untilSomebodySleeps()
        push.cancel()
        await #expect(throws: CancellationError.self) { try await push.value }
    }

    @Test(.timeLimit(.minutes(10)))
    func `a clock that is set back does not extend a pause beyond its limit`() async throws {
        let store = try Store(inMemoryModels: [Person.self, Card.self, Pet.self])
        try await store.write { _ = try $0.insert(Card(shop: "Лента", barcode: "1")) }
        let clock = ManualSyncClock()
        let remote = ScriptedRemote(clock: ManualClock(clock.now()))
        remote.next(.fail(.later(status: 503, retryAfter: .seconds(20))), on: .insert)
        var options = SyncContext.Options()
        options.clock = clock
        let sync = SyncContext(store: store, remote: remote, options: options)
        let push = Task { try await sync.push() }
        #expect(await comesTrue { clock.alarms == [clock.now() + 20] })
        clock.jump(by: .seconds(-86_400))
        clock.advance(by: .seconds(20))
        #expect(await comesTrue { clock.alarms == [clock.now() + 30] })
        clock.advance(by: .seconds(30))
        #expect(try await push.value.isComplete)
    }
}
