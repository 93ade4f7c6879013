import Foundation
import Tandem
import TandemTesting
import Testing

@testable import TandemSync

/// A store, a scripted server, and a scheduler whose clock and network only change on request.
final class SchedulerFixture: ScheduledDevice {
    let clock: ManualSyncClock
    let network: ManualNetworkMonitor
    let remote: ScriptedRemote
    let store: Store
    let sync: SyncContext
    let scheduler: SyncScheduler
    /// The number of syncs that the scheduler has begun.
    let begun = LiveValue(0)
    let ended = LiveValue(0)

    /// - Parameters:
    ///   - store: The store, or `nil` for one in memory.
    ///   - body: The closure to run instead of a sync of everything.
    init(
        store: Store? = nil, clock: ManualSyncClock = ManualSyncClock(), remote: ScriptedRemote? = nil,
        network: NetworkState = .up, tries: Int = 1, _ change: (inout SyncScheduler.Options) -> Void = { _ in },
        body: (@Sendable (SyncContext) async throws -> SyncResult)? = nil
    ) throws {
        self.clock = clock
        self.network = ManualNetworkMonitor(network)
        self.remote = remote ?? ScriptedRemote(clock: ManualClock(clock.now()))
        var configuration = Store.Configuration()
        configuration.now = { clock.now() }
        self.store =
            try store ?? Store(inMemoryModels: [Person.self, Card.self, Pet.self], configuration: configuration)
        var options = SyncContext.Options()
        options.clock = clock
        // The full length of each delay.
        options.random = { 0 }
        options.retry.tries = tries
        sync = SyncContext(store: self.store, remote: self.remote, options: options)
        var schedule = SyncScheduler.Options()
        change(&schedule)
        let (begun, ended) = (begun, ended)
        scheduler = SyncScheduler(sync, options: schedule, network: self.network) { sync in
            begun.set(begun.value + 1)
            defer { ended.set(ended.value + 1) }
            if let body { return try await body(sync) }
            return try await sync.synchronize([PullQuery(Card.self, queryID: "cards")])
        }
    }

    /// Makes a local change, and waits until the scheduler has planned for it.
    ///
    /// The store reports the commit to the scheduler before the write returns.
    func change(_ body: @escaping @Sendable (WriteTransaction) throws -> Void) async throws {
        try await store.write { try body($0) }
        await scheduler.waitUntilIdle()
    }

    /// Inserts a card, and waits until the scheduler knows it.
    func change(_ barcode: String) async throws {
        try await change { _ = try $0.insert(Card(shop: "Лента", barcode: barcode)) }
    }

    /// Changes the network, and waits until the scheduler knows it.
    func set(_ network: NetworkState) async {
        self.network.set(network)
        #expect(
            await comesTrue {
                switch self.scheduler.state {
                case .waitingForNetwork: !network.isUp
                case .waitingForUnmeteredNetwork: network.isMetered
                default: network.isUp && !network.isMetered
                }
            })
        await scheduler.waitUntilIdle()
    }

    /// Inserts a card.
    @discardableResult
    func insert(_ barcode: String) async throws -> Card {
        try await store.write { try $0.insert(Card(shop: "Лента", barcode: barcode)) }
    }

    /// Makes the next requests fail.
    func fail(_ failure: RemoteFailure, times: Int) {
        for _ in 0..<times { remote.next(.fail(failure)) }
    }
}

/// Waits until a condition holds, for work of other threads.
func comesTrue(_ isSo: @Sendable () async throws -> Bool) async rethrows -> Bool {
    for _ in 0..<20_000 {
        if try await isSo() { return true }
        try? await Task.sleep(for: .milliseconds(1))
    }
    return false
}

extension RemoteFailure {
    static let nonsense = RemoteFailure.invalidResponse(
        InvalidResponse(
            .notJSON, message: "It is not valid JSON.", table: "Card", url: "https://shop.example/tables/card",
            status: 200)
    )
}
