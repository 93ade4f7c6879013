import Foundation
import Observation
import OpenCombine
import Synchronization
import TandemTesting
import TestSupport
import Testing

@testable import Tandem

/// Live results for views.
@MainActor @Suite(.ownThreads, .timeLimit(.minutes(10))) struct LiveResultsTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func makeStore(_ kind: StoreKind) throws -> Store {
        try kind.open(at: folder.path(of: "a.tandem"), [Card.self, Person.self, Badge.self])
    }

    /// Runs the main queue until a condition is true.
    private func comesTrue(_ isSo: () -> Bool) async throws -> Bool {
        for _ in 0..<4_000 {
            if isSo() { return true }
            try await Task.sleep(for: .milliseconds(5))
        }
        return false
    }

    @Test(arguments: StoreKind.allCases)
    func `an observable object publishes its results and their changes`(_ kind: StoreKind) async throws {
        let store = try makeStore(kind)
        defer { store.close() }
        let cards = LiveResults(store.cards.sorted(by: \.shop))
        var changes = 0
        var published: [Int] = []
        let will = cards.objectWillChange.sink { _ in changes += 1 }
        let results = cards.$results.sink { published.append($0.count) }
        #expect(!cards.isLoaded && cards.results.isEmpty)
        #expect(try await comesTrue { cards.isLoaded })
        #expect(changes > 0)
        let before = changes
        try await store.write { _ = try $0.insert(Card(shop: "А", barcode: "1")) }
        #expect(try await comesTrue { cards.results.count == 1 })
        #expect(changes > before && published.last == 1)
        #expect(cards.changes?.insertions == [0] && cards.changes?.isInitial == false)
        cards.observe(store.cards.where { $0.shop == "Б" })
        #expect(try await comesTrue { cards.results.isEmpty })
        store.close()
        #expect(cards.error == nil)
        cards.observe(store.cards)
        #expect(try await comesTrue { cards.error?.code == .closed })
        will.cancel()
        results.cancel()
    }

    @Test(arguments: StoreKind.allCases)
    func `results under observation notify their readers`(_ kind: StoreKind) async throws {
        let store = try makeStore(kind)
        defer { store.close() }
        let cards = ObservedResults(store.cards.sorted(by: \.shop))
        #expect(try await comesTrue { cards.isLoaded })
        let deliveries = Mutex(0)
        let drawn = withObservationTracking {
            cards.results.map(\.shop)
        } onChange: {
            deliveries.withLock { $0 += 1 }
        }
        #expect(drawn.isEmpty)
        try await store.write { _ = try $0.insert(Card(shop: "А", barcode: "1")) }
        #expect(try await comesTrue { cards.results.count == 1 })
        #expect(deliveries.withLock { $0 } == 1)
        #expect(cards.results.map(\.shop) == ["А"])
    }

    @Test func `results observe as long as they exist`() async throws {
        let store = try makeStore(.file)
        defer { store.close() }
        var first: LiveResults<Card>? = LiveResults(store.cards)
        var second: ObservedResults<Card>? = ObservedResults(store.cards)
        #expect(try await comesTrue { first?.isLoaded == true && second?.isLoaded == true })
        #expect(store.live.present.count == 2)
        weak let weakFirst = first
        weak let weakSecond = second
        first = nil
        second = nil
        #expect(try await comesTrue { weakFirst == nil && weakSecond == nil })
        #expect(store.live.present.count == 0)
    }
}
