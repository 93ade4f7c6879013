import Foundation
import Tandem
import TandemTesting
import TestSupport
import Testing

@testable import TandemSync

/// The end of a scheduler, which leaves nothing behind.
@Suite(.ownThreads, .timeLimit(.minutes(10))) struct SchedulerEndTests {
    @Test func `a stop ends the request under way`() async throws {
        let desk = try SchedulerFixture()
        desk.remote.next(.hang, on: .page)
        desk.scheduler.start()
        #expect(await comesTrue { desk.remote.inFlight == 1 })
        #expect(desk.scheduler.state == .syncing)
        await desk.scheduler.stop()
        #expect(desk.remote.inFlight == 0 && desk.begun.value == desk.ended.value)
        #expect(desk.scheduler.state == .stopped && desk.network.listenerCount == 0 && desk.clock.alarms.isEmpty)
        // The store's lock is free, and no request follows.
        try await desk.sync.withExclusiveSync {}
        let count = desk.remote.requests.count
        try await desk.insert("1")
        await desk.pass(1000)
        #expect(desk.remote.requests.count == count)
    }

    @Test func `a stop ends a push that waits for a retry`() async throws {
        let desk = try SchedulerFixture(tries: 3)
        try await desk.insert("1")
        desk.remote.next(.fail(.later(status: 503, retryAfter: .seconds(20))), on: .insert)
        desk.scheduler.start()
        #expect(await comesTrue { desk.clock.alarms == [desk.clock.now() + 20] })
        await desk.scheduler.stop()
        #expect(desk.clock.alarms.isEmpty && desk.scheduler.state == .stopped)
        #expect(try desk.store.operations.count() == 1)
    }

    @Test func `a stop ends the wait for another sync`() async throws {
        let desk = try SchedulerFixture()
        let (release, releaser) = AsyncStream<Void>.makeStream()
        let other = Task { try await desk.sync.withExclusiveSync { for await _ in release { break } } }
        #expect(await comesTrue { desk.sync.statusTracker.status.isSyncing })
        desk.scheduler.start()
        #expect(await comesTrue { desk.begun.value == 1 })
        await desk.scheduler.stop()
        #expect(desk.ended.value == 1 && desk.remote.requests.isEmpty)
        releaser.finish()
        try await other.value
    }

    @Test func `a released scheduler ends`() async throws {
        weak var weakDesk: SchedulerFixture?
        weak var weakContext: SyncContext?
        let (network, clock, remote): (ManualNetworkMonitor, ManualSyncClock, ScriptedRemote)
        var states: AsyncStream<SyncScheduler.State>
        do {
            let desk = try SchedulerFixture()
            (weakDesk, weakContext) = (desk, desk.sync)
            (network, clock, remote, states) = (desk.network, desk.clock, desk.remote, desk.scheduler.states)
            await desk.start()
            #expect(await comesTrue { network.listenerCount == 1 && clock.alarms.count == 1 })
            // During a sync.
            remote.next(.hang)
            desk.scheduler.syncNow()
            #expect(await comesTrue { remote.inFlight == 1 })
        }
        #expect(await comesTrue { network.listenerCount == 0 && clock.alarms.isEmpty && remote.inFlight == 0 })
        #expect(weakDesk == nil)
        // The stream of states ends.
        var last: SyncScheduler.State?
        for await state in states { last = state }
        #expect(last == .stopped)
        for _ in 0..<20_000 where weakContext != nil { try await Task.sleep(for: .milliseconds(1)) }
        #expect(weakContext == nil)
    }

    @Test func `start and stop are allowed at any time`() async throws {
        let desk = try SchedulerFixture()
        await desk.scheduler.stop()
        for _ in 0..<50 {
            desk.scheduler.start()
            desk.scheduler.start()
            async let first: Void = desk.scheduler.stop()
            async let second: Void = desk.scheduler.stop()
            desk.scheduler.start()
            _ = await (first, second)
        }
        await desk.scheduler.stop()
        #expect(desk.scheduler.state == .stopped && desk.begun.value == desk.ended.value)
        #expect(desk.network.listenerCount == 0 && desk.clock.alarms.isEmpty && desk.remote.inFlight == 0)
        let count = desk.begun.value
        await desk.start()
        #expect(desk.begun.value == count + 1)
        await desk.scheduler.stop()
    }

    @Test func `a scheduler's own sync may stop it`() async throws {
        let box = Synchronized<SyncScheduler?>(nil)
        let desk = try SchedulerFixture(body: { sync in
            await box.value?.stop()
            return try await sync.synchronize()
        })
        box.change { $0 = desk.scheduler }
        desk.scheduler.start()
        #expect(await comesTrue { desk.ended.value == 1 && desk.scheduler.state == .stopped })
        await desk.scheduler.stop()
        #expect(desk.remote.requests.isEmpty)
        box.change { $0 = nil }
    }

    @Test func `a closed store ends its scheduler`() async throws {
        let desk = try SchedulerFixture()
        await desk.start()
        desk.store.close()
        #expect(await comesTrue { desk.scheduler.state == .stopped })
        #expect(desk.network.listenerCount == 0 && desk.clock.alarms.isEmpty)
        await desk.scheduler.stop()
    }

    @Test func `a scheduler that a sync starts is not part of the sync`() async throws {
        let desk = try SchedulerFixture()
        try await desk.sync.withExclusiveSync { desk.scheduler.start() }
        await desk.scheduler.waitUntilIdle()
        #expect(desk.scheduler.lastError == nil && desk.begun.value == 1)
        await desk.scheduler.stop()
    }

    @Test func `a task that outlives a sync is not part of it`() async throws {
        let (release, releaser) = AsyncStream<Void>.makeStream()
        let tasks = Synchronized<[Task<Bool, Never>]>([])
        let desk = try SchedulerFixture(body: { sync in
            #expect(ScheduledRun.isAutomatic)
            let task = Task {
                for await _ in release {}
                return ScheduledRun.isAutomatic
            }
            tasks.change { $0.append(task) }
            return try await sync.synchronize()
        })
        await desk.start()
        releaser.finish()
        let task = try #require(tasks.value.first)
        #expect(await !task.value)
        await desk.scheduler.stop()
    }
}
