import Foundation
import LocalStoreSupport
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
        let fixtures = try stores(in: folder, clock).map { store in
            // Each pull succeeds and each push fails, so that each attempt writes to the queue.
            try SchedulerFixture(store: store, clock: clock, body: { try await $0.synchronize([]) })
        }
        let failure = isPlainlyDead ? RemoteFailure.lost(RemoteFailure.Broken()) : .nonsense
        for fixture in fixtures { fixture.fail(failure, times: 1000) }
        try await fixtures[0].insert("1")
        for fixture in fixtures { await fixture.start() }
        #expect(fixtures.map(\.begun.value) == [1, 1])
        for round in 2...4 {
            guard case .waiting(let date?) = fixtures[0].scheduler.state else { break }
            // Each observes the other's writes, checks the queue, and finds no change.
            let checks = fixtures.map(\.scheduler.checkCount.value)
            let haveChecked = await comesTrue {
                // Local changes wait until all pauses end.
                if isPlainlyDead { return true }
                if let alarm = clock.alarms.first, alarm < date {
                    clock.advance(by: .seconds(alarm.timeIntervalSince(clock.now())))
                    for fixture in fixtures { await fixture.scheduler.waitUntilIdle() }
                }
                return zip(fixtures, checks).allSatisfy { $0.scheduler.checkCount.value > $1 }
            }
            #expect(haveChecked && fixtures.map(\.begun.value) == [round - 1, round - 1])
            clock.advance(by: .seconds(date.timeIntervalSince(clock.now())))
            for fixture in fixtures { await fixture.scheduler.waitUntilIdle() }
            #expect(fixtures.map(\.begun.value) == [round, round])
        }
        // Later observations cause no sync before the next pause of 40 seconds ends.
        for _ in 0..<39 {
            clock.advance(by: .seconds(1))
            for fixture in fixtures { await fixture.scheduler.waitUntilIdle() }
            try await Task.sleep(for: .milliseconds(5))
        }
        #expect(fixtures.map(\.begun.value) == [4, 4])
        for fixture in fixtures { await fixture.scheduler.stop() }
        #expect(try fixtures[0].store.operations.count() == 1)
    }

    @Test func `another process's failed attempt does not cause an attempt`() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let clock = ManualSyncClock()
        let stores = try stores(in: folder, clock)
        let fixture = try SchedulerFixture(store: stores[0], clock: clock) { $0.firstRetry = .seconds(600) }
        let other = try SchedulerFixture(store: stores[1], clock: clock)
        try await fixture.insert("1")
        // A failure that leaves the operation in the queue, and blocks nothing else.
        fixture.remote.next(.fail(.nonsense), on: .insert)
        let start = clock.now()
        await fixture.start()
        await fixture.pass(5)
        #expect(fixture.begun.value == 1)
        let (checks, alarms) = (fixture.scheduler.checkCount.value, clock.alarms)
        other.fail(.nonsense, times: 1)
        _ = try await other.sync.push()
        #expect(other.remote.requests.count == 1)
        // The write is observed and checked, without a sync.
        #expect(await comesTrue { clock.alarms != alarms })
        // Each commit is observed, and each check waits afterwards.
        for _ in 0..<20 where fixture.scheduler.checkCount.value == checks { await fixture.pass(1) }
        #expect(fixture.scheduler.checkCount.value > checks && fixture.begun.value == 1)
        await fixture.pass(599 - Int(clock.now().timeIntervalSince(start)))
        #expect(fixture.begun.value == 1)
        await fixture.pass(1)
        #expect(fixture.begun.value == 2 && fixture.remote.items(in: "Card").count == 1)
        await fixture.scheduler.stop()
    }

    @Test func `another process's changes are sent by this one`() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let clock = ManualSyncClock()
        let stores = try stores(in: folder, clock)
        let fixture = try SchedulerFixture(store: stores[0], clock: clock)
        await fixture.start()
        await fixture.pass(3)
        let alarms = clock.alarms
        _ = try await stores[1].write { try $0.insert(Card(shop: "Лента", barcode: "1")) }
        #expect(await comesTrue { clock.alarms != alarms })
        for _ in 0..<20 where fixture.begun.value == 1 { await fixture.pass(1) }
        #expect(fixture.begun.value == 2 && fixture.remote.items(in: "Card").count == 1)
        await fixture.scheduler.stop()
    }

    @Test func `a scheduler waits while another process syncs and tries again`() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let clock = ManualSyncClock()
        let fixture = try SchedulerFixture(store: try stores(in: folder, clock)[0], clock: clock)
        // flock distinguishes open files, not processes, so this represents another process.
        let path = try #require(fixture.sync.store.lockPath)
        let lock = try #require(try ProcessLock.acquire(at: path))
        fixture.scheduler.start()
        while fixture.ended.value == 0 {
            // It retries until its timeout.
            #expect(await comesTrue { !clock.alarms.isEmpty })
            clock.advance(by: .milliseconds(50))
        }
        await fixture.scheduler.waitUntilIdle()
        #expect(fixture.remote.requests.isEmpty)
        #expect((fixture.scheduler.lastError as? SyncError)?.code == .busy)
        lock.release()
        await fixture.pass(5)
        #expect(fixture.begun.value == 2 && fixture.remote.requests.count == 1 && fixture.scheduler.lastError == nil)
        await fixture.scheduler.stop()
    }

    @Test func `a stop ends the wait for another process`() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let clock = ManualSyncClock()
        let fixture = try SchedulerFixture(store: try stores(in: folder, clock)[0], clock: clock)
        let path = try #require(fixture.sync.store.lockPath)
        let lock = try #require(try ProcessLock.acquire(at: path))
        fixture.scheduler.start()
        #expect(await comesTrue { clock.alarms.count == 1 })
        await fixture.scheduler.stop()
        #expect(fixture.ended.value == 1 && clock.alarms.isEmpty)
        lock.release()
        // It has not left its own lock.
        try #require(try ProcessLock.acquire(at: path)).release()
    }

    @Test func `an attempted operation is not a new change`() async throws {
        let fixture = try SchedulerFixture()
        func marks() async throws -> OperationMarks { try await fixture.sync.store.read { try $0.operationMarks() } }
        var tried = OperationMarks()
        #expect(try await !marks().hasNews(since: tried))
        let cards = [try await fixture.insert("1"), try await fixture.insert("2")]
        #expect(try await marks().hasNews(since: tried))
        tried = try await marks()
        #expect(try await !marks().hasNews(since: tried))
        // A failed attempt.
        let first = try #require(try fixture.store.operations.operation(of: cards[0])).id
        let attempt = try await fixture.store.write { try $0.beginAttempt(first).attempts }
        #expect(try await !marks().hasNews(since: tried))
        let problem = OperationError(message: "no", at: fixture.clock.now())
        _ = try await fixture.store.write { try $0.sync.fail(first, attempt: attempt, with: problem, retry: true) }
        #expect(try await !marks().hasNews(since: tried))
        // A completed one.
        let second = try #require(try fixture.store.operations.operation(of: cards[1])).id
        try await fixture.store.write { tx in
            _ = try tx.beginAttempt(second)
            try tx.acknowledge(second, serverID: "s", version: "1")
        }
        #expect(try await !marks().hasNews(since: tried))
        // An edit of a pending object, and one of a completed one.
        fixture.clock.advance(by: .seconds(1))
        try await fixture.store.write { _ = try $0.update(Card.self, localID: cards[0].localID) { $0.points = 1 } }
        #expect(try await marks().hasNews(since: tried))
        tried = try await marks()
        try await fixture.store.write { _ = try $0.update(Card.self, localID: cards[1].localID) { $0.points = 1 } }
        #expect(try await marks().hasNews(since: tried))
        // A rejected one that the user sends again.
        tried = try await marks()
        try await fixture.store.write { try $0.fail(first, with: problem, retry: false) }
        #expect(try await !marks().hasNews(since: tried))
        tried.retain(try await marks())
        try await fixture.store.write { try $0.sync.release(first) }
        #expect(try await marks().hasNews(since: tried))
        // Any store returns the same marks.
        let all = try await fixture.sync.store.read { try $0.operations(after: nil, limit: 100) }
        #expect(try await marks() == OperationMarks(of: all))
    }
}
