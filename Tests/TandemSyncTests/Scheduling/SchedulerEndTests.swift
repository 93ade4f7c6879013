import Foundation
import Tandem
import TandemTesting
import TestSupport
import Testing

@testable import TandemSync

/// The end of a scheduler, which leaves nothing behind.
@Suite(.ownThreads, .timeLimit(.minutes(10))) struct SchedulerEndTests {
    @Test func `a stop ends the request under way`() async throws {
        let fixture = try SchedulerFixture()
        fixture.remote.next(.hang, on: .page)
        fixture.scheduler.start()
        #expect(await comesTrue { fixture.remote.inFlight == 1 })
        #expect(fixture.scheduler.state == .syncing)
        await fixture.scheduler.stop()
        #expect(fixture.remote.inFlight == 0 && fixture.begun.value == fixture.ended.value)
        #expect(
            fixture.scheduler.state == .stopped && fixture.network.listenerCount == 0 && fixture.clock.alarms.isEmpty)
        // The store's lock is free, and no request follows.
        try await fixture.sync.withExclusiveSync {}
        let count = fixture.remote.requests.count
        try await fixture.insert("1")
        await fixture.pass(1000)
        #expect(fixture.remote.requests.count == count)
    }

    @Test func `a stop ends a push that waits for a retry`() async throws {
        let fixture = try SchedulerFixture(tries: 3)
        try await fixture.insert("1")
        fixture.remote.next(.fail(.later(status: 503, retryAfter: .seconds(20))), on: .insert)
        fixture.scheduler.start()
        #expect(await comesTrue { fixture.clock.alarms == [fixture.clock.now() + 20] })
        await fixture.scheduler.stop()
        #expect(fixture.clock.alarms.isEmpty && fixture.scheduler.state == .stopped)
        #expect(try fixture.store.operations.count() == 1)
    }

    @Test func `a stop ends the wait for another sync`() async throws {
        let fixture = try SchedulerFixture()
        let (release, releaser) = AsyncStream<Void>.makeStream()
        let other = Task { try await fixture.sync.withExclusiveSync { for await _ in release { break } } }
        #expect(await comesTrue { fixture.sync.statusTracker.status.isSyncing })
        fixture.scheduler.start()
        #expect(await comesTrue { fixture.begun.value == 1 })
        await fixture.scheduler.stop()
        #expect(fixture.ended.value == 1 && fixture.remote.requests.isEmpty)
        releaser.finish()
        try await other.value
    }

    @Test func `a released scheduler ends`() async throws {
        weak var weakFixture: SchedulerFixture?
        weak var weakContext: SyncContext?
        let (network, clock, remote): (ManualNetworkMonitor, ManualSyncClock, ScriptedRemote)
        var states: AsyncStream<SyncScheduler.State>
        do {
            let fixture = try SchedulerFixture()
            (weakFixture, weakContext) = (fixture, fixture.sync)
            (network, clock, remote, states) = (
                fixture.network, fixture.clock, fixture.remote, fixture.scheduler.states
            )
            await fixture.start()
            #expect(await comesTrue { network.listenerCount == 1 && clock.alarms.count == 1 })
            // During a sync.
            remote.next(.hang)
            fixture.scheduler.syncNow()
            #expect(await comesTrue { remote.inFlight == 1 })
        }
        #expect(await comesTrue { network.listenerCount == 0 && clock.alarms.isEmpty && remote.inFlight == 0 })
        #expect(weakFixture == nil)
        // The stream of states ends.
        var last: SyncScheduler.State?
        for await state in states { last = state }
        #expect(last == .stopped)
        for _ in 0..<20_000 where weakContext != nil { try await Task.sleep(for: .milliseconds(1)) }
        #expect(weakContext == nil)
    }

    @Test func `start and stop are allowed at any time`() async throws {
        let fixture = try SchedulerFixture()
        await fixture.scheduler.stop()
        for _ in 0..<50 {
            fixture.scheduler.start()
            fixture.scheduler.start()
            async let first: Void = fixture.scheduler.stop()
            async let second: Void = fixture.scheduler.stop()
            fixture.scheduler.start()
            _ = await (first, second)
        }
        await fixture.scheduler.stop()
        #expect(fixture.scheduler.state == .stopped && fixture.begun.value == fixture.ended.value)
        #expect(fixture.network.listenerCount == 0 && fixture.clock.alarms.isEmpty && fixture.remote.inFlight == 0)
        let count = fixture.begun.value
        await fixture.start()
        #expect(fixture.begun.value == count + 1)
        await fixture.scheduler.stop()
    }

    @Test func `a scheduler's own sync may stop it`() async throws {
        let box = Synchronized<SyncScheduler?>(nil)
        let fixture = try SchedulerFixture(body: { sync in
            await box.value?.stop()
            return try await sync.synchronize()
        })
        box.change { $0 = fixture.scheduler }
        fixture.scheduler.start()
        #expect(await comesTrue { fixture.ended.value == 1 && fixture.scheduler.state == .stopped })
        await fixture.scheduler.stop()
        #expect(fixture.remote.requests.isEmpty)
        box.change { $0 = nil }
    }

    @Test func `a closed store ends its scheduler`() async throws {
        let fixture = try SchedulerFixture()
        await fixture.start()
        fixture.store.close()
        #expect(await comesTrue { fixture.scheduler.state == .stopped })
        #expect(fixture.network.listenerCount == 0 && fixture.clock.alarms.isEmpty)
        await fixture.scheduler.stop()
    }

    @Test func `a scheduler that a sync starts is not part of the sync`() async throws {
        let fixture = try SchedulerFixture()
        try await fixture.sync.withExclusiveSync { fixture.scheduler.start() }
        await fixture.scheduler.waitUntilIdle()
        #expect(fixture.scheduler.lastError == nil && fixture.begun.value == 1)
        await fixture.scheduler.stop()
    }

    @Test func `a task that outlives a sync is not part of it`() async throws {
        let (release, releaser) = AsyncStream<Void>.makeStream()
        let tasks = Synchronized<[Task<Bool, Never>]>([])
        let fixture = try SchedulerFixture(body: { sync in
            #expect(ScheduledRun.isAutomatic)
            let task = Task {
                for await _ in release {}
                return ScheduledRun.isAutomatic
            }
            tasks.change { $0.append(task) }
            return try await sync.synchronize()
        })
        await fixture.start()
        releaser.finish()
        let task = try #require(tasks.value.first)
        #expect(await !task.value)
        await fixture.scheduler.stop()
    }
}
