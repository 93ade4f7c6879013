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
        let desk = try SchedulerFixture()
        desk.fail(.unreachable, times: 3)
        await desk.start()
        await desk.pass(5 + 10)
        #expect(desk.begun.value == 3)
        await desk.pass(3)
        await desk.set(.down)
        await desk.set(.up)
        #expect(await comesTrue { desk.begun.value == 4 })
        await desk.scheduler.waitUntilIdle()
        // The wait begins again.
        desk.fail(.unreachable, times: 1)
        desk.scheduler.syncNow()
        await desk.scheduler.waitUntilIdle()
        #expect(desk.scheduler.state == .waiting(until: desk.clock.now() + 5))
        await desk.scheduler.stop()
    }

    /// Another network has no credentials, but the app has.
    @Test func `a returning network does not end the wait for the app`() async throws {
        let desk = try SchedulerFixture()
        try await desk.insert("1")
        desk.fail(.unauthenticated(status: 401, underlying: nil), times: 1)
        await desk.start()
        await desk.pass(10)
        await desk.set(.down)
        await desk.set(.up)
        await desk.pass(60)
        #expect(desk.begun.value == 1 && desk.remote.requests.count == 1)
        #expect(desk.scheduler.state == .waiting(until: desk.clock.now() + 830))
        desk.scheduler.syncNow()
        await desk.scheduler.waitUntilIdle()
        #expect(desk.begun.value == 2 && desk.remote.items(in: "Card").count == 1)
        await desk.scheduler.stop()
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
        let desk = try SchedulerFixture(network: NetworkState(reach: .local))
        desk.fail(.unreachable, times: 2)
        await desk.start()
        // A local network counts: the server may be in it.
        await desk.pass(5)
        #expect(desk.begun.value == 2)
        await desk.pass(2)
        desk.network.set(.up)
        #expect(await comesTrue { desk.begun.value == 3 })
        await desk.scheduler.stop()
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
        let desk = try SchedulerFixture()
        await desk.start()
        await desk.set(.down)
        try await desk.insert("1")
        await desk.pass(60)
        #expect(desk.begun.value == 1)
        await desk.set(.up)
        #expect(await comesTrue { desk.begun.value == 2 })
        await desk.scheduler.waitUntilIdle()
        #expect(desk.remote.items(in: "Card").count == 1)
        await desk.scheduler.stop()
    }

    @Test func `the state of the network is a hint`() async throws {
        // The server is on this machine.
        let desk = try SchedulerFixture(network: .down)
        await desk.start()
        #expect(desk.begun.value == 1)
        #expect(desk.scheduler.state == .waiting(until: desk.clock.now() + 900))
        try await desk.change("1")
        await desk.pass(2)
        #expect(desk.remote.items(in: "Card").count == 1)
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
        await desk.scheduler.stop()
        await other.scheduler.stop()
    }

    @Test func `a metered network is not used unless the app allows it`() async throws {
        let desk = try SchedulerFixture(network: Self.metered)
        try await desk.insert("1")
        await desk.start()
        await desk.pass(2000)
        #expect(desk.begun.value == 0 && desk.remote.requests.isEmpty)
        #expect(desk.scheduler.state == .waitingForUnmeteredNetwork)
        await desk.set(.up)
        #expect(await comesTrue { desk.begun.value == 1 })
        await desk.scheduler.stop()

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
