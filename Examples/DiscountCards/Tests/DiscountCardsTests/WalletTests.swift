import Tandem
import Testing

@testable import DiscountCards

@Suite struct WalletTests {
    private let store: Store
    private let ada: Wallet
    private let maria: Wallet

    init() throws {
        store = try Store(inMemoryModels: Wallet.models)
        let me = try Wallet(store, as: "Ada")
        try store.write { tx in
            let maria = try tx.insert(Person(name: "Мария"))
            let shops = [("Пятёрочка", me.person), ("лента", me.person), ("Магнит", maria), ("L'Orvéa", maria)]
            for (index, (shop, owner)) in shops.enumerated() {
                let number = EAN13(payload: 200_000_000_000 + UInt64(index))
                try tx.insert(Card(shop: shop, barcode: number.digits, owner: owner.reference))
            }
        }
        ada = me
        maria = try Wallet(store, as: "мари")
    }

    private func shops(_ cards: Results<Card>) throws -> [String] {
        try cards.all().map(\.shop)
    }

    @Test func `the store's first person is signed in by default, and created if missing`() throws {
        try store.write { _ = try $0.insert(Person(name: "Aaron")) }
        #expect(try Wallet(store, as: nil).person.name == "Ada")
        let empty = try Store(inMemoryModels: Wallet.models)
        #expect(try Wallet(empty, as: nil).person.name == "Me")
    }

    @Test func `an unknown or ambiguous name is an error with the known names`() throws {
        try store.write { _ = try $0.insert(Person(name: "Марианна")) }
        for name in ["stranger", "мари"] {
            #expect {
                try Wallet(store, as: name)
            } throws: { error in
                (error as? Failure)?.status == .badData
                    && (error as? Failure)?.advice == "There are: Ada, Марианна, Мария."
            }
        }
        #expect(try Wallet(store, as: "Мария").person == maria.person)
    }

    @Test func `cards are found by the shop's name and by the owner's`() throws {
        #expect(try shops(ada.cards(matching: "пятероч")) == ["Пятёрочка"])
        #expect(try shops(ada.cards(matching: "lorvea")) == ["L'Orvéa"])
        #expect(try shops(ada.cards(matching: "МАРИЯ")) == ["L'Orvéa", "Магнит"])
        #expect(try shops(ada.cards(matching: "nothing")) == [])
    }

    @Test func `favourites come first only for the person with the star`() throws {
        let card = try ada.card("Пятёрочка")
        #expect(try ada.toggleStar(on: card))
        #expect(try shops(ada.cards) == ["Пятёрочка", "L'Orvéa", "лента", "Магнит"])
        #expect(try shops(maria.cards) == ["L'Orvéa", "лента", "Магнит", "Пятёрочка"])
        #expect(try maria.starredCards().isEmpty)

        #expect(try maria.toggleStar(on: card))
        #expect(try !ada.toggleStar(on: card))
        #expect(try shops(ada.cards) == ["L'Orvéa", "лента", "Магнит", "Пятёрочка"])
        #expect(try maria.starredCards() == [card.localID])
    }

    @Test func `a card is found by its number, its local ID or an unambiguous shop`() throws {
        let card = try ada.card("лента")
        #expect(try ada.card(card.barcode) == card)
        #expect(try ada.card(card.localID.rawValue) == card)
        #expect(throws: Failure.self) { try ada.card("нет такой") }
        try store.write { _ = try $0.insert(Card(shop: "Лента-2", barcode: EAN13(payload: 1).digits)) }
        #expect(throws: Failure.self) { try ada.card("лента") }
    }

    @Test func `deleting a card deletes its stars, and leaves no operation`() throws {
        let before = try store.operations.count()
        let card = try ada.card("лента")
        try ada.toggleStar(on: card)
        try maria.toggleStar(on: card)
        _ = try store.write { try $0.delete(card) }
        #expect(try store.objects(Star.self).isEmpty())
        #expect(try store.operations.count() == before - 1)
    }
}
