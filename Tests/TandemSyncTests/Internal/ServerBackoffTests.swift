import Foundation
import Tandem
import TandemTesting
import TestSupport
import Testing

@testable import TandemSync

/// A pause requested by a server applies to all requests of a context.
@Suite(.ownThreads, .timeLimit(.minutes(10))) struct ServerBackoffTests {
    private static func patience(_ seconds: Int) -> RemoteFault {
        .fail(.later(status: 429, retryAfter: .seconds(seconds)))
    }

    private static let queries = [
        PullQuery(Card.self, queryID: "cards"), PullQuery(Person.self, queryID: "people"),
        PullQuery(Pet.self, queryID: "pets"),
    ]

    private func error(_ body: () async throws -> Void) async -> SyncError? {
        do {
            try await body()
            return nil
        } catch {
            return error as? SyncError
        }
    }

    private func isLater(_ error: SyncError?, _ date: Date, _ table: String) -> Bool {
        error.map { $0.code == .later && $0.retryAt == date && $0.table == table && $0.url != nil } ?? false
    }

    /// Direct reads of the server's rows record a pause too, but ignore it.
    @Test func `a pause reported to a remote table applies`() async throws {
        for asks in [0, 1, 2] {
            let desk = try Desk()
            let cards = try desk.sync.remoteTable(Card.self)
            desk.remote.next(Self.patience(3600))
            let end = desk.clock.now() + 3600
            let error = await error {
                switch asks {
                case 0: _ = try await cards.objects().all()
                case 1: _ = try await cards.find("a")
                default: try await cards.delete(Card(shop: "Лента", barcode: "1"))
                }
            }
            #expect(isLater(error, end, "Card"))
            #expect(await self.error { try await desk.sync.pull(Card.self) }?.retryAt == end)
            #expect(desk.remote.requests.count == 1)
        }
    }

    @Test func `a pause for one table applies to the others`() async throws {
        let desk = try Desk()
        try await desk.store.write { _ = try $0.insert(Card(shop: "Лента", barcode: "1")) }
        desk.remote.next(Self.patience(3600), on: .page)
        let end = desk.clock.now() + 3600
        let result = try await desk.sync.attemptSynchronize(Self.queries)
        #expect(desk.asked == [.page])
        for (pull, table) in zip(result.pulls, ["Card", "Person", "animals"]) {
            guard case .failure(let error) = pull.outcome else {
                Issue.record("\(table) was fetched.")
                continue
            }
            #expect(isLater(error, end, table), "\(error)")
        }
        #expect(isLater(result.stoppedBy, end, "Card"))
        #expect(result.entries.map(\.outcome.name) == ["notReached"])
        #expect(try desk.operation?.state == .pending && desk.operation?.attempts == 0)
        #expect(desk.clock.now() < end, "No request has slept.")

        // The following requests are not sent until then either.
        for query in Self.queries { #expect(await error { try await desk.sync.pull(query) }?.retryAt == end) }
        #expect(isLater(try await desk.sync.attemptPush().stoppedBy, end, "Card"))
        try await desk.sync.attemptSynchronize()
        #expect(desk.asked == [.page])
        #expect(try await desk.sync.status().lastError?.contains("no requests until \(end)") == true)
        // Another context does not know the pause, and direct reads ignore it.
        #expect(try await desk.sync.remoteTable(Card.self).objects().all().isEmpty)
        desk.remote.forgetRequests()

        desk.clock.advance(by: end.timeIntervalSince(desk.clock.now()) - 31)
        #expect(await error { try await desk.sync.pull(Self.queries[1]) }?.retryAt == end && desk.asked.isEmpty)
        desk.clock.advance(by: 31)
        #expect(try await desk.sync.synchronize(Self.queries).isComplete)
        #expect(try desk.isLevel())
    }

    @Test func `a pause for an operation applies to pulls`() async throws {
        let desk = try Desk { $0.inFlight = 1 }
        try await desk.store.write { tx in
            for code in 1...3 { try tx.insert(Card(shop: "Лента", barcode: "\(code)")) }
        }
        desk.remote.next(Self.patience(3600), on: .insert)
        let end = desk.clock.now() + 3600
        let result = try await desk.sync.attemptPush()
        #expect(isLater(result.stoppedBy, end, "Card") && isLater(result.entries[0].outcome.error, end, "Card"))
        #expect(isLater(await error { try await desk.sync.pull(Person.self, queryID: "people") }, end, "Person"))
        // A pull of the same table would push first, and that is not sent either.
        #expect(isLater(await error { try await desk.sync.pull(Card.self, queryID: "cards") }, end, "Card"))
        #expect(desk.asked == [.insert])
        desk.clock.advance(by: 3600)
        try await desk.sync.pull(Card.self, queryID: "cards")
        #expect(try desk.isLevel())
    }

    @Test func `a push without operations does not wait`() async throws {
        let desk = try Desk()
        desk.remote.next(Self.patience(3600), on: .page)
        #expect(await error { try await desk.sync.pull(Card.self) } != nil)
        let result = try await desk.sync.attemptPush()
        #expect(result.stoppedBy == nil && result.entries.isEmpty)
    }

    /// Makes the server request a pause in response to a request without retries.
    private func noteShortPause(_ desk: Desk) async throws -> Date {
        desk.remote.next(Self.patience(20), on: .find)
        let end = desk.clock.now() + 20
        let cards = try desk.sync.remoteTable(Card.self)
        #expect(isLater(await error { _ = try await cards.find("a") }, end, "Card"))
        return end
    }

    @Test func `a sync waits for a short pause and requests the same page again`() async throws {
        let desk = try Desk()
        try await desk.store.write { _ = try $0.insert(Person(name: "Ада")) }
        desk.remote.next(Self.patience(20), on: .page)
        let end = desk.clock.now() + 20
        #expect(try await desk.sync.synchronize(Self.queries).isComplete)
        #expect(desk.clock.now() >= end)
        #expect(desk.asked == [.page, .page, .page, .page, .insert])
    }

    @Test func `pulls and pushes wait for a short pause recorded before`() async throws {
        let desk = try Desk()
        var end = try await noteShortPause(desk)
        try await desk.sync.pull(Card.self, queryID: "cards")
        #expect(desk.clock.now() >= end)
        try await desk.store.write { _ = try $0.insert(Person(name: "Борис")) }
        end = try await noteShortPause(desk)
        #expect(try await desk.sync.push().isComplete && desk.clock.now() >= end)
        #expect(desk.asked == [.find, .page, .find, .insert])
    }

    /// The pause is in the response to the pull's own page, or recorded before.
    @Test(arguments: [RecordedRequest.Kind.page, .find])
    func `a pull that waits for a short pause can be cancelled`(pausedBy kind: RecordedRequest.Kind) async throws {
        let clock = ManualSyncClock()
        let store = try Store(inMemoryModels: [Person.self, Card.self, Pet.self])
        let remote = ScriptedRemote(clock: ManualClock(clock.now()))
        var options = SyncContext.Options()
        options.clock = clock
        let sync = SyncContext(store: store, remote: remote, options: options)
        remote.next(Self.patience(20), on: RequestMatch { $0.kind == kind })
        if kind == .find {
            let people = try sync.remoteTable(Person.self)
            #expect(await error { _ = try await people.find("a") }?.code == .later)
        }
        let pull = Task { try await sync.pull(Person.self, queryID: "people") }
        #expect(await comesTrue { clock.alarms == [clock.now() + 20] })
        pull.cancel()
        await #expect(throws: CancellationError.self) { try await pull.value }
        #expect(clock.alarms.isEmpty && remote.requests.count == 1)
    }

    @Test func `a user's decision sends no request during a pause`() async throws {
        let desk = try Desk()
        let card = try await desk.syncedCard()
        try await desk.store.write { _ = try $0.update(Card.self, localID: card.localID) { $0.points = 2 } }
        desk.remote.next(.fail(.refused(status: 403, message: "no")), on: .update)
        let id = try #require(try await desk.sync.attemptPush().failedOperations.first?.id)
        desk.remote.next(Self.patience(3600), on: .find)
        let end = desk.clock.now() + 3600
        for _ in 1...2 { #expect(isLater(await error { try await desk.sync.takeServers(id) }, end, "Card")) }
        #expect(desk.asked == [.update, .find])
        #expect(await error { try await desk.sync.pull(Person.self) }?.retryAt == end)
    }

    @Test func `the longest pause is a day`() async throws {
        let desk = try Desk()
        desk.remote.next(Self.patience(999_999_999), on: .page)
        let end = desk.clock.now() + 86_400
        for _ in 1...2 { #expect(await error { try await desk.sync.pull(Card.self) }?.retryAt == end) }
    }

    @Test func `the longer of two pauses counts`() {
        let pause = ServerBackoff()
        let now = Date(timeIntervalSince1970: 0)
        #expect(pause.end(at: now) == nil && pause.secondsLeft(at: now, atMost: 30) == 0)
        pause.record(until: now + 100, at: now)
        pause.record(until: now + 50, at: now + 1)
        #expect(pause.end(at: now + 99) == now + 100)
        #expect(pause.end(at: now + 100) == nil)
    }

    /// A small correction of the clock changes nothing. A clock that is set back would extend the pause.
    @Test func `a clock that is set back ends the pause`() {
        let now = Date(timeIntervalSince1970: 0)
        let pause = ServerBackoff()
        pause.record(until: now + 100, at: now)
        #expect(pause.end(at: now - 59) == now + 100)
        #expect(pause.end(at: now - 61) == nil && pause.end(at: now) == nil)
        // A waiting request waits no longer than the maximum.
        pause.record(until: now + 20, at: now)
        #expect(pause.secondsLeft(at: now - 3600, atMost: 30) == 30)
        #expect(pause.secondsLeft(at: now - 3580, atMost: 30) == 10)
    }

    @Test func `a scheduler observes a pause reported to the app`() async throws {
        let desk = try SchedulerFixture()
        desk.remote.next(Self.patience(60), on: .page)
        #expect(await error { try await desk.sync.pull(Person.self, queryID: "people") }?.code == .later)
        let end = desk.clock.now() + 60
        try await desk.insert("1")
        await desk.start()
        #expect(desk.begun.value == 0 && desk.scheduler.state == .waiting(until: end))
        await desk.pass(59)
        #expect(desk.begun.value == 0 && desk.remote.requests.count == 1)
        await desk.pass(1)
        #expect(desk.begun.value == 1 && desk.remote.items(in: "Card").count == 1)
        #expect(desk.scheduler.lastError == nil)
        await desk.scheduler.stop()
    }

    /// A pause reported during another wait counts too.
    @Test func `a waiting scheduler observes a pause reported to the app`() async throws {
        let desk = try SchedulerFixture()
        await desk.start()
        await desk.pass(890)
        desk.remote.next(Self.patience(60), on: .page)
        #expect(await error { try await desk.sync.pull(Person.self, queryID: "people") }?.code == .later)
        await desk.pass(59)
        #expect(desk.begun.value == 1)
        await desk.pass(1)
        #expect(desk.begun.value == 2 && desk.scheduler.lastError == nil)
        await desk.scheduler.stop()
    }

    /// Its own syncs do not sleep: it schedules the next one.
    @Test func `a scheduler's sync ends at once`() async throws {
        let desk = try SchedulerFixture(body: { try await $0.synchronize(Self.queries) })
        try await desk.insert("1")
        desk.remote.next(Self.patience(20), on: .page)
        await desk.start()
        #expect(desk.begun.value == 1 && desk.ended.value == 1 && desk.remote.requests.count == 1)
        #expect(desk.scheduler.state == .waiting(until: desk.clock.now() + 20))
        #expect((desk.scheduler.lastError as? SyncError)?.retryAt == desk.clock.now() + 20)
        // The app's request does not end the pause, and a long pause is not slept through.
        desk.remote.next(Self.patience(3600), on: .page)
        await desk.pass(20)
        #expect(desk.begun.value == 2 && desk.remote.requests.count == 2)
        desk.scheduler.syncNow()
        await desk.scheduler.waitUntilIdle()
        #expect(desk.begun.value == 3 && desk.remote.requests.count == 2)
        await desk.scheduler.stop()
    }
}
