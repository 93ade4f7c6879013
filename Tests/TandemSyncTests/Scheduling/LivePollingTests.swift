import Foundation
import Synchronization
import Tandem
import TandemTesting
import TestSupport
import Testing

@testable import TandemSync

/// A scheduler that polls the server for changes, and pulls the tables whose tags have changed.
@Suite(.ownThreads, .timeLimit(.minutes(10))) struct LivePollingTests {
    /// A device whose scheduler polls every 5 to 60 seconds. Its clock and its network only change on request.
    private final class Device: ScheduledDevice {
        let clock = ManualSyncClock()
        let network = ManualNetworkMonitor(.up)
        let store: Store
        let sync: SyncContext
        let scheduler: SyncScheduler

        init(
            _ remote: any Remote, pulls: [PullQuery],
            _ change: (inout SyncScheduler.Options) -> Void = { _ in }
        ) throws {
            store = try Store(inMemoryModels: [Person.self, Card.self, Pet.self])
            var options = SyncContext.Options()
            options.clock = clock
            options.random = { 0 }
            options.retry.tries = 1
            sync = SyncContext(store: store, remote: remote, options: options)
            var schedule = SyncScheduler.Options()
            schedule.interval = nil
            schedule.polling = .seconds(5) ... .seconds(60)
            change(&schedule)
            scheduler = SyncScheduler(sync, pulls: pulls, options: schedule, network: network)
        }
    }

    private static let pulls = [PullQuery(Card.self, queryID: "cards"), PullQuery(Person.self, queryID: "people")]

    private func device(
        _ change: (inout SyncScheduler.Options) -> Void = { _ in }
    ) throws -> (ScriptedRemote, Device) {
        let remote = ScriptedRemote(traits: .changeTags)
        return (remote, try Device(remote, pulls: Self.pulls, change))
    }

    /// Returns a device after 20 seconds: both tables are known, and the next poll is due at 40.
    private func idleDevice(
        _ change: (inout SyncScheduler.Options) -> Void = { _ in }
    ) async throws -> (ScriptedRemote, Device) {
        let (remote, device) = try device(change)
        await device.start()
        await device.pass(20)
        remote.forgetRequests()
        return (remote, device)
    }

    private func write(_ id: String, to remote: ScriptedRemote) {
        remote.edit("Card", id: ServerID(id)) { item in
            item.set(.text("Лента"), of: "shop")
            item.set(.text(id), of: "barcode")
        }
    }

    /// The tables whose pages were requested, in order.
    private func pages(_ remote: ScriptedRemote) -> [String] {
        remote.requests.filter { $0.kind == .page }.map(\.table.rawValue)
    }

    private func polls(_ remote: ScriptedRemote) -> Int {
        remote.requests.filter { $0.kind == .changeTag && $0.table == "Card" }.count
    }

    // MARK: The interval

    @Test func `an idle server is polled at a growing interval`() async throws {
        let (remote, device) = try device()
        await device.start()
        var (times, pageTimes) = ([Int](), [Int]())
        for second in 1...200 {
            let before = (polls(remote), pages(remote).count)
            await device.pass(1)
            if polls(remote) > before.0 { times.append(second) }
            if pages(remote).count > before.1 { pageTimes.append(second) }
        }
        #expect(times == [5, 10, 20, 40, 80, 140, 200])
        // The first poll has no tags to compare with, and a changed table is pulled once more.
        #expect(pageTimes == [5, 10])
        #expect(pages(remote).count == 6)
        await device.scheduler.stop()
    }

    @Test func `a change arrives with the next poll and alone`() async throws {
        let (remote, device) = try await idleDevice()
        await device.pass(1)
        write("a", to: remote)
        await device.pass(18)
        #expect(try await device.store.objects(Card.self).count() == 0 && remote.requests.isEmpty)
        await device.pass(1)
        #expect(try await device.store.objects(Card.self).count() == 1 && pages(remote) == ["Card"])
        // The interval is short again. The table is pulled once more, and then no more.
        await device.pass(5)
        #expect(pages(remote) == ["Card", "Card"] && polls(remote) == 2)
        await device.pass(10)
        #expect(pages(remote) == ["Card", "Card"] && polls(remote) == 3)
        await device.scheduler.stop()
    }

    @Test func `the interval stays short while there are changes`() async throws {
        let (remote, device) = try await idleDevice()
        for number in 0..<5 {
            write("\(number)", to: remote)
            await device.pass(number == 0 ? 20 : 5)
            #expect(try await device.store.objects(Card.self).count() == number + 1)
        }
        #expect(polls(remote) == 5)
        await device.scheduler.stop()
    }

    @Test func `a scheduler without the option does not poll`() async throws {
        let (remote, device) = try device { $0.polling = nil }
        await device.start()
        await device.pass(100)
        #expect(polls(remote) == 0 && pages(remote).count == 2)
        await device.scheduler.stop()
    }

    @Test func `a range of zero polls once a second at most`() async throws {
        let (remote, device) = try device { $0.polling = .zero ... .zero }
        await device.start()
        remote.forgetRequests()
        await device.pass(10)
        #expect((5...10).contains(polls(remote)), "\(polls(remote))")
        await device.scheduler.stop()
    }

    @Test func `the first poll pulls even if no sync was made at the start`() async throws {
        let (remote, device) = try device { $0.syncsAtStart = false }
        write("a", to: remote)
        await device.start()
        await device.pass(4)
        #expect(remote.requests.isEmpty)
        await device.pass(1)
        #expect(try await device.store.objects(Card.self).count() == 1)
        await device.scheduler.stop()
    }

    @Test func `a server without tags is polled once`() async throws {
        let server = PagedServer()
        let device = try Device(server, pulls: [PullQuery(Pet.self, queryID: "pets")])
        await device.start()
        await device.pass(100)
        #expect(server.state.withLock(\.tagRequests) == 1 && server.requests.count == 1)
        await device.scheduler.stop()
    }

    // MARK: Tags

    /// The server's tag includes a change that its pages do not have yet.
    @Test func `a change that is committed after its tag arrives with the next poll`() async throws {
        let server = PagedServer()
        server.change { $0.tag = "1" }
        let device = try Device(server, pulls: [PullQuery(Pet.self, queryID: "pets")])
        await device.start()
        await device.pass(20)
        server.change { $0.tag = "2" }
        await device.pass(20)
        #expect(try await device.store.objects(Pet.self).count() == 0)
        server.change { $0.write("a", "late", late: 1000) }
        await device.pass(5)
        #expect(try await device.store.objects(Pet.self).count() == 1)
        let requests = server.requests.count
        await device.pass(100)
        #expect(server.requests.count == requests)
        await device.scheduler.stop()
    }

    @Test func `a failed pull is repeated although the tag is the same`() async throws {
        let (remote, device) = try await idleDevice()
        write("a", to: remote)
        remote.next(.fail(.refused(status: 403, message: "no")), on: .page)
        await device.pass(20)
        #expect(pages(remote) == ["Card"])
        #expect(try await device.store.objects(Card.self).count() == 0)
        await device.pass(5)
        #expect(pages(remote) == ["Card", "Card"])
        #expect(try await device.store.objects(Card.self).count() == 1)
        await device.scheduler.stop()
    }

    /// Otherwise a table that this user may not read would be requested at the shortest interval, without end.
    @Test func `a pull that always fails does not keep the interval short`() async throws {
        let (remote, device) = try await idleDevice()
        write("a", to: remote)
        for _ in 0..<100 { remote.next(.fail(.refused(status: 403, message: "no")), on: .page) }
        await device.pass(180)
        // At 40, 45, 55, 75, 115 and 175 seconds after the start.
        #expect(pages(remote) == Array(repeating: "Card", count: 6))
        await device.scheduler.stop()
    }

    @Test func `a pull that the server was too busy for is retried as all syncs are`() async throws {
        let (remote, device) = try await idleDevice()
        write("a", to: remote)
        remote.next(.fail(.later(status: 503, retryAfter: nil)), on: .page)
        await device.pass(20)
        #expect(pages(remote) == ["Card"])
        // The retry is a sync of everything. The tag is forgotten, so that the poll after it pulls again.
        await device.pass(5)
        #expect(pages(remote) == ["Card", "Card", "Person"])
        #expect(try await device.store.objects(Card.self).count() == 1)
        await device.pass(1)
        #expect(pages(remote) == ["Card", "Card", "Person", "Card"])
        await device.scheduler.stop()
    }

    @Test func `a failed poll forgets no tags`() async throws {
        let (remote, device) = try await idleDevice()
        remote.next(.fail(.lost(URLError(.timedOut))), on: .changeTag)
        await device.pass(20)
        // The other table is not asked: the server may be down.
        #expect(remote.requests.map(\.kind) == [.changeTag])
        await device.pass(60)
        #expect(remote.requests.map(\.kind) == [.changeTag, .changeTag, .changeTag] && pages(remote).isEmpty)
        await device.scheduler.stop()
    }

    @Test func `a table that can't be polled does not prevent the others`() async throws {
        let (remote, device) = try await idleDevice()
        remote.edit("Person", id: "p") { $0.set(.text("Ада"), of: "name") }
        remote.next(.fail(.notFound), on: RequestMatch { $0.kind == .changeTag && $0.table == "Card" })
        await device.pass(20)
        #expect(pages(remote) == ["Person"])
        #expect(try await device.store.objects(Person.self).count() == 1)
        await device.scheduler.stop()
    }

    // MARK: When a scheduler does not poll

    @Test func `a backoff of the server delays polls`() async throws {
        let (remote, device) = try await idleDevice()
        remote.setBackoff(.seconds(60))
        try await device.sync.pull(Pet.self, queryID: "pets")
        remote.setBackoff(nil)
        await device.pass(59)
        #expect(polls(remote) == 0)
        await device.pass(1)
        #expect(polls(remote) == 1)
        await device.scheduler.stop()
    }

    @Test func `a Retry-After in the response to a poll delays polls and syncs`() async throws {
        let (remote, device) = try await idleDevice()
        remote.next(.fail(.later(status: 503, retryAfter: .seconds(100))), on: .changeTag)
        await device.pass(20)
        #expect(polls(remote) == 1)
        try await device.store.write { _ = try $0.insert(Card(shop: "Лента", barcode: "1")) }
        await device.pass(99)
        #expect(remote.requests.count == 1)
        await device.pass(1)
        #expect(remote.items(in: "Card").count == 1)
        await device.scheduler.stop()
    }

    @Test func `no poll is made before the user has signed in`() async throws {
        let (remote, device) = try await idleDevice()
        remote.next(.fail(.unauthenticated(status: 401, underlying: nil)), on: .changeTag)
        await device.pass(200)
        #expect(remote.requests.map(\.kind) == [.changeTag])
        device.scheduler.syncNow()
        await device.scheduler.waitUntilIdle()
        await device.pass(60)
        #expect(polls(remote) > 1)
        await device.scheduler.stop()
    }

    @Test func `no poll is made after a sync without a user`() async throws {
        let (remote, device) = try device()
        remote.next(.fail(.unauthenticated(status: 401, underlying: nil)), on: .page)
        await device.start()
        await device.pass(800)
        #expect(remote.requests.count == 1)
        device.scheduler.syncNow()
        await device.scheduler.waitUntilIdle()
        await device.pass(5)
        #expect(polls(remote) == 1)
        await device.scheduler.stop()
    }

    @Test(arguments: [NetworkState.down, NetworkState(isMetered: true)])
    func `no poll is made without a network that may be used`(network: NetworkState) async throws {
        let (remote, device) = try await idleDevice()
        device.network.set(network)
        let isSeen = await comesTrue {
            switch device.scheduler.state {
            case .waitingForNetwork, .waitingForUnmeteredNetwork: true
            default: false
            }
        }
        #expect(isSeen)
        await device.pass(100)
        #expect(remote.requests.isEmpty)
        write("a", to: remote)
        device.network.set(.up)
        // The return of the network causes a sync, and then polls.
        #expect(await comesTrue { remote.requests.contains { $0.kind == .page } })
        await device.pass(60)
        #expect(polls(remote) > 0)
        #expect(try await device.store.objects(Card.self).count() == 1)
        await device.scheduler.stop()
    }

    @Test func `a stopped scheduler ends its poll`() async throws {
        let (remote, device) = try await idleDevice()
        remote.next(.hang, on: .changeTag)
        await device.pass(19)
        device.clock.advance(by: .seconds(1))
        // The wait makes the scheduler read the clock, even if its timer began to sleep too late.
        let idle = Task { await device.scheduler.waitUntilIdle() }
        #expect(await comesTrue { remote.inFlight == 1 })
        await device.scheduler.stop()
        await idle.value
        #expect(remote.inFlight == 0 && remote.requests.count == 1)
        await device.pass(100)
        #expect(remote.requests.count == 1)
        // The tags do not survive: the next start compares with nothing.
        await device.start()
        await device.pass(5)
        #expect(pages(remote) == ["Card", "Person", "Card", "Person"])
        await device.scheduler.stop()
    }

    /// Otherwise a request that never ends would make a test hang, whatever its time limit.
    @Test func `a cancelled wait for the scheduler ends`() async throws {
        let (remote, device) = try await idleDevice()
        remote.next(.hang, on: .changeTag)
        device.clock.advance(by: .seconds(20))
        let isOver = Synchronized(false)
        let idle = Task {
            await device.scheduler.waitUntilIdle()
            isOver.change { $0 = true }
        }
        #expect(await comesTrue { remote.inFlight == 1 })
        #expect(!isOver.value)
        idle.cancel()
        #expect(await comesTrue { isOver.value })
        #expect(remote.inFlight == 1)
        await device.scheduler.stop()
    }

    // MARK: Other syncs

    @Test func `polls do not delay the sync of all tables`() async throws {
        let (remote, device) = try device { $0.interval = .seconds(60) }
        await device.start()
        for number in 0..<11 {
            write("\(number)", to: remote)
            await device.pass(5)
        }
        await device.pass(4)
        #expect(pages(remote).filter { $0 == "Person" }.count == 3)
        #expect(pages(remote).filter { $0 == "Card" }.count >= 11)
        await device.pass(1)
        #expect(pages(remote).filter { $0 == "Person" }.count == 4)
        await device.scheduler.stop()
    }

    @Test func `local changes are sent while the tables are polled`() async throws {
        let (remote, device) = try await idleDevice()
        try await device.store.write { _ = try $0.insert(Card(shop: "Лента", barcode: "1")) }
        await device.scheduler.waitUntilIdle()
        await device.pass(2)
        #expect(remote.items(in: "Card").count == 1)
        await device.pass(58)
        let requests = remote.requests.filter { $0.kind == .page }.count
        // The change of the tag by the own write is followed by two pulls, not more.
        await device.pass(200)
        #expect(remote.requests.filter { $0.kind == .page }.count == requests)
        await device.scheduler.stop()
    }

    @Test func `a sync of the app's own pulls only the changed tables`() async throws {
        let fixture = try SchedulerFixture(
            remote: ScriptedRemote(traits: .changeTags),
            { options in
                options.polling = .seconds(5) ... .seconds(60)
                options.interval = nil
            },
            body: { try await $0.synchronize(Self.pulls) })
        await fixture.start()
        await fixture.pass(20)
        fixture.remote.forgetRequests()
        let begun = fixture.begun.value
        fixture.remote.edit("Person", id: "p") { $0.set(.text("Ада"), of: "name") }
        await fixture.pass(20)
        #expect(pages(fixture.remote) == ["Person"] && fixture.begun.value == begun + 1)
        // A sync that the app requests pulls all tables.
        fixture.scheduler.syncNow()
        await fixture.scheduler.waitUntilIdle()
        #expect(pages(fixture.remote).suffix(2) == ["Card", "Person"])
        await fixture.scheduler.stop()
    }
}
