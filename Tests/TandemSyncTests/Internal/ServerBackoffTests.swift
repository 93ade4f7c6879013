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
            let fixture = try SyncFixture()
            let cards = try fixture.sync.remoteTable(Card.self)
            fixture.remote.next(Self.patience(3600))
            let end = fixture.clock.now() + 3600
            let error = await error {
                switch asks {
                case 0: _ = try await cards.objects().all()
                case 1: _ = try await cards.find("a")
                default: try await cards.delete(Card(shop: "Лента", barcode: "1"))
                }
            }
            #expect(isLater(error, end, "Card"))
            #expect(await self.error { try await fixture.sync.pull(Card.self) }?.retryAt == end)
            #expect(fixture.remote.requests.count == 1)
        }
    }

    @Test func `a pause for one table applies to the others`() async throws {
        let fixture = try SyncFixture()
        try await fixture.store.write { _ = try $0.insert(Card(shop: "Лента", barcode: "1")) }
        fixture.remote.next(Self.patience(3600), on: .page)
        let end = fixture.clock.now() + 3600
        let result = try await fixture.sync.attemptSynchronize(Self.queries)
        #expect(fixture.asked == [.page])
        for (pull, table) in zip(result.pulls, ["Card", "Person", "animals"]) {
            guard case .failure(let error) = pull.outcome else {
                Issue.record("\(table) was fetched.")
                continue
            }
            #expect(isLater(error, end, table), "\(error)")
        }
        #expect(isLater(result.stoppedBy, end, "Card"))
        #expect(result.entries.map(\.outcome.name) == ["notReached"])
        #expect(try fixture.operation?.state == .pending && fixture.operation?.attempts == 0)
        #expect(fixture.clock.now() < end, "No request has slept.")

        // The following requests are not sent until then either.
        for query in Self.queries { #expect(await error { try await fixture.sync.pull(query) }?.retryAt == end) }
        #expect(isLater(try await fixture.sync.attemptPush().stoppedBy, end, "Card"))
        try await fixture.sync.attemptSynchronize()
        #expect(fixture.asked == [.page])
        #expect(try await fixture.sync.status().lastError?.contains("no requests until \(end)") == true)
        // Another context does not know the pause, and direct reads ignore it.
        #expect(try await fixture.sync.remoteTable(Card.self).objects().all().isEmpty)
        fixture.remote.forgetRequests()

        fixture.clock.advance(by: end.timeIntervalSince(fixture.clock.now()) - 31)
        #expect(await error { try await fixture.sync.pull(Self.queries[1]) }?.retryAt == end && fixture.asked.isEmpty)
        fixture.clock.advance(by: 31)
        #expect(try await fixture.sync.synchronize(Self.queries).isComplete)
        #expect(try fixture.isLevel())
    }

    @Test func `a pause for an operation applies to pulls`() async throws {
        let fixture = try SyncFixture { $0.inFlight = 1 }
        try await fixture.store.write { tx in
            for code in 1...3 { try tx.insert(Card(shop: "Лента", barcode: "\(code)")) }
        }
        fixture.remote.next(Self.patience(3600), on: .insert)
        let end = fixture.clock.now() + 3600
        let result = try await fixture.sync.attemptPush()
        #expect(isLater(result.stoppedBy, end, "Card") && isLater(result.entries[0].outcome.error, end, "Card"))
        #expect(isLater(await error { try await fixture.sync.pull(Person.self, queryID: "people") }, end, "Person"))
        // A pull of the same table would push first, and that is not sent either.
        #expect(isLater(await error { try await fixture.sync.pull(Card.self, queryID: "cards") }, end, "Card"))
        #expect(fixture.asked == [.insert])
        fixture.clock.advance(by: 3600)
        try await fixture.sync.pull(Card.self, queryID: "cards")
        #expect(try fixture.isLevel())
    }

    @Test func `a push without operations does not wait`() async throws {
        let fixture = try SyncFixture()
        fixture.remote.next(Self.patience(3600), on: .page)
        #expect(await error { try await fixture.sync.pull(Card.self) } != nil)
        let result = try await fixture.sync.attemptPush()
        #expect(result.stoppedBy == nil && result.entries.isEmpty)
    }

    /// Makes the server request a pause in response to a request without retries.
    private func noteShortPause(_ fixture: SyncFixture) async throws -> Date {
        fixture.remote.next(Self.patience(20), on: .find)
        let end = fixture.clock.now() + 20
        let cards = try fixture.sync.remoteTable(Card.self)
        #expect(isLater(await error { _ = try await cards.find("a") }, end, "Card"))
        return end
    }

    @Test func `a sync waits for a short pause and requests the same page again`() async throws {
        let fixture = try SyncFixture()
        try await fixture.store.write { _ = try $0.insert(Person(name: "Ада")) }
        fixture.remote.next(Self.patience(20), on: .page)
        let end = fixture.clock.now() + 20
        #expect(try await fixture.sync.synchronize(Self.queries).isComplete)
        #expect(fixture.clock.now() >= end)
        #expect(fixture.asked == [.page, .page, .page, .page, .insert])
    }

    @Test func `pulls and pushes wait for a short pause recorded before`() async throws {
        let fixture = try SyncFixture()
        var end = try await noteShortPause(fixture)
        try await fixture.sync.pull(Card.self, queryID: "cards")
        #expect(fixture.clock.now() >= end)
        try await fixture.store.write { _ = try $0.insert(Person(name: "Борис")) }
        end = try await noteShortPause(fixture)
        #expect(try await fixture.sync.push().isComplete && fixture.clock.now() >= end)
        #expect(fixture.asked == [.find, .page, .find, .insert])
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
        let fixture = try SyncFixture()
        let card = try await fixture.syncedCard()
        try await fixture.store.write { _ = try $0.update(Card.self, localID: card.localID) { $0.points = 2 } }
        fixture.remote.next(.fail(.refused(status: 403, message: "no")), on: .update)
        let id = try #require(try await fixture.sync.attemptPush().failedOperations.first?.id)
        fixture.remote.next(Self.patience(3600), on: .find)
        let end = fixture.clock.now() + 3600
        for _ in 1...2 { #expect(isLater(await error { try await fixture.sync.takeServers(id) }, end, "Card")) }
        #expect(fixture.asked == [.update, .find])
        #expect(await error { try await fixture.sync.pull(Person.self) }?.retryAt == end)
    }

    @Test func `the longest pause is a day`() async throws {
        let fixture = try SyncFixture()
        fixture.remote.next(Self.patience(999_999_999), on: .page)
        let end = fixture.clock.now() + 86_400
        for _ in 1...2 { #expect(await error { try await fixture.sync.pull(Card.self) }?.retryAt == end) }
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
        let fixture = try SchedulerFixture()
        fixture.remote.next(Self.patience(60), on: .page)
        #expect(await error { try await fixture.sync.pull(Person.self, queryID: "people") }?.code == .later)
        let end = fixture.clock.now() + 60
        try await fixture.insert("1")
        await fixture.start()
        #expect(fixture.begun.value == 0 && fixture.scheduler.state == .waiting(until: end))
        await fixture.pass(59)
        #expect(fixture.begun.value == 0 && fixture.remote.requests.count == 1)
        await fixture.pass(1)
        #expect(fixture.begun.value == 1 && fixture.remote.items(in: "Card").count == 1)
        #expect(fixture.scheduler.lastError == nil)
        await fixture.scheduler.stop()
    }

    /// A pause reported during another wait counts too.
    @Test func `a waiting scheduler observes a pause reported to the app`() async throws {
        let fixture = try SchedulerFixture()
        await fixture.start()
        await fixture.pass(890)
        fixture.remote.next(Self.patience(60), on: .page)
        #expect(await error { try await fixture.sync.pull(Person.self, queryID: "people") }?.code == .later)
        await fixture.pass(59)
        #expect(fixture.begun.value == 1)
        await fixture.pass(1)
        #expect(fixture.begun.value == 2 && fixture.scheduler.lastError == nil)
        await fixture.scheduler.stop()
    }

    /// Its own syncs do not sleep: it schedules the next one.
    @Test func `a scheduler's sync ends at once`() async throws {
        let fixture = try SchedulerFixture(body: { try await $0.synchronize(Self.queries) })
        try await fixture.insert("1")
        fixture.remote.next(Self.patience(20), on: .page)
        await fixture.start()
        #expect(fixture.begun.value == 1 && fixture.ended.value == 1 && fixture.remote.requests.count == 1)
        #expect(fixture.scheduler.state == .waiting(until: fixture.clock.now() + 20))
        #expect((fixture.scheduler.lastError as? SyncError)?.retryAt == fixture.clock.now() + 20)
        // The app's request does not end the pause, and a long pause is not slept through.
        fixture.remote.next(Self.patience(3600), on: .page)
        await fixture.pass(20)
        #expect(fixture.begun.value == 2 && fixture.remote.requests.count == 2)
        fixture.scheduler.syncNow()
        await fixture.scheduler.waitUntilIdle()
        #expect(fixture.begun.value == 3 && fixture.remote.requests.count == 2)
        await fixture.scheduler.stop()
    }
}
