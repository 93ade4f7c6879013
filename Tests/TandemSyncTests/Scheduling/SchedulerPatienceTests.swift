import Foundation
import Tandem
import TandemTesting
import TestSupport
import Testing

@testable import TandemSync

/// The pauses that a server requests, and their lengths.
@Suite(.ownThreads, .timeLimit(.minutes(10))) struct SchedulerPatienceTests {
    private static func patience(_ seconds: Int) -> RemoteFailure {
        .later(status: 503, retryAfter: .seconds(seconds))
    }

    @Test func `no operation is postponed for more than a day`() async throws {
        let fixture = try SchedulerFixture()
        try await fixture.insert("1")
        fixture.remote.next(.fail(Self.patience(999_999_999)), on: .insert)
        await fixture.start()
        #expect(try fixture.store.operations.all().first?.retryAt == fixture.clock.now() + 86_400)
        fixture.clock.advance(by: .seconds(86_400))
        await fixture.scheduler.waitUntilIdle()
        #expect(fixture.remote.items(in: "Card").count == 1)
        await fixture.scheduler.stop()
    }

    @Test func `a clock that is set back ends all postponements`() async throws {
        let fixture = try SchedulerFixture()
        try await fixture.insert("1")
        fixture.remote.next(.fail(Self.patience(3600)), on: .insert)
        _ = try await fixture.sync.attemptPush()
        let retryAt = try #require(try fixture.store.operations.all().first?.retryAt)
        let early = try await fixture.sync.runPush(isExplicit: false)
        #expect(early.entries.isEmpty && early.nextDue == retryAt)
        fixture.clock.jump(by: .seconds(-2 * 86_400))
        let late = try await fixture.sync.runPush(isExplicit: false)
        #expect(late.entries.count == 1 && late.isComplete && late.nextDue == nil)
    }

    @Test func `an operation postponed before a start is sent when it is due`() async throws {
        let fixture = try SchedulerFixture { $0.interval = nil }
        try await fixture.insert("1")
        fixture.remote.next(.fail(Self.patience(3600)), on: .insert)
        let due = fixture.clock.now() + 3600
        await fixture.start()
        #expect(fixture.begun.value == 1)
        await fixture.scheduler.stop()
        fixture.clock.advance(by: .seconds(10))
        // Another process: it only knows the queue.
        let next = try SchedulerFixture(store: fixture.store, clock: fixture.clock, remote: fixture.remote) {
            $0.interval = nil
        }
        await next.start()
        #expect(next.begun.value == 1 && next.scheduler.lastError == nil)
        #expect(next.remote.items(in: "Card").isEmpty)
        #expect(next.scheduler.state == .waiting(until: due))
        next.clock.advance(by: .seconds(3590))
        await next.scheduler.waitUntilIdle()
        #expect(next.remote.items(in: "Card").count == 1)
        await next.scheduler.stop()
    }

    @Test func `a sync that never reaches the server keeps its pause`() {
        var plan = SchedulePlan(.init(), network: .up, at: .distantPast, random: { 0 })
        plan.began()
        plan.ended(SyncOutcome(SyncError(Self.patience(3600), table: nil, url: nil)))
        plan.ask()
        plan.began()
        plan.ended(SyncOutcome(RemoteFailure.lost(CancellationError())))
        #expect(plan.next() == .wait(until: .distantPast + 3600))
        plan.began()
        plan.ended(SyncOutcome(SyncResult()))
        #expect(plan.next() == .wait(until: .distantPast + 900))
    }

    @Test func `leftover operations and failures are counted separately`() throws {
        var options = SyncScheduler.Options()
        options.interval = nil
        var plan = SchedulePlan(options, network: .up, at: .distantPast, random: { 0 })
        var partly = SyncResult()
        partly.pulls = [
            .init(query: PullQuery(Card.self, queryID: "c"), outcome: .success(PullResult())),
            .init(
                query: PullQuery(Person.self, queryID: "p"),
                outcome: .failure(SyncError(RemoteFailure.later(status: 500, retryAfter: nil), table: nil, url: nil))),
        ]
        let (remainder, failure) = (SyncOutcome(partly), SyncOutcome(RemoteFailure.unreachable))
        #expect(remainder.kind == .leftOver)
        for (outcome, wait) in [
            (remainder, 5.0), (remainder, 10), (failure, 5), (failure, 10), (remainder, 20), (failure, 5),
            (SyncOutcome(SyncResult()), .infinity), (remainder, 5),
        ] {
            plan.began()
            plan.ended(outcome)
            #expect(plan.next() == .wait(until: wait.isFinite ? .distantPast + wait : nil))
        }
    }

    @Test func `no options cause syncs without a pause`() {
        var options = SyncScheduler.Options()
        (options.interval, options.firstRetry) = (.zero, .zero)
        var plan = SchedulePlan(options, network: .up, at: .distantPast, random: { 0 })
        for outcome in [SyncOutcome(SyncResult()), SyncOutcome(RemoteFailure.unreachable)] {
            plan.began()
            plan.ended(outcome)
            #expect(plan.next() == .wait(until: .distantPast + 1))
        }
    }

    @Test func `every reason for a stopped push counts`() {
        func error(_ failure: RemoteFailure) -> SyncError { SyncError(failure, table: nil, url: nil) }
        let query = PullQuery(Card.self, queryID: "c")
        var result = SyncResult()
        #expect(SyncOutcome(error(.unreachable).carrying(result)).kind == .failed)
        result.pulls = [.init(query: query, outcome: .success(PullResult()))]
        #expect(SyncOutcome(error(.unreachable).carrying(result)).kind == .failed)
        let stranger = error(.unauthenticated(status: 401, underlying: nil))
        #expect(SyncOutcome(stranger.carrying(result)).kind == .needsApp)
        // A server that lets a table be pulled is available.
        let stumbling = error(.later(status: 500, retryAfter: nil))
        #expect(SyncOutcome(stumbling.carrying(result)).kind == .leftOver)
        #expect(SyncOutcome(stumbling.carrying(SyncResult())).kind == .failed)
        result.pushStop = stumbling
        #expect(SyncOutcome(result).kind == .leftOver && SyncOutcome(result).error != nil)
        result.pushStop = nil
        // No table could be pulled, and a retry can't succeed.
        result.pulls = [.init(query: query, outcome: .failure(error(.refused(status: 404, message: "no"))))]
        #expect(SyncOutcome(result).kind == .fine && SyncOutcome(result).error != nil)
    }
}
