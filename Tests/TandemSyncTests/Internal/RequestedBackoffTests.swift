import Foundation
import Tandem
import TandemTesting
import TestSupport
import Testing

@testable import TandemSync

/// A backoff that a server requests with a successful response. It delays the scheduler's next requests, and nothing
/// else.
@Suite(.ownThreads, .timeLimit(.minutes(10))) struct RequestedBackoffTests {
    @Test func `a running sync and the app's next sync go on`() async throws {
        let fixture = try SyncFixture()
        for code in 1...3 { fixture.remote.edit("Card", id: ServerID("\(code)")) { $0.set(.text("x"), of: "shop") } }
        try await fixture.store.write { _ = try $0.insert(Person(name: "Ада")) }
        fixture.remote.setBackoff(.seconds(3600))
        let now = fixture.clock.now()
        try await fixture.sync.synchronize([PullQuery(Card.self, queryID: "cards"), PullQuery(Person.self)])
        try await fixture.sync.pull(Pet.self)
        #expect(fixture.asked == [.page, .page, .insert, .page])
        #expect(fixture.clock.now() == now, "No request has waited.")
        #expect(fixture.sync.pause.end(at: now) == nil && fixture.sync.pause.backoffEnd(at: now) == now + 3600)
    }

    /// The response to a page, a write, and a direct request.
    @Test(arguments: [RecordedRequest.Kind.page, .insert, .delete, .undelete])
    func `the backoff of each kind of response delays the scheduler`(kind: RecordedRequest.Kind) async throws {
        let fixture = try SchedulerFixture { $0.syncsAtStart = false }
        let id = try await fixture.insert("1").localID
        try await fixture.sync.push()
        let card = try #require(try fixture.store.object(ofType: Card.self, forPrimaryKey: id))
        await fixture.start()
        fixture.remote.setBackoff(.seconds(60))
        let cards = try fixture.sync.remoteTable(Card.self)
        switch kind {
        case .page: try await fixture.sync.pull(Person.self, queryID: "people")
        case .insert:
            try await fixture.insert("2")
            try await fixture.sync.push()
        case .delete: try await cards.delete(card)
        default:
            fixture.remote.remove("Card", id: ServerID(id.rawValue))
            _ = try await cards.undelete(card)
        }
        let end = fixture.clock.now() + 60
        fixture.remote.setBackoff(nil)
        try await fixture.change("3")
        await fixture.pass(59)
        #expect(fixture.begun.value == 0)
        await fixture.pass(1)
        #expect(fixture.clock.now() == end && fixture.begun.value == 1)
        #expect(fixture.remote.items(in: "Card").contains { $0[member: "barcode"] == .text("3") })
        await fixture.scheduler.stop()
    }

    @Test func `the scheduler's own sync ends completely and its next one waits`() async throws {
        let fixture = try SchedulerFixture { $0.interval = .seconds(10) }
        fixture.remote.setBackoff(.seconds(60))
        try await fixture.insert("1")
        await fixture.start()
        #expect(fixture.begun.value == 1 && fixture.ended.value == 1 && fixture.scheduler.lastError == nil)
        #expect(fixture.remote.items(in: "Card").count == 1)
        #expect(fixture.scheduler.state == .waiting(until: fixture.clock.now() + 60))
        try await fixture.change("2")
        await fixture.pass(59)
        #expect(fixture.begun.value == 1)
        // The app's request does not wait. Its responses extend the backoff.
        fixture.scheduler.syncNow()
        await fixture.scheduler.waitUntilIdle()
        #expect(fixture.begun.value == 2 && fixture.remote.items(in: "Card").count == 2)
        fixture.remote.setBackoff(nil)
        await fixture.pass(59)
        #expect(fixture.begun.value == 2)
        await fixture.pass(1)
        #expect(fixture.begun.value == 3)
        await fixture.scheduler.stop()
    }

    @Test func `the return of the network does not end a backoff`() async throws {
        let fixture = try SchedulerFixture()
        fixture.remote.setBackoff(.seconds(60))
        await fixture.start()
        await fixture.set(.down)
        await fixture.set(.up)
        await fixture.pass(59)
        #expect(fixture.begun.value == 1)
        await fixture.pass(1)
        #expect(fixture.begun.value == 2)
        await fixture.scheduler.stop()
    }

    @Test func `a backoff lasts a day at most and ends if the clock is set back`() {
        let pause = ServerBackoff()
        let now = Date(timeIntervalSince1970: 0)
        pause.record(backoff: nil, at: now)
        pause.record(backoff: .zero, at: now)
        #expect(pause.backoffEnd(at: now) == nil)
        pause.record(backoff: .seconds(999_999_999), at: now)
        #expect(pause.backoffEnd(at: now) == now + 86_400)
        // A shorter one does not end it.
        pause.record(backoff: .seconds(1), at: now + 1)
        #expect(pause.backoffEnd(at: now + 86_399) == now + 86_400 && pause.end(at: now) == nil)
        #expect(pause.backoffEnd(at: now - 61) == nil && pause.backoffEnd(at: now) == nil)
    }
}
