import Foundation
import OpenCombine
import Synchronization
import Tandem
import Testing

@testable import DiscountCards

@Suite struct WatchTests {
    private let wallet: Wallet
    private let lines = Lines()

    private final class Lines: Sendable {
        private let all = Mutex<[String]>([])
        var values: [String] { all.withLock { $0 } }
        func append(_ line: String) { all.withLock { $0.append(line) } }
    }

    init() throws {
        let store = try Store(inMemoryModels: Wallet.models)
        wallet = try Wallet(store, as: "Ada")
    }

    private func add(_ shop: String, number: UInt64, isPinned: Bool = false) throws -> Card {
        try wallet.store.write { tx in
            try tx.insert(
                Card(
                    shop: shop, barcode: EAN13(payload: number).digits, points: 10, isPinned: isPinned,
                    owner: wallet.person.reference))
        }
    }

    private func watch(_ words: String = "", limit: Int = 20) -> AnyCancellable {
        wallet.watchedCards(matching: words).limit(limit).changesetPublisher.on(.immediate).sink(
            receiveCompletion: { _ in }, receiveValue: { @Sendable [lines] in lines.append($0.line { _ in nil }) })
    }

    @Test func `each change is one line with its description`() throws {
        let card = try add("Пятёрочка", number: 1)
        let subscription = watch()
        _ = try add("Лента", number: 2)
        try wallet.store.write { tx in _ = try tx.update(Card.self, localID: card.localID) { $0.points += 1 } }
        try wallet.store.write { tx in _ = try tx.update(Card.self, localID: card.localID) { $0.isPinned = true } }
        try wallet.store.write { tx in _ = try tx.update(Card.self, localID: card.localID) { $0.shop = "Pyaterochka" } }
        try wallet.store.write { try $0.delete(card) }
        #expect(
            lines.values == [
                "1 card: Пятёрочка",
                "2 cards: + Лента",
                "2 cards: ~ Пятёрочка: 1 point more",
                "2 cards: ~ Пятёрочка: pinned",
                "2 cards: ~ Pyaterochka: was Пятёрочка",
                "1 card: − Pyaterochka",
            ])
        subscription.cancel()
    }

    @Test func `a transaction is a single line`() throws {
        let card = try add("Магнит", number: 1)
        let subscription = watch()
        try wallet.store.write { tx in
            _ = try tx.insert(Card(shop: "Ашан", barcode: EAN13(payload: 2).digits))
            _ = try tx.insert(Card(shop: "Билла", barcode: EAN13(payload: 3).digits))
            try tx.delete(card)
        }
        #expect(lines.values == ["1 card: Магнит", "2 cards: + Ашан, + Билла, − Магнит"])
        subscription.cancel()
    }

    @Test func `only matching cards are watched, up to the limit`() throws {
        for number in 1...6 { _ = try add("Пятёрочка \(number)", number: UInt64(number)) }
        let subscription = watch("пятероч", limit: 5)
        _ = try add("Лента", number: 7)
        _ = try add("Пятёрочка 0", number: 8)
        _ = try add("Пятёрочка 9", number: 9, isPinned: true)
        #expect(
            lines.values == [
                "5 cards: Пятёрочка 1, Пятёрочка 2, Пятёрочка 3, Пятёрочка 4, …",
                "5 cards: + Пятёрочка 0, − Пятёрочка 5",
                "5 cards: + Пятёрочка 9, − Пятёрочка 4",
            ])
        subscription.cancel()
    }

    @Test func `a bell wakes its waiter, and a time limit does too`() throws {
        let bell = try Bell()
        let clock = ContinuousClock()
        #expect(clock.measure { bell.wait(seconds: 0.05) } >= .milliseconds(50))
        bell.ring()
        bell.wait(seconds: nil)
    }
}
