import Foundation
import OpenCombine
import Synchronization
import Tandem
import TandemTesting
import Testing

@testable import DiscountCards

@Suite struct ListChangeTests {
    private let wallet: WebWallet
    private var store: Store { wallet.store }

    init() throws {
        wallet = WebWallet(
            try Wallet(try Store(inMemoryModels: Wallet.models), as: "Ada"), syncsAutomatically: false)
    }

    /// A list that follows the two live results, like a browser.
    private final class Follower: Sendable {
        private struct State {
            var favorites: ChangeSet<Card>?
            var others: SectionedChangeSet<String?, Card>?
            var ids: [LocalID]?
        }
        private let state = Mutex(State())

        func receive(favorites: ChangeSet<Card>?, others: SectionedChangeSet<String?, Card>?) {
            state.withLock { state in
                let before = Self.snapshot(state)
                if let favorites { state.favorites = favorites }
                if let others { state.others = others }
                guard let now = Self.snapshot(state) else { return }
                guard let before, var ids = state.ids else {
                    state.ids = (0..<now.count).map { now.id(at: $0) }
                    return
                }
                var batch = FeedInbox.Batch()
                batch.favorites = favorites
                batch.others = others
                let change = ListChange(batch, from: before, to: now)
                for position in change.deletions.reversed() { ids.remove(at: position) }
                for position in change.insertions { ids.insert(now.id(at: position), at: position) }
                state.ids = ids
            }
        }

        private static func snapshot(_ state: State) -> ListSnapshot? {
            guard let favorites = state.favorites, let others = state.others else { return nil }
            return ListSnapshot(favorites: favorites.results, others: others.sections)
        }

        var ids: [LocalID] { state.withLock { $0.ids ?? [] } }
        var snapshot: ListSnapshot? { state.withLock { Self.snapshot($0) } }
    }

    private func add(_ shop: String, number: UInt64) throws -> Card {
        try store.write { [person = wallet.wallet.person] tx in
            try tx.insert(Card(shop: shop, barcode: EAN13(payload: number).digits, owner: person.reference))
        }
    }

    private func following(
        _ words: String = "", stars: Set<LocalID> = [], _ body: (Follower) throws -> Void
    ) throws {
        let follower = Follower()
        let favorites = wallet.favorites(stars, matching: words).changesetPublisher.on(.immediate).sink(
            receiveCompletion: { _ in }, receiveValue: { @Sendable in follower.receive(favorites: $0, others: nil) })
        let others = wallet.others(stars, matching: words).sectionedChangesetPublisher(by: \.shop.firstLetter).on(
            .immediate
        )
        .sink(receiveCompletion: { _ in }, receiveValue: { @Sendable in follower.receive(favorites: nil, others: $0) })
        try body(follower)
        favorites.cancel()
        others.cancel()
    }

    @Test func `favorites come first, and the others have headings by first letter`() throws {
        for (index, shop) in ["Магнит", "лента", "Аптека", "Ёлка", "Магия", "Zoo"].enumerated() {
            _ = try add(shop, number: UInt64(index))
        }
        try wallet.wallet.toggleStar(on: wallet.wallet.card("магнит"))
        try following(stars: wallet.wallet.starredCards()) { follower in
            let list = try #require(follower.snapshot)
            #expect((0..<list.count).map { list[$0].shop } == ["Магнит", "Zoo", "Аптека", "Ёлка", "лента", "Магия"])
            #expect(list.headings.map(\.title) == ["★", "Z", "А", "Е", "Л", "М"])
            #expect(list.headings.map(\.start) == [0, 1, 2, 3, 4, 5])
            #expect(list.isFavorite(0) && !list.isFavorite(1))
        }
    }

    @Test(arguments: [1, 2, 3, 4, 5, 6] as [UInt64]) func `a list that applies all changes equals the store`(
        seed: UInt64
    ) throws {
        var random = SeededGenerator(seed: seed)
        var cards: [Card] = []
        for number in 0..<40 { cards.append(try add(Self.name(&random), number: UInt64(number))) }
        let stars = Set(cards.prefix(8).map(\.localID))
        for words in ["", "а"] {
            try following(words, stars: stars) { follower in
                for step in 0..<150 {
                    let card = cards[Int.random(in: 0..<cards.count, using: &random)]
                    switch Int.random(in: 0..<4, using: &random) {
                    case 0:
                        let name = Self.name(&random)
                        try store.write { tx in
                            _ = try tx.update(Card.self, localID: card.localID) { $0.shop = name }
                        }
                    case 1:
                        let number = UInt64(seed * 100_000) + UInt64(words.count * 10_000 + step + 100)
                        cards.append(try add(Self.name(&random), number: number))
                    case 2 where cards.count > 10:
                        try store.write { try $0.delete(card) }
                        cards.removeAll { $0.localID == card.localID }
                    default:
                        try store.write { tx in
                            _ = try tx.update(Card.self, localID: card.localID) { $0.points += 1 }
                        }
                    }
                    let expected =
                        try wallet.favorites(stars, matching: words).localIDs()
                        + wallet.others(stars, matching: words).localIDs()
                    #expect(follower.ids == expected)
                }
            }
        }
    }

    @Test func `a star moves its card, and a change that no star explains is not known by position`() throws {
        for (index, shop) in ["Аптека", "Лента", "Магнит", "Яблоко"].enumerated() {
            _ = try add(shop, number: UInt64(index))
        }
        let card = try wallet.wallet.card("магнит")
        func snapshot(_ stars: Set<LocalID>) throws -> ListSnapshot {
            var found: ListSnapshot?
            try following(stars: stars) { found = $0.snapshot }
            return try #require(found)
        }
        let before = try snapshot([])
        let starred = try snapshot([card.localID])
        let change = ListChange(from: before, to: starred, moving: [card.localID])
        #expect(change?.deletions == [2] && change?.insertions == [0])
        let back = ListChange(from: starred, to: before, moving: [card.localID])
        #expect(back?.deletions == [0] && back?.insertions == [2])
        #expect(ListChange(from: before, to: starred, moving: []) == nil)
        try store.write { try $0.delete(card) }
        let gone = ListChange(from: starred, to: try snapshot([]), moving: [card.localID])
        #expect(gone?.deletions == [0] && gone?.insertions == [])
    }

    private static func name(_ random: inout SeededGenerator) -> String {
        ["Аптека", "Ашан", "лента", "Магнит", "Zara", "zoo", "Ölmühle", "さくら", "7 дней", ""].randomElement(
            using: &random)!
    }
}
