import Foundation
import Tandem
import TandemTesting
import TestSupport
import Testing

@testable import TandemSync

/// The reactions of a scheduler to failures.
@Suite(.ownThreads, .timeLimit(.minutes(10))) struct SchedulerFailureTests {
    private struct Broken: Error {}

    @Test func `every failure is followed by another attempt`() async throws {
        // Each kind of failure, and one of the app's own.
        let failures: [RemoteFailure] = [
            .unreachable, .lost(Broken()), .later(status: 503, retryAfter: nil), .notSent(CancellationError()),
            .unauthenticated(status: 401, underlying: nil),
            .nonsense, .later(status: 429, retryAfter: .seconds(1)),
        ]
        for failure in failures {
            let desk = try SchedulerFixture()
            try await desk.insert("1")
            desk.fail(failure, times: 3)
            await desk.start()
            #expect(desk.scheduler.lastError != nil, "\(failure)")
            for _ in 0..<4 where desk.scheduler.lastError != nil {
                let count = desk.begun.value
                desk.clock.advance(by: .seconds(900))
                await desk.scheduler.waitUntilIdle()
                #expect(desk.begun.value > count, "\(failure)")
            }
            #expect(desk.remote.items(in: "Card").count == 1, "\(failure)")
            #expect(desk.scheduler.lastError == nil, "\(failure)")
            await desk.scheduler.stop()
        }
    }

    @Test func `an error of the app does not end the scheduler`() async throws {
        let desk = try SchedulerFixture(body: { _ in throw Broken() })
        await desk.start()
        await desk.pass(5)
        #expect(desk.begun.value == 2 && desk.scheduler.lastError is Broken)
        await desk.scheduler.stop()
    }

    @Test func `the wait doubles up to its limit and a success resets it`() async throws {
        let desk = try SchedulerFixture()
        desk.fail(.unreachable, times: 12)
        await desk.start()
        var waits: [TimeInterval] = []
        while desk.scheduler.lastError != nil {
            guard case .waiting(let date?) = desk.scheduler.state else { break }
            waits.append(date.timeIntervalSince(desk.clock.now()))
            desk.clock.advance(by: .seconds(date.timeIntervalSince(desk.clock.now())))
            await desk.scheduler.waitUntilIdle()
        }
        #expect(waits == [5, 10, 20, 40, 80, 160, 320, 640, 900, 900, 900, 900])
        #expect(desk.begun.value == 13)
        // From the beginning.
        desk.fail(.unreachable, times: 1)
        await desk.pass(900)
        #expect(desk.scheduler.state == .waiting(until: desk.clock.now() + 5))
        await desk.scheduler.stop()
    }

    @Test(arguments: [(UInt64.min, 5.0), (UInt64.max, 2.5)])
    func `a wait is shortened by up to a half`(random: UInt64, wait: Double) {
        var plan = SchedulePlan(.init(), network: .up, at: .distantPast, random: { random })
        #expect(plan.next() == .sync(isAsked: false))
        plan.began()
        plan.ended(SyncOutcome(Broken()))
        guard case .wait(let date?) = plan.next() else {
            Issue.record("It does not wait.")
            return
        }
        #expect(abs(date.timeIntervalSince(.distantPast) - wait) < 0.001)
    }

    @Test func `local changes wait with an unavailable server`() async throws {
        let desk = try SchedulerFixture()
        desk.fail(.unreachable, times: 3)
        await desk.start()
        await desk.pass(5 + 10)
        #expect(desk.begun.value == 3)
        try await desk.insert("1")
        await desk.pass(19)
        #expect(desk.begun.value == 3)
        await desk.pass(1)
        #expect(desk.begun.value == 4)
        #expect(desk.remote.items(in: "Card").count == 1)
        await desk.scheduler.stop()
    }

    @Test func `a rejected object delays nothing`() async throws {
        let desk = try SchedulerFixture()
        try await desk.insert("1")
        desk.remote.next(.fail(.refused(status: 400, message: "no such shop")), on: .insert)
        await desk.start()
        #expect(desk.scheduler.state == .waiting(until: desk.clock.now() + 900))
        #expect(desk.scheduler.lastError == nil)
        await desk.pass(5)
        try await desk.change("2")
        await desk.pass(2)
        #expect(desk.begun.value == 2)
        #expect(desk.remote.items(in: "Card").count == 1)
        // The rejected one was sent once.
        #expect(desk.remote.requests.filter { $0.kind == .insert }.count == 2)
        await desk.scheduler.stop()
    }

    @Test func `an operation that may succeed later is sent again and blocks nothing`() async throws {
        let desk = try SchedulerFixture { $0.firstRetry = .seconds(60) }
        let first = try await desk.insert("1")
        // A server that fails for one object.
        for _ in 0..<2 {
            desk.remote.next(.fail(.later(status: 500, retryAfter: nil)), on: .id(first.localID.rawValue))
        }
        await desk.start()
        #expect(desk.scheduler.lastError != nil)
        #expect(desk.scheduler.state == .waiting(until: desk.clock.now() + 60))
        await desk.pass(5)
        try await desk.change("2")
        await desk.pass(2)
        #expect(desk.begun.value == 2)
        #expect(desk.remote.items(in: "Card").count == 1)
        #expect(desk.scheduler.state == .waiting(until: desk.clock.now() + 120))
        await desk.pass(120)
        #expect(desk.remote.items(in: "Card").count == 2)
        #expect(desk.scheduler.lastError == nil)
        await desk.scheduler.stop()
    }

    @Test func `a server that sets a retry time gets no request until then`() async throws {
        let desk = try SchedulerFixture()
        try await desk.insert("1")
        desk.remote.next(.fail(.later(status: 429, retryAfter: .seconds(120))), on: .insert)
        await desk.start()
        let count = desk.remote.requests.count
        try await desk.insert("2")
        await desk.set(.down)
        await desk.set(.up)
        await desk.pass(119)
        #expect(desk.remote.requests.count == count)
        await desk.pass(1)
        #expect(desk.remote.items(in: "Card").count == 2)
        await desk.scheduler.stop()
    }

    @Test func `a server that sets a retry time for a pull gets no request until then`() async throws {
        let desk = try SchedulerFixture()
        desk.remote.next(.fail(.later(status: 503, retryAfter: .seconds(60))), on: .page)
        await desk.start()
        let count = desk.begun.value
        try await desk.insert("2")
        await desk.pass(59)
        #expect(desk.begun.value == count)
        await desk.pass(1)
        #expect(desk.begun.value == count + 1)
        #expect(desk.remote.items(in: "Card").count == 1)
        await desk.scheduler.stop()
    }

    @Test func `no server is left without requests for more than a day`() {
        var plan = SchedulePlan(.init(), network: .up, at: .distantPast, random: { 0 })
        plan.began()
        plan.ended(
            SyncOutcome(SyncError(RemoteFailure.later(status: 503, retryAfter: .seconds(1e12)), table: nil, url: nil))
        )
        #expect(plan.next() == .wait(until: .distantPast + 86_400))
    }

    @Test func `a user who is not signed in waits for the app`() async throws {
        let desk = try SchedulerFixture()
        try await desk.insert("1")
        desk.fail(.unauthenticated(status: 401, underlying: nil), times: 1)
        await desk.start()
        try await desk.insert("2")
        await desk.pass(899)
        #expect(desk.begun.value == 1)
        desk.scheduler.syncNow()
        await desk.scheduler.waitUntilIdle()
        #expect(desk.remote.items(in: "Card").count == 2)
        // Without an action of the app, another attempt follows.
        desk.fail(.unauthenticated(status: 401, underlying: nil), times: 1)
        desk.scheduler.syncNow()
        await desk.scheduler.waitUntilIdle()
        await desk.pass(899)
        #expect(desk.begun.value == 3)
        await desk.pass(1)
        #expect(desk.begun.value == 4)
        await desk.scheduler.stop()
    }

    @Test func `a table that can't be pulled does not block the others`() async throws {
        let desk = try SchedulerFixture(body: { sync in
            try await sync.synchronize([PullQuery(Card.self, queryID: "c"), PullQuery(Person.self, queryID: "p")])
        })
        let broken = RequestMatch { $0.kind == .page && $0.table == "Person" }
        for _ in 0..<2 { desk.remote.next(.fail(.later(status: 500, retryAfter: nil)), on: broken) }
        await desk.start()
        #expect(desk.scheduler.state == .waiting(until: desk.clock.now() + 5))
        try await desk.change("1")
        await desk.pass(2)
        #expect(desk.remote.items(in: "Card").count == 1)
        await desk.pass(10)
        #expect(desk.scheduler.lastError == nil && desk.begun.value == 3)
        // A request that can't succeed waits for the interval.
        desk.remote.next(.fail(.refused(status: 404, message: "no such table")), on: broken)
        desk.scheduler.syncNow()
        await desk.scheduler.waitUntilIdle()
        #expect(desk.scheduler.state == .waiting(until: desk.clock.now() + 900))
        await desk.scheduler.stop()
    }
}
