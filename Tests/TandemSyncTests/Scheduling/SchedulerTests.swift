import Foundation
import Tandem
import TandemTesting
import TestSupport
import Testing

@testable import TandemSync

/// The times at which a scheduler syncs.
@Suite(.ownThreads, .timeLimit(.minutes(10))) struct SchedulerTests {
    @Test func `a scheduler sends nothing before its start`() async throws {
        let desk = try SchedulerFixture()
        try await desk.insert("1")
        desk.scheduler.syncNow()
        await desk.pass(20)
        #expect(desk.remote.requests.isEmpty && desk.scheduler.state == .stopped)
    }

    @Test func `a scheduler syncs at the start and then by its interval`() async throws {
        let desk = try SchedulerFixture()
        try await desk.insert("1")
        await desk.start()
        #expect(desk.begun.value == 1)
        #expect(desk.remote.items(in: "Card").count == 1)
        #expect(desk.scheduler.state == .waiting(until: desk.clock.now() + 900))
        await desk.pass(899)
        #expect(desk.begun.value == 1)
        await desk.pass(1)
        #expect(desk.begun.value == 2)
        #expect(desk.scheduler.state == .waiting(until: desk.clock.now() + 900))
        // Its own writes were checked, without a sync.
        #expect(desk.scheduler.checkCount.value > 0)
        await desk.scheduler.stop()
    }

    @Test func `a scheduler starts without a sync if configured so`() async throws {
        let desk = try SchedulerFixture {
            $0.syncsAtStart = false
            $0.interval = nil
        }
        try await desk.insert("1")
        await desk.start()
        #expect(desk.begun.value == 0 && desk.scheduler.state == .waiting(until: nil))
        try await desk.change("2")
        await desk.pass(2)
        #expect(desk.begun.value == 1)
        #expect(desk.remote.items(in: "Card").count == 2)
        #expect(desk.scheduler.state == .waiting(until: nil))
        await desk.scheduler.stop()
    }

    @Test func `local changes are sent after a pause of two seconds`() async throws {
        let desk = try SchedulerFixture()
        await desk.start()
        try await desk.change("1")
        await desk.pass(1)
        try await desk.change("2")
        await desk.pass(1)
        #expect(desk.begun.value == 1)
        await desk.pass(1)
        #expect(desk.begun.value == 2)
        #expect(desk.remote.items(in: "Card").count == 2)
        await desk.scheduler.stop()
    }

    @Test func `continuous changes are synchronized all the same`() async throws {
        let desk = try SchedulerFixture()
        await desk.start()
        // From the first change on.
        for second in 0..<10 {
            if second < 9 { try await desk.change("\(second)") } else { try await desk.insert("\(second)") }
            #expect(desk.begun.value == 1)
            await desk.pass(1)
        }
        #expect(desk.begun.value == 2)
        await desk.scheduler.stop()
    }

    @Test func `an edit of a pending object counts as a change`() async throws {
        let desk = try SchedulerFixture { $0.firstRetry = .seconds(600) }
        desk.remote.next(.fail(.later(status: 500, retryAfter: nil)), on: .insert)
        let card = try await desk.insert("1")
        await desk.start()
        await desk.pass(5)
        #expect(desk.begun.value == 1)
        // The operation is the same, with a later change.
        try await desk.change { _ = try $0.update(Card.self, localID: card.localID) { $0.points = 5 } }
        await desk.pass(2)
        #expect(desk.begun.value == 2)
        #expect(desk.remote.items(in: "Card").first?[member: "points"] == .integer(5))
        await desk.scheduler.stop()
    }

    @Test func `a local change during a sync causes another one`() async throws {
        let desk = try SchedulerFixture()
        try await desk.insert("1")
        desk.remote.next(.meanwhile { _ = try? await desk.insert("2") }, on: .insert)
        await desk.start()
        #expect(desk.begun.value == 1)
        #expect(desk.remote.items(in: "Card").count == 1)
        await desk.pass(2)
        #expect(desk.begun.value == 2)
        #expect(desk.remote.items(in: "Card").count == 2)
        await desk.pass(100)
        #expect(desk.begun.value == 2)
        await desk.scheduler.stop()
    }

    @Test func `a retry by the user counts as a change`() async throws {
        let desk = try SchedulerFixture()
        try await desk.insert("1")
        desk.remote.next(.fail(.refused(status: 400, message: "no such shop")), on: .insert)
        await desk.start()
        let operation = try #require(try desk.store.operations.all().first)
        #expect(operation.state == .failed)
        await desk.pass(10)
        #expect(desk.begun.value == 1)
        try await desk.change { try $0.sync.release(operation.id) }
        await desk.pass(2)
        #expect(desk.begun.value == 2)
        #expect(desk.remote.items(in: "Card").count == 1)
        await desk.scheduler.stop()
    }

    @Test func `the app may request a sync at any time`() async throws {
        let desk = try SchedulerFixture { $0.syncsAtStart = false }
        await desk.start()
        await desk.set(.down)
        desk.scheduler.syncNow()
        await desk.scheduler.waitUntilIdle()
        #expect(desk.begun.value == 1)
        await desk.set(NetworkState(isMetered: true))
        desk.scheduler.syncNow()
        await desk.scheduler.waitUntilIdle()
        #expect(desk.begun.value == 2)
        await desk.scheduler.stop()
        desk.scheduler.syncNow()
        await desk.pass(1)
        #expect(desk.begun.value == 2)
    }

    @Test func `a clock that is set back extends no wait`() async throws {
        let desk = try SchedulerFixture()
        desk.fail(.unreachable, times: 1)
        await desk.start()
        desk.clock.jump(by: .seconds(-86_400))
        await desk.scheduler.waitUntilIdle()
        await desk.pass(4)
        #expect(desk.begun.value == 1)
        await desk.pass(1)
        #expect(desk.begun.value == 2)
        // Also without an event in between. Wait for the timer: a clock that advances before it is set wakes nothing.
        #expect(await comesTrue { desk.clock.alarms.contains { $0 >= desk.clock.now() + 899 } })
        desk.clock.jump(by: .seconds(-86_400))
        desk.clock.advance(by: .seconds(900))
        #expect(await comesTrue { desk.begun.value == 3 })
        await desk.scheduler.stop()
    }

    @Test func `the states are reported`() async throws {
        let desk = try SchedulerFixture()
        var states = desk.scheduler.liveState.values(keeping: 100).makeAsyncIterator()
        #expect(await states.next() == .stopped)
        await desk.start()
        #expect(await states.next() == .syncing)
        #expect(await states.next() == .waiting(until: desk.clock.now() + 900))
        await desk.set(.down)
        #expect(await states.next() == .waitingForNetwork)
        await desk.scheduler.stop()
        #expect(await states.next() == .stopped)
        var newest = desk.scheduler.states.makeAsyncIterator()
        #expect(await newest.next() == .stopped)
        // The next one begins from scratch.
        await desk.set(.up)
        await desk.start()
        #expect(desk.begun.value == 2)
        await desk.scheduler.stop()
    }

    @Test func `a retry by the user during a sync counts as a change`() async throws {
        let desk = try SchedulerFixture()
        try await desk.insert("1")
        try await desk.insert("2")
        desk.remote.next(.fail(.refused(status: 400, message: "no such shop")), on: .insert)
        let release = RemoteFault.meanwhile {
            _ = try? await comesTrue { try desk.store.operations.all().contains { $0.state == .failed } }
            try? await desk.store.write { tx in
                for operation in try desk.store.operations.all() where operation.state == .failed {
                    try tx.sync.release(operation.id)
                }
            }
        }
        desk.remote.next(release, on: .insert)
        await desk.start()
        #expect(desk.begun.value == 1 && desk.remote.items(in: "Card").count == 1)
        await desk.pass(2)
        #expect(desk.begun.value == 2)
        #expect(desk.remote.items(in: "Card").count == 2)
        await desk.scheduler.stop()
    }
}
