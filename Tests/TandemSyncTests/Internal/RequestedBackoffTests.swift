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
        let desk = try Desk()
        for code in 1...3 { desk.remote.edit("Card", id: ServerID("\(code)")) { $0.set(.text("x"), of: "shop") } }
        try await desk.store.write { _ = try $0.insert(Person(name: "Ада")) }
        desk.remote.setBackoff(.seconds(3600))
        let now = desk.clock.now()
        try await desk.sync.synchronize([PullQuery(Card.self, queryID: "cards"), PullQuery(Person.self)])
        try await desk.sync.pull(Pet.self)
        #expect(desk.asked == [.page, .page, .insert, .page])
        #expect(desk.clock.now() == now, "No request has waited.")
        #expect(desk.sync.pause.end(at: now) == nil && desk.sync.pause.backoffEnd(at: now) == now + 3600)
    }

    /// The response to a page, a write, and a direct request.
    @Test(arguments: [RecordedRequest.Kind.page, .insert, .delete, .undelete])
    func `the backoff of each kind of response delays the scheduler`(kind: RecordedRequest.Kind) async throws {
        let desk = try SchedulerFixture { $0.syncsAtStart = false }
        let id = try await desk.insert("1").localID
        try await desk.sync.push()
        let card = try #require(try desk.store.object(ofType: Card.self, forPrimaryKey: id))
        await desk.start()
        desk.remote.setBackoff(.seconds(60))
        let cards = try desk.sync.remoteTable(Card.self)
        switch kind {
        case .page: try await desk.sync.pull(Person.self, queryID: "people")
        case .insert:
            try await desk.insert("2")
            try await desk.sync.push()
        case .delete: try await cards.delete(card)
        default:
            desk.remote.remove("Card", id: ServerID(id.rawValue))
            _ = try await cards.undelete(card)
        }
        let end = desk.clock.now() + 60
        desk.remote.setBackoff(nil)
        try await desk.change("3")
        await desk.pass(59)
        #expect(desk.begun.value == 0)
        await desk.pass(1)
        #expect(desk.clock.now() == end && desk.begun.value == 1)
        #expect(desk.remote.items(in: "Card").contains { $0[member: "barcode"] == .text("3") })
        await desk.scheduler.stop()
    }

    @Test func `the scheduler's own sync ends completely and its next one waits`() async throws {
        let desk = try SchedulerFixture { $0.interval = .seconds(10) }
        desk.remote.setBackoff(.seconds(60))
        try await desk.insert("1")
        await desk.start()
        #expect(desk.begun.value == 1 && desk.ended.value == 1 && desk.scheduler.lastError == nil)
        #expect(desk.remote.items(in: "Card").count == 1)
        #expect(desk.scheduler.state == .waiting(until: desk.clock.now() + 60))
        try await desk.change("2")
        await desk.pass(59)
        #expect(desk.begun.value == 1)
        // The app's request does not wait. Its responses extend the backoff.
        desk.scheduler.syncNow()
        await desk.scheduler.waitUntilIdle()
        #expect(desk.begun.value == 2 && desk.remote.items(in: "Card").count == 2)
        desk.remote.setBackoff(nil)
        await desk.pass(59)
        #expect(desk.begun.value == 2)
        await desk.pass(1)
        #expect(desk.begun.value == 3)
        await desk.scheduler.stop()
    }

    @Test func `the return of the network does not end a backoff`() async throws {
        let desk = try SchedulerFixture()
        desk.remote.setBackoff(.seconds(60))
        await desk.start()
        await desk.set(.down)
        await desk.set(.up)
        await desk.pass(59)
        #expect(desk.begun.value == 1)
        await desk.pass(1)
        #expect(desk.begun.value == 2)
        await desk.scheduler.stop()
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
