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
            let fixture = try SchedulerFixture()
            try await fixture.insert("1")
            fixture.fail(failure, times: 3)
            await fixture.start()
            #expect(fixture.scheduler.lastError != nil, "\(failure)")
            for _ in 0..<4 where fixture.scheduler.lastError != nil {
                let count = fixture.begun.value
                fixture.clock.advance(by: .seconds(900))
                await fixture.scheduler.waitUntilIdle()
                #expect(fixture.begun.value > count, "\(failure)")
            }
            #expect(fixture.remote.items(in: "Card").count == 1, "\(failure)")
            #expect(fixture.scheduler.lastError == nil, "\(failure)")
            await fixture.scheduler.stop()
        }
    }

    @Test func `an error of the app does not end the scheduler`() async throws {
        let fixture = try SchedulerFixture(body: { _ in throw Broken() })
        await fixture.start()
        await fixture.pass(5)
        #expect(fixture.begun.value == 2 && fixture.scheduler.lastError is Broken)
        await fixture.scheduler.stop()
    }

    @Test func `the wait doubles up to its limit and a success resets it`() async throws {
        let fixture = try SchedulerFixture()
        fixture.fail(.unreachable, times: 12)
        await fixture.start()
        var waits: [TimeInterval] = []
        while fixture.scheduler.lastError != nil {
            guard case .waiting(let date?) = fixture.scheduler.state else { break }
            waits.append(date.timeIntervalSince(fixture.clock.now()))
            fixture.clock.advance(by: .seconds(date.timeIntervalSince(fixture.clock.now())))
            await fixture.scheduler.waitUntilIdle()
        }
        #expect(waits == [5, 10, 20, 40, 80, 160, 320, 640, 900, 900, 900, 900])
        #expect(fixture.begun.value == 13)
        // From the beginning.
        fixture.fail(.unreachable, times: 1)
        await fixture.pass(900)
        #expect(fixture.scheduler.state == .waiting(until: fixture.clock.now() + 5))
        await fixture.scheduler.stop()
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
        let fixture = try SchedulerFixture()
        fixture.fail(.unreachable, times: 3)
        await fixture.start()
        await fixture.pass(5 + 10)
        #expect(fixture.begun.value == 3)
        try await fixture.insert("1")
        await fixture.pass(19)
        #expect(fixture.begun.value == 3)
        await fixture.pass(1)
        #expect(fixture.begun.value == 4)
        #expect(fixture.remote.items(in: "Card").count == 1)
        await fixture.scheduler.stop()
    }

    @Test func `a rejected object delays nothing`() async throws {
        let fixture = try SchedulerFixture()
        try await fixture.insert("1")
        fixture.remote.next(.fail(.refused(status: 400, message: "no such shop")), on: .insert)
        await fixture.start()
        #expect(fixture.scheduler.state == .waiting(until: fixture.clock.now() + 900))
        #expect(fixture.scheduler.lastError == nil)
        await fixture.pass(5)
        try await fixture.change("2")
        await fixture.pass(2)
        #expect(fixture.begun.value == 2)
        #expect(fixture.remote.items(in: "Card").count == 1)
        // The rejected one was sent once.
        #expect(fixture.remote.requests.filter { $0.kind == .insert }.count == 2)
        await fixture.scheduler.stop()
    }

    @Test func `an operation that may succeed later is sent again and blocks nothing`() async throws {
        let fixture = try SchedulerFixture { $0.firstRetry = .seconds(60) }
        let first = try await fixture.insert("1")
        // A server that fails for one object.
        for _ in 0..<2 {
            fixture.remote.next(.fail(.later(status: 500, retryAfter: nil)), on: .id(first.localID.rawValue))
        }
        await fixture.start()
        #expect(fixture.scheduler.lastError != nil)
        #expect(fixture.scheduler.state == .waiting(until: fixture.clock.now() + 60))
        await fixture.pass(5)
        try await fixture.change("2")
        await fixture.pass(2)
        #expect(fixture.begun.value == 2)
        #expect(fixture.remote.items(in: "Card").count == 1)
        #expect(fixture.scheduler.state == .waiting(until: fixture.clock.now() + 120))
        await fixture.pass(120)
        #expect(fixture.remote.items(in: "Card").count == 2)
        #expect(fixture.scheduler.lastError == nil)
        await fixture.scheduler.stop()
    }

    @Test func `a server that sets a retry time gets no request until then`() async throws {
        let fixture = try SchedulerFixture()
        try await fixture.insert("1")
        fixture.remote.next(.fail(.later(status: 429, retryAfter: .seconds(120))), on: .insert)
        await fixture.start()
        let count = fixture.remote.requests.count
        try await fixture.insert("2")
        await fixture.set(.down)
        await fixture.set(.up)
        await fixture.pass(119)
        #expect(fixture.remote.requests.count == count)
        await fixture.pass(1)
        #expect(fixture.remote.items(in: "Card").count == 2)
        await fixture.scheduler.stop()
    }

    @Test func `a server that sets a retry time for a pull gets no request until then`() async throws {
        let fixture = try SchedulerFixture()
        fixture.remote.next(.fail(.later(status: 503, retryAfter: .seconds(60))), on: .page)
        await fixture.start()
        let count = fixture.begun.value
        try await fixture.insert("2")
        await fixture.pass(59)
        #expect(fixture.begun.value == count)
        await fixture.pass(1)
        #expect(fixture.begun.value == count + 1)
        #expect(fixture.remote.items(in: "Card").count == 1)
        await fixture.scheduler.stop()
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
        let fixture = try SchedulerFixture()
        try await fixture.insert("1")
        fixture.fail(.unauthenticated(status: 401, underlying: nil), times: 1)
        await fixture.start()
        try await fixture.insert("2")
        await fixture.pass(899)
        #expect(fixture.begun.value == 1)
        fixture.scheduler.syncNow()
        await fixture.scheduler.waitUntilIdle()
        #expect(fixture.remote.items(in: "Card").count == 2)
        // Without an action of the app, another attempt follows.
        fixture.fail(.unauthenticated(status: 401, underlying: nil), times: 1)
        fixture.scheduler.syncNow()
        await fixture.scheduler.waitUntilIdle()
        await fixture.pass(899)
        #expect(fixture.begun.value == 3)
        await fixture.pass(1)
        #expect(fixture.begun.value == 4)
        await fixture.scheduler.stop()
    }

    @Test func `a table that can't be pulled does not block the others`() async throws {
        let fixture = try SchedulerFixture(body: { sync in
            try await sync.synchronize([PullQuery(Card.self, queryID: "c"), PullQuery(Person.self, queryID: "p")])
        })
        let broken = RequestMatch { $0.kind == .page && $0.table == "Person" }
        for _ in 0..<2 { fixture.remote.next(.fail(.later(status: 500, retryAfter: nil)), on: broken) }
        await fixture.start()
        #expect(fixture.scheduler.state == .waiting(until: fixture.clock.now() + 5))
        try await fixture.change("1")
        await fixture.pass(2)
        #expect(fixture.remote.items(in: "Card").count == 1)
        await fixture.pass(10)
        #expect(fixture.scheduler.lastError == nil && fixture.begun.value == 3)
        // A request that can't succeed waits for the interval.
        fixture.remote.next(.fail(.refused(status: 404, message: "no such table")), on: broken)
        fixture.scheduler.syncNow()
        await fixture.scheduler.waitUntilIdle()
        #expect(fixture.scheduler.state == .waiting(until: fixture.clock.now() + 900))
        await fixture.scheduler.stop()
    }
}
