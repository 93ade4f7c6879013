import Foundation
import Tandem
import TandemTesting
import TestSupport
import Testing

@testable import TandemSync

/// The outcome of an operation, and of the push, after each response of a server.
@Suite(.ownThreads) struct FailureTableTests {
    enum Change: CaseIterable { case insert, update, delete }

    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let fault: RemoteFault
        /// The ends of an insert, an update and a delete: the outcome, and the operation's state, or `-` if it is
        /// removed.
        let ends: [String]
        var stops = false
    }

    private static let url = "https://shop.example/tables/card"

    static let rows = [
        Row(testDescription: "no body", fault: .respondWithoutBody, ends: ["done -", "done -", "done -"]),
        Row(
            testDescription: "not sent", fault: .fail(.unreachable),
            ends: ["retryLater pending", "retryLater pending", "retryLater pending"], stops: true),
        Row(
            testDescription: "lost", fault: .loseRequest,
            ends: ["retryLater attempted", "retryLater attempted", "retryLater attempted"], stops: true),
        Row(
            testDescription: "401", fault: .fail(.unauthenticated(status: 401, underlying: nil)),
            ends: ["retryLater pending", "retryLater pending", "retryLater pending"], stops: true),
        later(408, "attempted"), later(425, "pending"), later(429, "pending"), later(500, "attempted"),
        later(503, "attempted"), refused(400), refused(403), refused(405), refused(413), refused(422),
        Row(
            testDescription: "404", fault: .fail(.notFound),
            // An update looks the object up, and finds it there.
            ends: ["refused failed", "done -", "done -"]),
        Row(testDescription: "410", fault: .fail(.gone), ends: ["refused failed", "done -", "done -"]),
        Row(
            testDescription: "409 without an item", fault: .fail(.conflict(status: 409, item: nil)),
            ends: ["refused failed", "done -", "done -"]),
        Row(
            testDescription: "no response of its kind",
            fault: .fail(
                .invalidResponse(
                    InvalidResponse(.notJSON, message: "It is HTML.", table: "Card", url: url, status: 200))),
            ends: ["retryLater attempted", "retryLater attempted", "retryLater attempted"]),
        Row(
            testDescription: "notEncodable",
            fault: .fail(.notEncodable(RequestEncodingError(.value, message: "It is not a valid number."))),
            ends: ["refused failed", "refused failed", "refused failed"]),
    ]

    private static func later(_ status: Int, _ state: String) -> Row {
        Row(
            testDescription: "\(status)", fault: .fail(.later(status: status, retryAfter: nil)),
            ends: Array(repeating: "retryLater \(state)", count: 3))
    }

    private static func refused(_ status: Int) -> Row {
        Row(
            testDescription: "\(status)", fault: .fail(.refused(status: status, message: "no")),
            ends: Array(repeating: "refused failed", count: 3))
    }

    /// Nine in ten ways to lose data begin with a wrong cell here (FB 4, 9, 20; DS T21).
    @Test(arguments: rows)
    func `each response has its outcome`(row: Row) async throws {
        for (change, end) in zip(Change.allCases, row.ends) {
            let fixture = try SyncFixture {
                $0.inFlight = 1
                $0.retry.tries = 1
            }
            let card = try await fixture.syncedCard()
            try await fixture.store.write { tx in
                switch change {
                case .insert: try tx.insert(Card(shop: "Магнит", barcode: "2"))
                case .update: try tx.update(Card.self, localID: card.localID) { $0.points = 2 }
                case .delete: try tx.delete(Card.self, localID: card.localID)
                }
                try tx.insert(Person(name: "Анна"))
            }
            fixture.remote.next(row.fault)
            let result = try await fixture.sync.attemptPush()
            let state = try fixture.store.operations.all().first { $0.id == result.entries[0].id }?.state.description
            #expect("\(result.entries[0].outcome.name) \(state ?? "-")" == end, "\(change)")
            #expect((result.stoppedBy != nil) == row.stops, "\(change)")
            // A failure of one object does not block the next.
            #expect(result.entries[1].outcome.name == (row.stops ? "notReached" : "done"), "\(change)")
            #expect(try fixture.store.checkIntegrity() == [])
            // The next push completes it, unless the user must decide.
            try await fixture.sync.attemptPush()
            for operation in try fixture.store.operations.all() { #expect(operation.state == .failed, "\(change)") }
        }
    }

    @Test func `a temporary failure is retried within the push`() async throws {
        let fixture = try SyncFixture()
        for _ in 1...2 { fixture.remote.next(.fail(.later(status: 500, retryAfter: nil))) }
        try await fixture.store.write { try $0.insert(Card(shop: "Лента", barcode: "1")) }
        let before = fixture.clock.now()
        #expect(try await fixture.sync.push().isComplete)
        #expect(fixture.asked == [.insert, .insert, .insert])
        // Half a second and a whole one, with the greatest random numbers.
        #expect(abs(fixture.clock.now().timeIntervalSince(before) - 1.5) < 0.001)
    }

    @Test func `delays are random up to their limit`() {
        let policy = RetryPolicy()
        #expect(policy.delay(after: 1, random: 0) == .zero)
        #expect(abs(policy.delay(after: 1, random: .max).seconds - 0.5) < 0.001)
        #expect(abs(policy.delay(after: 4, random: .max).seconds - 4) < 0.001)
        #expect(abs(policy.delay(after: 4, random: 1 << 63).seconds - 2) < 0.001)
        #expect(abs(policy.delay(after: 99, random: .max).seconds - 30) < 0.001)
    }

    @Test func `a server's retry time applies to all requests`() async throws {
        let fixture = try SyncFixture()
        fixture.remote.next(.fail(.later(status: 429, retryAfter: .seconds(20))), on: .insert)
        try await fixture.store.write { tx in
            for code in 1...20 { try tx.insert(Card(shop: "Лента", barcode: "\(code)")) }
        }
        let before = fixture.clock.now()
        #expect(try await fixture.sync.push().isComplete)
        #expect(fixture.clock.now().timeIntervalSince(before) >= 20)
        #expect(fixture.asked.count == 21)
    }

    @Test func `a server that requests a long pause receives no requests`() async throws {
        let fixture = try SyncFixture { $0.inFlight = 1 }
        fixture.remote.next(.fail(.later(status: 503, retryAfter: .seconds(3600))))
        try await fixture.store.write { tx in
            for code in 1...3 { try tx.insert(Card(shop: "Лента", barcode: "\(code)")) }
        }
        let result = try await fixture.sync.attemptPush()
        #expect(result.stoppedBy?.code == .later && fixture.asked.count == 1)
        let retryAt = try #require(try fixture.operation?.retryAt)
        #expect(retryAt == fixture.clock.now().addingTimeInterval(3600))
        // An earlier push reports the time, without a request to the server.
        for isExplicit in [false, true] {
            let early = try await fixture.sync.runPush(isExplicit: isExplicit)
            #expect(early.entries.map(\.outcome.name) == Array(repeating: "notReached", count: isExplicit ? 3 : 2))
            #expect(early.stoppedBy?.code == .later && early.stoppedBy?.retryAt == retryAt && fixture.asked.count == 1)
        }
        // After a restart the pause is unknown. An automatic push skips postponed operations.
        let quiet = try await fixture.restarted().runPush(isExplicit: false)
        #expect(quiet.entries.count == 2 && quiet.isComplete)
        fixture.clock.advance(by: 3600)
        #expect(try await fixture.sync.push().isComplete)
        #expect(try fixture.isLevel())
    }

    @Test func `an unavailable server is not called for each object`() async throws {
        let fixture = try SyncFixture { $0.inFlight = 1 }
        for _ in 0..<300 { fixture.remote.next(.fail(.later(status: 502, retryAfter: nil))) }
        try await fixture.store.write { tx in
            for code in 0..<100 { try tx.insert(Card(shop: "Лента", barcode: "\(code)")) }
        }
        let result = try await fixture.sync.attemptPush()
        #expect(result.stoppedBy?.code == .later && fixture.asked.count == 15)
        #expect(try fixture.store.operations.count() == 100)
    }

    /// FB 9: an operation that always fails does not block the rest.
    @Test func `an operation that always fails does not block the rest`() async throws {
        let fixture = try SyncFixture()
        let poison = try await fixture.store.write { try $0.insert(Card(shop: "Лента", barcode: "0")) }
        try await fixture.store.write { tx in
            for code in 1...50 { try tx.insert(Card(shop: "Лента", barcode: "\(code)")) }
        }
        for _ in 0..<9 {
            fixture.remote.next(.fail(.later(status: 500, retryAfter: nil)), on: .id(poison.localID.rawValue))
        }
        let result = try await fixture.sync.attemptPush()
        #expect(result.stoppedBy == nil && result.entries.filter(\.outcome.isFinished).count == 50)
    }

    @Test func `a cancelled push stops at once and loses nothing`() async throws {
        let fixture = try SyncFixture { $0.inFlight = 2 }
        try await fixture.store.write { tx in
            for code in 1...20 { try tx.insert(Card(shop: "Лента", barcode: "\(code)")) }
        }
        for _ in 1...2 { fixture.remote.next(.hang) }
        let sync = fixture.sync
        let push = Task { try await sync.attemptPush() }
        while fixture.remote.requests.count < 2 { try await Task.sleep(for: .milliseconds(1)) }
        push.cancel()
        await #expect(throws: CancellationError.self) { try await push.value }
        #expect(try fixture.asked.count == 2 && (fixture.store.operations.count()) == 20)
        #expect(try fixture.store.operations.count(in: .attempted) == 2)
        #expect(try await fixture.sync.push().isComplete)
        #expect(try fixture.isLevel())
    }
}
