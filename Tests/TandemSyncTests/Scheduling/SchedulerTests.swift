import Foundation
import Tandem
import TandemTesting
import TestSupport
import Testing

@testable import TandemSync

/// The times at which a scheduler syncs.
@Suite(.ownThreads, .timeLimit(.minutes(10))) struct SchedulerTests {
    @Test func `a scheduler sends nothing before its start`() async throws {
        let fixture = try SchedulerFixture()
        try await fixture.insert("1")
        fixture.scheduler.syncNow()
        await fixture.pass(20)
        #expect(fixture.remote.requests.isEmpty && fixture.scheduler.state == .stopped)
    }

    @Test func `a scheduler syncs at the start and then by its interval`() async throws {
        let fixture = try SchedulerFixture()
        try await fixture.insert("1")
        await fixture.start()
        #expect(fixture.begun.value == 1)
        #expect(fixture.remote.items(in: "Card").count == 1)
        #expect(fixture.scheduler.state == .waiting(until: fixture.clock.now() + 900))
        await fixture.pass(899)
        #expect(fixture.begun.value == 1)
        await fixture.pass(1)
        #expect(fixture.begun.value == 2)
        #expect(fixture.scheduler.state == .waiting(until: fixture.clock.now() + 900))
        // Its own writes were checked, without a sync.
        #expect(fixture.scheduler.checkCount.value > 0)
        await fixture.scheduler.stop()
    }

    @Test func `a scheduler starts without a sync if configured so`() async throws {
        let fixture = try SchedulerFixture {
            $0.syncsAtStart = false
            $0.interval = nil
        }
        try await fixture.insert("1")
        await fixture.start()
        #expect(fixture.begun.value == 0 && fixture.scheduler.state == .waiting(until: nil))
        try await fixture.change("2")
        await fixture.pass(2)
        #expect(fixture.begun.value == 1)
        #expect(fixture.remote.items(in: "Card").count == 2)
        #expect(fixture.scheduler.state == .waiting(until: nil))
        await fixture.scheduler.stop()
    }

    @Test func `local changes are sent after a pause of two seconds`() async throws {
        let fixture = try SchedulerFixture()
        await fixture.start()
        try await fixture.change("1")
        await fixture.pass(1)
        try await fixture.change("2")
        await fixture.pass(1)
        #expect(fixture.begun.value == 1)
        await fixture.pass(1)
        #expect(fixture.begun.value == 2)
        #expect(fixture.remote.items(in: "Card").count == 2)
        await fixture.scheduler.stop()
    }

    @Test func `continuous changes are synchronized all the same`() async throws {
        let fixture = try SchedulerFixture()
        await fixture.start()
        // From the first change on.
        for second in 0..<10 {
            if second < 9 { try await fixture.change("\(second)") } else { try await fixture.insert("\(second)") }
            #expect(fixture.begun.value == 1)
            await fixture.pass(1)
        }
        #expect(fixture.begun.value == 2)
        await fixture.scheduler.stop()
    }

    @Test func `an edit of a pending object counts as a change`() async throws {
        let fixture = try SchedulerFixture { $0.firstRetry = .seconds(600) }
        fixture.remote.next(.fail(.later(status: 500, retryAfter: nil)), on: .insert)
        let card = try await fixture.insert("1")
        await fixture.start()
        await fixture.pass(5)
        #expect(fixture.begun.value == 1)
        // The operation is the same, with a later change.
        try await fixture.change { _ = try $0.update(Card.self, localID: card.localID) { $0.points = 5 } }
        await fixture.pass(2)
        #expect(fixture.begun.value == 2)
        #expect(fixture.remote.items(in: "Card").first?[member: "points"] == .integer(5))
        await fixture.scheduler.stop()
    }

    @Test func `a local change during a sync causes another one`() async throws {
        let fixture = try SchedulerFixture()
        try await fixture.insert("1")
        fixture.remote.next(.meanwhile { _ = try? await fixture.insert("2") }, on: .insert)
        await fixture.start()
        #expect(fixture.begun.value == 1)
        #expect(fixture.remote.items(in: "Card").count == 1)
        await fixture.pass(2)
        #expect(fixture.begun.value == 2)
        #expect(fixture.remote.items(in: "Card").count == 2)
        await fixture.pass(100)
        #expect(fixture.begun.value == 2)
        await fixture.scheduler.stop()
    }

    @Test func `a retry by the user counts as a change`() async throws {
        let fixture = try SchedulerFixture()
        try await fixture.insert("1")
        fixture.remote.next(.fail(.refused(status: 400, message: "no such shop")), on: .insert)
        await fixture.start()
        let operation = try #require(try fixture.store.operations.all().first)
        #expect(operation.state == .failed)
        await fixture.pass(10)
        #expect(fixture.begun.value == 1)
        try await fixture.change { try $0.sync.release(operation.id) }
        await fixture.pass(2)
        #expect(fixture.begun.value == 2)
        #expect(fixture.remote.items(in: "Card").count == 1)
        await fixture.scheduler.stop()
    }

    @Test func `the app may request a sync at any time`() async throws {
        let fixture = try SchedulerFixture { $0.syncsAtStart = false }
        await fixture.start()
        await fixture.set(.down)
        fixture.scheduler.syncNow()
        await fixture.scheduler.waitUntilIdle()
        #expect(fixture.begun.value == 1)
        await fixture.set(NetworkState(isMetered: true))
        fixture.scheduler.syncNow()
        await fixture.scheduler.waitUntilIdle()
        #expect(fixture.begun.value == 2)
        await fixture.scheduler.stop()
        fixture.scheduler.syncNow()
        await fixture.pass(1)
        #expect(fixture.begun.value == 2)
    }

    @Test func `a clock that is set back extends no wait`() async throws {
        let fixture = try SchedulerFixture()
        fixture.fail(.unreachable, times: 1)
        await fixture.start()
        fixture.clock.jump(by: .seconds(-86_400))
        await fixture.scheduler.waitUntilIdle()
        await fixture.pass(4)
        #expect(fixture.begun.value == 1)
        await fixture.pass(1)
        #expect(fixture.begun.value == 2)
        // Also without an event in between. Wait for the timer: a clock that advances before it is set wakes nothing.
        #expect(await comesTrue { fixture.clock.alarms.contains { $0 >= fixture.clock.now() + 899 } })
        fixture.clock.jump(by: .seconds(-86_400))
        fixture.clock.advance(by: .seconds(900))
        #expect(await comesTrue { fixture.begun.value == 3 })
        await fixture.scheduler.stop()
    }

    @Test func `the states are reported`() async throws {
        let fixture = try SchedulerFixture()
        var states = fixture.scheduler.liveState.values(keeping: 100).makeAsyncIterator()
        #expect(await states.next() == .stopped)
        await fixture.start()
        #expect(await states.next() == .syncing)
        #expect(await states.next() == .waiting(until: fixture.clock.now() + 900))
        await fixture.set(.down)
        #expect(await states.next() == .waitingForNetwork)
        await fixture.scheduler.stop()
        #expect(await states.next() == .stopped)
        var newest = fixture.scheduler.states.makeAsyncIterator()
        #expect(await newest.next() == .stopped)
        // The next one begins from scratch.
        await fixture.set(.up)
        await fixture.start()
        #expect(fixture.begun.value == 2)
        await fixture.scheduler.stop()
    }

    @Test func `a retry by the user during a sync counts as a change`() async throws {
        let fixture = try SchedulerFixture()
        try await fixture.insert("1")
        try await fixture.insert("2")
        fixture.remote.next(.fail(.refused(status: 400, message: "no such shop")), on: .insert)
        let release = RemoteFault.meanwhile {
            _ = try? await comesTrue { try fixture.store.operations.all().contains { $0.state == .failed } }
            try? await fixture.store.write { tx in
                for operation in try fixture.store.operations.all() where operation.state == .failed {
                    try tx.sync.release(operation.id)
                }
            }
        }
        fixture.remote.next(release, on: .insert)
        await fixture.start()
        #expect(fixture.begun.value == 1 && fixture.remote.items(in: "Card").count == 1)
        await fixture.pass(2)
        #expect(fixture.begun.value == 2)
        #expect(fixture.remote.items(in: "Card").count == 2)
        await fixture.scheduler.stop()
    }
}
