import Foundation
import Tandem
import TandemTesting
import TestSupport
import Testing

@testable import TandemSync

/// Schedulers of several processes on one store. Two stores on one file represent them, because they share no state.
@Suite(.startsProcesses, .ownThreads, .timeLimit(.minutes(10))) struct SchedulerProcessTests {
    private func stores(in folder: borrowing TemporaryFolder, _ clock: ManualSyncClock) throws -> [Store] {
        try (0..<2).map { _ in
            var configuration = Store.Configuration()
            configuration.now = { clock.now() }
            return try Store(
                at: folder.path(of: "a.tandem"), models: [Person.self, Card.self, Pet.self],
                configuration: configuration)
        }
    }

    /// The first kind of failure shows that nothing else can succeed. The second does not.
    @Test(arguments: [true, false])
    func `two processes with an unavailable server do not wake each other`(isPlainlyDead: Bool) async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let clock = ManualSyncClock()
        let desks = try stores(in: folder, clock).map { store in
            // Each pull succeeds and each push fails, so that each attempt writes to the queue.
            try SchedulerFixture(store: store, clock: clock, body: { try await $0.synchronize([]) })
        }
        let failure = isPlainlyDead ? RemoteFailure.lost(RemoteFailure.Broken()) : .nonsense
        for desk in desks { desk.fail(failure, times: 1000) }
        try await desks[0].insert("1")
        for desk in desks { await desk.start() }
        #expect(desks.map(\.begun.value) == [1, 1])
        for round in 2...4 {
            guard case .waiting(let date?) = desks[0].scheduler.state else { break }
            // Each observes the other's writes, checks the queue, and finds no change.
            let looks = desks.map(\.scheduler.checkCount.value)
            let haveLooked = await comesTrue {
                // Local changes wait until all pauses end.
                if isPlainlyDead { return true }
                if let alarm = clock.alarms.first, alarm < date {
                    clock.advance(by: .seconds(alarm.timeIntervalSince(clock.now())))
                    for desk in desks { await desk.scheduler.waitUntilIdle() }
                }
                return zip(desks, looks).allSatisfy { $0.scheduler.checkCount.value > $1 }
            }
            #expect(haveLooked && desks.map(\.begun.value) == [round - 1, round - 1])
            clock.advance(by: .seconds(date.timeIntervalSince(clock.now())))
            for desk in desks { await desk.scheduler.waitUntilIdle() }
            #expect(desks.map(\.begun.value) == [round, round])
        }
        // Later observations cause no sync before the next pause of 40 seconds ends.
        for _ in 0..<39 {
            clock.advance(by: .seconds(1))
            for desk in desks { await desk.scheduler.waitUntilIdle() }
            try await Task.sleep(for: .milliseconds(5))
        }
        #expect(desks.map(\.begun.value) == [4, 4])
        for desk in desks { await desk.scheduler.stop() }
        #expect(try desks[0].store.operations.count() == 1)
    }

    @Test func `another process's failed attempt does not cause an attempt`() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let clock = ManualSyncClock()
        let stores = try stores(in: folder, clock)
        let desk = try SchedulerFixture(store: stores[0], clock: clock) { $0.firstRetry = .seconds(600) }
        let other = try SchedulerFixture(store: stores[1], clock: clock)
        try await desk.insert("1")
        // A failure that leaves the operation in the queue, and blocks nothing else.
        desk.remote.next(.fail(.nonsense), on: .insert)
        let start = clock.now()
        await desk.start()
        await desk.pass(5)
        #expect(desk.begun.value == 1)
        let (looks, alarms) = (desk.scheduler.checkCount.value, clock.alarms)
        other.fail(.nonsense, times: 1)
        _ = try await other.sync.push()
        #expect(other.remote.requests.count == 1)
        // The write is observed and checked, without a sync.
        #expect(await comesTrue { clock.alarms != alarms })
        // Each commit is observed, and each check waits afterwards.
        for _ in 0..<20 where desk.scheduler.checkCount.value == looks { await desk.pass(1) }
        #expect(desk.scheduler.checkCount.value > looks && desk.begun.value == 1)
        await desk.pass(599 - Int(clock.now().timeIntervalSince(start)))
        #expect(desk.begun.value == 1)
        await desk.pass(1)
        #expect(desk.begun.value == 2 && desk.remote.items(in: "Card").count == 1)
        await desk.scheduler.stop()
    }

    @Test func `another process's changes are sent by this one`() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let clock = ManualSyncClock()
        let stores = try stores(in: folder, clock)
        let desk = try SchedulerFixture(store: stores[0], clock: clock)
        await desk.start()
        await desk.pass(3)
        let alarms = clock.alarms
        _ = try await stores[1].write { try $0.insert(Card(shop: "Лента", barcode: "1")) }
        #expect(await comesTrue { clock.alarms != alarms })
        for _ in 0..<20 where desk.begun.value == 1 { await desk.pass(1) }
        #expect(desk.begun.value == 2 && desk.remote.items(in: "Card").count == 1)
        await desk.scheduler.stop()
    }

    @Test func `a scheduler waits while another process syncs and tries again`() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let clock = ManualSyncClock()
        let desk = try SchedulerFixture(store: try stores(in: folder, clock)[0], clock: clock)
        // flock distinguishes open files, not processes, so this represents another process.
        let path = try #require(desk.sync.store.lockPath)
        let lock = try #require(try ProcessLock.acquire(at: path))
        desk.scheduler.start()
        while desk.ended.value == 0 {
            // It retries until its timeout.
            #expect(await comesTrue { !clock.alarms.isEmpty })
            clock.advance(by: .milliseconds(50))
        }
        await desk.scheduler.waitUntilIdle()
        #expect(desk.remote.requests.isEmpty)
        #expect((desk.scheduler.lastError as? SyncError)?.code == .busy)
        lock.release()
        await desk.pass(5)
        #expect(desk.begun.value == 2 && desk.remote.requests.count == 1 && desk.scheduler.lastError == nil)
        await desk.scheduler.stop()
    }

    @Test func `a stop ends the wait for another process`() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let clock = ManualSyncClock()
        let desk = try SchedulerFixture(store: try stores(in: folder, clock)[0], clock: clock)
        let path = try #require(desk.sync.store.lockPath)
        let lock = try #require(try ProcessLock.acquire(at: path))
        desk.scheduler.start()
        #expect(await comesTrue { clock.alarms.count == 1 })
        await desk.scheduler.stop()
        #expect(desk.ended.value == 1 && clock.alarms.isEmpty)
        lock.release()
        // It has not left its own lock.
        try #require(try ProcessLock.acquire(at: path)).release()
    }

    @Test func `an attempted operation is not a new change`() async throws {
        let desk = try SchedulerFixture()
        func marks() async throws -> OperationMarks { try await desk.sync.store.read { try $0.operationMarks() } }
        var tried = OperationMarks()
        #expect(try await !marks().hasNews(since: tried))
        let cards = [try await desk.insert("1"), try await desk.insert("2")]
        #expect(try await marks().hasNews(since: tried))
        tried = try await marks()
        #expect(try await !marks().hasNews(since: tried))
        // A failed attempt.
        let first = try #require(try desk.store.operations.operation(of: cards[0])).id
        let attempt = try await desk.store.write { try $0.beginAttempt(first).attempts }
        #expect(try await !marks().hasNews(since: tried))
        let problem = OperationError(message: "no", at: desk.clock.now())
        _ = try await desk.store.write { try $0.sync.fail(first, attempt: attempt, with: problem, retry: true) }
        #expect(try await !marks().hasNews(since: tried))
        // A completed one.
        let second = try #require(try desk.store.operations.operation(of: cards[1])).id
        try await desk.store.write { tx in
            _ = try tx.beginAttempt(second)
            try tx.acknowledge(second, serverID: "s", version: "1")
        }
        #expect(try await !marks().hasNews(since: tried))
        // An edit of a pending object, and one of a completed one.
        desk.clock.advance(by: .seconds(1))
        try await desk.store.write { _ = try $0.update(Card.self, localID: cards[0].localID) { $0.points = 1 } }
        #expect(try await marks().hasNews(since: tried))
        tried = try await marks()
        try await desk.store.write { _ = try $0.update(Card.self, localID: cards[1].localID) { $0.points = 1 } }
        #expect(try await marks().hasNews(since: tried))
        // A rejected one that the user sends again.
        tried = try await marks()
        try await desk.store.write { try $0.fail(first, with: problem, retry: false) }
        #expect(try await !marks().hasNews(since: tried))
        tried.retain(try await marks())
        try await desk.store.write { try $0.sync.release(first) }
        #expect(try await marks().hasNews(since: tried))
        // Any store returns the same marks.
        let all = try await desk.sync.store.read { try $0.operations(after: nil, limit: 100) }
        #expect(try await marks() == OperationMarks(all))
    }
}
