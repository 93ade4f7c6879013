import Foundation
import Tandem
import TandemTesting
import TestSupport
import Testing

@testable import TandemSync

/// The cost of a change does not grow with the size of the store. The tests count SQLite's instructions, not time.
@Suite(.ownThreads) struct SyncCostTests {
    /// The measured actions, each on a number of objects.
    enum Act: String, CaseIterable {
        case receivingNewItems, receivingChangedItems, receivingTombstones, keepingItemsBesideChanges
        case findingNothingNew, countingForTheStatus, sending
    }

    private static let objects = 20

    /// Creates a device with a number of cards, of which some have unsent changes.
    private func makeFixture(cards: Int, changed: Int) async throws -> SyncFixture {
        let fixture = try SyncFixture { $0.inFlight = 1 }
        try fixture.sync.table(Card.self).setConflicts(.clientWins)
        let now = fixture.clock.now()
        let received = (0..<cards).map { number in
            Card(shop: "Лента \(number % 100)", barcode: "b\(number)").identified(by: LocalID("c\(number)"))
        }
        try await fixture.store.write { [store = fixture.store] _ in
            try store.applyServerObjects(received, version: "v0", updatedAt: now)
        }
        try await fixture.store.write { tx in
            for number in 0..<changed {
                guard let card = try tx.objects(Card.self).where({ $0.barcode == "b\(number)" }).first() else {
                    continue
                }
                try tx.update(Card.self, localID: card.localID) { $0.points = 7 }
            }
        }
        return fixture
    }

    /// Writes cards with these numbers as another device.
    private func write(_ numbers: some Sequence<Int>, to fixture: SyncFixture, deleting: Bool = false) {
        for number in numbers {
            let id = ServerID("c\(number)")
            fixture.remote.edit("Card", id: id) { item in
                item.set(.text("Пятёрочка"), of: "shop")
                item.set(.text("b\(number)"), of: "barcode")
                item.set(.integer(3), of: "points")
            }
            if deleting { fixture.remote.remove("Card", id: id) }
        }
    }

    private func pull(_ fixture: SyncFixture) async throws -> SyncResult {
        try await fixture.sync.withExclusiveSync {
            try await fixture.sync.runPull(PullQuery(Card.self, queryID: "cards"), pushesFirst: false)
        }
    }

    private func measure(_ act: Act, on fixture: SyncFixture, cards: Int) async throws -> StatementMeter.Work {
        let count = Self.objects
        // Objects from all over the table, each once.
        let spread = (0..<count).map { $0 * (cards / 2 / count) + cards / 4 }
        switch act {
        case .receivingNewItems: write(cards..<cards + count, to: fixture)
        case .receivingChangedItems: write(spread, to: fixture)
        case .receivingTombstones: write(spread.map { $0 + 1 }, to: fixture, deleting: true)
        case .keepingItemsBesideChanges, .sending: write(0..<count, to: fixture)
        case .findingNothingNew, .countingForTheStatus: break
        }
        return try await StatementMeter.measure(fixture.store) { try await perform(act, on: fixture) }
    }

    private func perform(_ act: Act, on fixture: SyncFixture) async throws {
        let count = Self.objects
        switch act {
        case .receivingNewItems: #expect(try await pull(fixture).inserted == count)
        case .receivingChangedItems: #expect(try await pull(fixture).updated == count)
        case .receivingTombstones: #expect(try await pull(fixture).deleted == count)
        case .keepingItemsBesideChanges: #expect(try await pull(fixture).deferred == count)
        case .findingNothingNew: #expect(try await pull(fixture).changes == 0)
        case .countingForTheStatus: #expect(try await fixture.sync.status().pending == count)
        case .sending: #expect(try await fixture.sync.push().isComplete)
        }
    }

    @Test func `a change costs the same in a large table`() async throws {
        let (few, many) = (1_000, 50_000)
        let small = try await makeFixture(cards: few, changed: Self.objects)
        let large = try await makeFixture(cards: many, changed: Self.objects)
        for act in Act.allCases {
            let (here, there) = (
                try await measure(act, on: small, cards: few), try await measure(act, on: large, cards: many)
            )
            #expect(here.instructions > 0 && here.pages > 0)
            #expect(
                there.instructions * 2 <= here.instructions * 3, "\(act): \(here.instructions), \(there.instructions)")
            #expect(there.scans == here.scans, "\(act)")
            // The trees of a larger table are one page higher, and the search index has more parts.
            #expect(there.pages <= here.pages * 3, "\(act): \(here.pages), \(there.pages)")
        }
        // A table scan would be visible.
        var steps: [Int] = []
        for fixture in [small, large] {
            let work = try await StatementMeter.measure(fixture.store) {
                _ = try fixture.store.objects(Card.self).where { $0.points == 99 }.count()
            }
            #expect(!work.scans.isEmpty)
            steps.append(work.instructions)
        }
        #expect(steps[1] > steps[0] * 10)
        #expect(try small.store.operations.count() == 0 && large.store.operations.count() == 0)
    }

    @Test func `a changed item is read once and written by one statement, and new items by few`() async throws {
        let fixture = try await makeFixture(cards: 100, changed: 0)
        let changed = try await measure(.receivingChangedItems, on: fixture, cards: 100)
        let selects = changed.count("SELECT", of: "Card")
        #expect(selects >= Self.objects && selects < Self.objects * 2, "\(changed.executions)")
        #expect(changed.count("UPDATE", of: "Card") == Self.objects, "\(changed.executions)")
        let new = try await measure(.receivingNewItems, on: fixture, cards: 100)
        #expect((1...Self.objects / 4).contains(new.count("INSERT", of: "Card")), "\(new.executions)")
        #expect(new.count("UPDATE", of: "Card") == 0, "\(new.executions)")
        let cards = fixture.store.objects(Card.self).where { $0.points == 3 && $0.shop.folded.hasPrefix("пят") }
        #expect(try await cards.count() == Self.objects * 2)
        #expect(try fixture.store.checkIntegrity() == [])
    }

    @Test func `a change costs the same in a long queue`() async throws {
        let (few, many) = (50, 1_000)
        var costs: [Int] = []
        for changes in [few, many] {
            let fixture = try await makeFixture(cards: many, changed: changes)
            write(0..<changes, to: fixture)
            let work = try await StatementMeter.measure(fixture.store) { try await perform(.sending, on: fixture) }
            costs.append(work.instructions / changes)
        }
        #expect(costs[1] * 2 <= costs[0] * 3, "\(costs)")
    }
}
