import Foundation
import Tandem
import TandemTesting
import TestSupport
import Testing

@testable import TandemSync

/// The reactions of a scheduler to the state of the network.
@Suite(.ownThreads, .timeLimit(.minutes(10))) struct SchedulerNetworkTests {
    private static let metered = NetworkState(isMetered: true)

    @Test func `a returning network ends the wait`() async throws {
        let fixture = try SchedulerFixture()
        fixture.fail(.unreachable, times: 3)
        await fixture.start()
        await fixture.pass(5 + 10)
        #expect(fixture.begun.value == 3)
        await fixture.pass(3)
        await fixture.set(.down)
        await fixture.set(.up)
        #expect(await comesTrue { fixture.begun.value == 4 })
        await fixture.scheduler.waitUntilIdle()
        // The wait begins again.
        fixture.fail(.unreachable, times: 1)
        fixture.scheduler.syncNow()
        await fixture.scheduler.waitUntilIdle()
        #expect(fixture.scheduler.state == .waiting(until: fixture.clock.now() + 5))
        await fixture.scheduler.stop()
    }

    /// Another network has no credentials, but the app has.
    @Test func `a returning network does not end the wait for the app`() async throws {
        let fixture = try SchedulerFixture()
        try await fixture.insert("1")
        fixture.fail(.unauthenticated(status: 401, underlying: nil), times: 1)
        await fixture.start()
        await fixture.pass(10)
        await fixture.set(.down)
        await fixture.set(.up)
        await fixture.pass(60)
        #expect(fixture.begun.value == 1 && fixture.remote.requests.count == 1)
        #expect(fixture.scheduler.state == .waiting(until: fixture.clock.now() + 830))
        fixture.scheduler.syncNow()
        await fixture.scheduler.waitUntilIdle()
        #expect(fixture.begun.value == 2 && fixture.remote.items(in: "Card").count == 1)
        await fixture.scheduler.stop()
    }

    @Test func `a network that returns during a sync that needs the app changes nothing`() {
        var plan = SchedulePlan(.init(), network: .down, at: .distantPast, random: { 0 })
        plan.began()
        plan.update(.up)
        plan.ended(SyncOutcome(SyncError(.otherUser, message: "It is another user's.")))
        #expect(plan.next() == .wait(until: .distantPast + 900))
        plan.update(NetworkState(isMetered: true))
        plan.update(.up)
        #expect(plan.next() == .wait(until: .distantPast + 900))
        // The clock is set back, and no wait gets longer.
        plan.advance(to: .distantPast - 100)
        #expect(plan.next() == .wait(until: .distantPast + 800))
        plan.ask()
        #expect(plan.next() == .sync(isAsked: true))
    }

    @Test func `a network with a route is better than none`() async throws {
        let fixture = try SchedulerFixture(network: NetworkState(reach: .local))
        fixture.fail(.unreachable, times: 2)
        await fixture.start()
        // A local network counts: the server may be in it.
        await fixture.pass(5)
        #expect(fixture.begun.value == 2)
        await fixture.pass(2)
        fixture.network.set(.up)
        #expect(await comesTrue { fixture.begun.value == 3 })
        await fixture.scheduler.stop()
    }

    @Test func `a flickering network does not cause repeated syncs`() async throws {
        var plan = SchedulePlan(.init(), network: .up, at: .distantPast, random: { 0 })
        plan.began()
        plan.ended(SyncOutcome(RemoteFailure.unreachable))
        plan.update(.down)
        plan.update(.up)
        #expect(plan.next() == .wait(until: .distantPast + 1))
        plan.advance(to: .distantPast + 1)
        #expect(plan.next() == .sync(isAsked: false))
    }

    @Test func `local changes wait for a network`() async throws {
        let fixture = try SchedulerFixture()
        await fixture.start()
        await fixture.set(.down)
        try await fixture.insert("1")
        await fixture.pass(60)
        #expect(fixture.begun.value == 1)
        await fixture.set(.up)
        #expect(await comesTrue { fixture.begun.value == 2 })
        await fixture.scheduler.waitUntilIdle()
        #expect(fixture.remote.items(in: "Card").count == 1)
        await fixture.scheduler.stop()
    }

    @Test func `the state of the network is a hint`() async throws {
        // The server is on this machine.
        let fixture = try SchedulerFixture(network: .down)
        await fixture.start()
        #expect(fixture.begun.value == 1)
        #expect(fixture.scheduler.state == .waiting(until: fixture.clock.now() + 900))
        try await fixture.change("1")
        await fixture.pass(2)
        #expect(fixture.remote.items(in: "Card").count == 1)
        // If the server was not up yet, the interval finds it.
        let other = try SchedulerFixture(network: .down)
        other.fail(.unreachable, times: 1)
        await other.start()
        try await other.insert("1")
        await other.pass(899)
        #expect(other.begun.value == 1 && other.scheduler.state == .waitingForNetwork)
        await other.pass(1)
        #expect(other.begun.value == 2)
        #expect(other.remote.items(in: "Card").count == 1)
        await fixture.scheduler.stop()
        await other.scheduler.stop()
    }

    @Test func `a metered network is not used unless the app allows it`() async throws {
        let fixture = try SchedulerFixture(network: Self.metered)
        try await fixture.insert("1")
        await fixture.start()
        await fixture.pass(2000)
        #expect(fixture.begun.value == 0 && fixture.remote.requests.isEmpty)
        #expect(fixture.scheduler.state == .waitingForUnmeteredNetwork)
        await fixture.set(.up)
        #expect(await comesTrue { fixture.begun.value == 1 })
        await fixture.scheduler.stop()

        let other = try SchedulerFixture(network: Self.metered) { $0.allowsMetered = true }
        await other.start()
        #expect(other.begun.value == 1)
        await other.scheduler.stop()
    }

    @Test func `a scheduler that leaves a metered network for none waits`() {
        var plan = SchedulePlan(.init(), network: Self.metered, at: .distantPast, random: { 0 })
        #expect(plan.next() == .wait(until: nil))
        plan.began()
        plan.ended(SyncOutcome(RemoteFailure.unreachable))
        plan.update(.down)
        #expect(plan.state == .waitingForNetwork)
        plan.update(Self.metered)
        #expect(plan.next() == .wait(until: nil))
        plan.update(.up)
        plan.advance(to: plan.now + 1)
        #expect(plan.next() == .sync(isAsked: false))
    }

    @Test func `a network that returns during a failing sync causes another at once`() {
        var plan = SchedulePlan(.init(), network: .down, at: .distantPast, random: { 0 })
        plan.began()
        plan.update(.up)
        plan.ended(SyncOutcome(RemoteFailure.unreachable))
        #expect(plan.next() == .wait(until: .distantPast + 1))
        plan.began()
        plan.update(.down)
        plan.update(.up)
        plan.ended(SyncOutcome(SyncResult()))
        // A successful sync does not.
        #expect(plan.next() == .wait(until: .distantPast + 900))
    }
}
