import Foundation
import Tandem
import TandemTesting
import TestSupport
import Testing

@testable import TandemSync

/// The common result and error of push, pull and synchronize.
@Suite(.ownThreads, .timeLimit(.minutes(10))) struct SyncIssueTests {
    enum Call: CaseIterable, Sendable {
        case push, pull, synchronize

        func run(_ sync: SyncContext) async throws -> SyncResult {
            switch self {
            case .push: try await sync.push()
            case .pull: try await sync.pull(Card.self, queryID: "cards")
            case .synchronize: try await sync.synchronize()
            }
        }
    }

    @Test(arguments: Call.allCases)
    func `every call without a server throws the same error and loses nothing`(call: Call) async throws {
        let fixture = try SyncFixture { $0.inFlight = 1 }
        try await fixture.store.write { tx in
            for code in 1...2 { try tx.insert(Card(shop: "Лента", barcode: "\(code)")) }
        }
        fixture.remote.next(.fail(.unreachable))
        let error = await #expect(throws: SyncError.self) { try await call.run(fixture.sync) }
        #expect(error?.code == .unreachable && error?.result != nil && error?.result?.isComplete == false)
        #expect(try await fixture.sync.status().lastError == error?.description)
        #expect(try fixture.store.operations.count() == 2 && fixture.remote.requests.count == 1)
        #expect(try await call.run(fixture.sync).isComplete)
        #expect(try await fixture.sync.push().isComplete && fixture.isLevel())
    }

    @Test func `a sync that is stopped while it sends reports its earlier results`() async throws {
        let fixture = try SyncFixture { $0.inFlight = 1 }
        try fixture.sync.table(Card.self).setConflicts(.serverWins)
        let card = try await fixture.syncedCard("1")
        try await fixture.store.write { tx in
            try tx.update(Card.self, localID: card.localID) { $0.points = 2 }
            for code in 2...3 { try tx.insert(Card(shop: "Магнит", barcode: "\(code)")) }
        }
        fixture.remote.edit("Card", id: try #require(card.serverID)) { $0.set(.integer(3), of: "points") }
        fixture.remote.next(.loseRequest, on: .insert)
        let error = await #expect(throws: SyncError.self) { try await fixture.sync.synchronize() }
        let result = try #require(error?.result)
        #expect(result.pulls.count == 3 && result.pulls.allSatisfy { $0.failure == nil })
        #expect(result.entries.map(\.outcome.name) == ["tookServers", "retryLater", "notReached"])
        #expect(result.issues.map(\.name) == ["lostEdit", "unsent", "unsent"])
        #expect(result.lostEdits.first?.of(Card.self)?.points == 2 && result.lostEdits.first?.of(Pet.self) == nil)
        #expect(try fixture.card(card.localID)?.points == 3)
        // The next sync completes the rest.
        #expect(try await fixture.sync.synchronize().isComplete)
        #expect(try fixture.isLevel())
    }

    @Test func `a result lists everything that the user should know`() async throws {
        let fixture = try SyncFixture { $0.retry.tries = 1 }
        try fixture.sync.table(Card.self).setConflicts(.merge(edits: .server))
        try fixture.sync.table(Person.self).setConflicts(.report)
        let cards = [try await fixture.syncedCard("1"), try await fixture.syncedCard("2")]
        let person = try await fixture.store.write { try $0.insert(Person(name: "Ада")) }
        try await fixture.sync.synchronize()
        try await fixture.store.write { tx in
            for card in cards { try tx.update(Card.self, localID: card.localID) { $0.points = 2 } }
            try tx.update(Person.self, localID: person.localID) { $0.name = "Ада Л." }
            try tx.insert(Card(shop: "Магнит", barcode: "3"))
        }
        // Both sides have changed the first card and the person, and the second card is deleted there.
        fixture.remote.edit("Card", id: try #require(cards[0].serverID)) { $0.set(.integer(9), of: "points") }
        fixture.remote.remove("Card", id: try #require(cards[1].serverID))
        fixture.remote.edit("Person", id: ServerID(person.localID.rawValue)) { $0.set(.text("Анна"), of: "name") }
        fixture.remote.edit("Card", id: "x") { item in
            // The first local card has this number.
            item.members = [("shop", .text("Ашан")), ("barcode", .text("1")), ("points", .integer(0))]
        }
        fixture.remote.next(.fail(.refused(status: 400, message: "no")), on: .insert)
        fixture.remote.next(.fail(.notFound), on: RequestMatch { $0.kind == .page && $0.table == "animals" })
        let result = try await fixture.sync.synchronize()
        #expect(!result.isComplete)
        #expect(
            result.issues.map(\.name) == [
                "conflict", "refused", "lostEdit", "lostEdit", "refusedRow", "failedPull",
            ])
        #expect(result.lostEdits.map(\.localID) == [cards[1].localID, cards[0].localID])
        #expect(result.lostEdits.map(\.isDeletedOnServer) == [true, false])
        #expect(result.lostEdits.map { $0.of(Card.self)?.barcode } == ["2", "1"])
        #expect(result.lostEdits.allSatisfy { $0.values == ["points": 2] && $0.of(Card.self)?.points == 2 })
        #expect(result.failedOperations.map(\.operation.localID).first == person.localID)
    }

    @Test func `a change that failed before is listed by every later result until it is decided`() async throws {
        let fixture = try SyncFixture()
        try await fixture.store.write { _ = try $0.insert(Card(shop: "Лента", barcode: "1")) }
        fixture.remote.next(.fail(.refused(status: 403, message: "no")), on: .insert)
        #expect(try await fixture.sync.push().issues.map(\.name) == ["refused"])
        for call in Call.allCases {
            let result = try await call.run(fixture.sync)
            #expect(result.issues.map(\.name) == ["refused"] && !result.isComplete && result.entries.isEmpty)
        }
        let failed = try #require(try await fixture.sync.failedOperations().first)
        _ = try await fixture.sync.discard(failed.version)
        for call in Call.allCases { #expect(try await call.run(fixture.sync).isComplete) }
    }

    @Test func `a change that the user holds back is not an issue`() async throws {
        let fixture = try SyncFixture()
        try await fixture.store.write { _ = try $0.insert(Card(shop: "Лента", barcode: "1")) }
        try await fixture.sync.hold(try #require(try fixture.operation?.id))
        #expect(try await fixture.sync.synchronize().isComplete)
    }

    @Test func `a file that was not uploaded is an issue`() async throws {
        let fixture = try PhotoFixture()
        try fixture.attached()
        fixture.fileServer.next("upload", .fail(.refused(status: 403, message: "No.")))
        let result = try await fixture.sync.synchronize()
        #expect(result.issues.map(\.name) == ["unsentFile"] && !result.isComplete)
        #expect(result.issues.first?.description.contains("чек.jpg") == true)
        #expect(try await fixture.sync.synchronize().isComplete)
    }

    /// A server that fails for objects still lets the table be pulled. Unsent changes are listed.
    @Test func `a pull continues after a push that failed for objects`() async throws {
        let fixture = try SyncFixture {
            $0.inFlight = 1
            $0.retry.tries = 1
        }
        fixture.remote.edit("Card", id: "there") { item in
            item.members = [("shop", .text("Ашан")), ("barcode", .text("there")), ("points", .integer(0))]
        }
        try await fixture.store.write { tx in
            for code in 1...6 { try tx.insert(Card(shop: "Лента", barcode: "\(code)")) }
        }
        for _ in 0..<5 { fixture.remote.next(.fail(.later(status: 500, retryAfter: nil)), on: .insert) }
        let result = try await fixture.sync.pull(Card.self, queryID: "cards")
        #expect(result.inserted == 1 && !result.isComplete)
        #expect(result.issues.map(\.name) == Array(repeating: "unsent", count: 6))
        #expect(SyncOutcome(result).kind == .leftOver)
        // Only the push is stopped by it.
        for _ in 0..<6 { fixture.remote.next(.fail(.later(status: 500, retryAfter: nil)), on: .insert) }
        let error = await #expect(throws: SyncError.self) { try await fixture.sync.push() }
        #expect(error?.code == .later && error?.result?.entries.count == 6)
    }

    @Test func `a lost edit stays in the result when a later push sends the rest`() {
        let card = Card(shop: "Лента", barcode: "1", points: 2)
        func entry(_ outcome: SyncResult.Outcome, _ lost: LostEdit? = nil) -> SyncResult.Entry {
            SyncResult.Entry(id: 1, kind: .update, table: "Card", localID: card.localID, outcome: outcome, lost: lost)
        }
        let first = SyncResult(entries: [entry(.stillPending, LostEdit(card, properties: ["points"]))])
        var result = first.followed(by: SyncResult(entries: [entry(.done)]))
        #expect(result.entries.map(\.outcome.name) == ["done"])
        #expect(result.lostEdits.map(\.values) == [["points": 2]] && result.isComplete)
        result = first.followed(by: SyncResult(entries: [entry(.done, LostEdit(card, properties: ["shop"]))]))
        #expect(result.lostEdits.map(\.values) == [["points": 2, "shop": "Лента"]])
        // A later pull is added to the result.
        let query = PullQuery(Card.self, queryID: "cards")
        let pulled = SyncResult(pulls: [.init(query: query, outcome: .success(PullResult(inserted: 1)))])
        result = first.followed(by: pulled)
        #expect(result.entries.count == 1 && result.inserted == 1 && !result.isComplete)
    }

    @Test func `the first error that stopped a push stays when a later push is added`() {
        let due = Date(timeIntervalSince1970: 1)
        let second = SyncResult(stoppedBy: SyncError(.unreachable, message: "second"), nextDue: due)
        var result = SyncResult(stoppedBy: SyncError(.later, message: "first"), nextDue: due + 1)
        result.add(second)
        #expect(result.stoppedBy?.code == .later && result.nextDue == due)
        #expect(result.stopped(by: SyncError(.busy, message: "third")).stoppedBy?.code == .later)
        result = SyncResult(stoppedBy: nil)
        result.add(second)
        result.add(SyncResult(stoppedBy: nil))
        #expect(result.stoppedBy?.code == .unreachable && result.nextDue == due)
    }
}

extension SyncIssue {
    /// The name of the case, for comparisons.
    fileprivate var name: String {
        switch self {
        case .refused: "refused"
        case .conflict: "conflict"
        case .lostEdit: "lostEdit"
        case .refusedRow: "refusedRow"
        case .rowAheadOfClock: "rowAheadOfClock"
        case .failedPull: "failedPull"
        case .unsent: "unsent"
        case .unsentFile: "unsentFile"
        }
    }
}
