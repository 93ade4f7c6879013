import Foundation
import PageServer
import Tandem

/// The open store of a page server.
struct WebWallet: Sendable {
    let store: Store
    let sync: WebSync
    let deleted = DeletedCards()

    /// The store from the view of the person signed in. A login changes the person.
    var wallet: Wallet { sync.wallet }

    /// - Parameter followsLogin: Whether a login changes the person.
    init(_ wallet: Wallet, syncsAutomatically: Bool, followsLogin: Bool = true) {
        store = wallet.store
        sync = WebSync(wallet, isAutomatic: syncsAutomatically, followsLogin: followsLogin)
    }

    /// The stars of this person.
    var stars: Results<Star> {
        store.objects(Star.self).where { [person = wallet.person] in $0.person == person }
    }

    /// Returns the cards with given IDs by name: all, or those that a search finds.
    ///
    /// A live query by IDs follows each commit. A live query by the stars of cards would be read again after each one.
    func favorites(_ ids: Set<LocalID>, matching words: String) -> Results<Card> {
        Self.search(store.objects(Card.self).where { $0.localID.in(Array(ids)) }, for: words)
    }

    /// Returns the cards without given IDs by name: all, or those that a search finds.
    func others(_ ids: Set<LocalID>, matching words: String) -> Results<Card> {
        let cards = store.objects(Card.self)
        return Self.search(ids.isEmpty ? cards : cards.where { !$0.localID.in(Array(ids)) }, for: words)
    }

    private static func search(_ cards: Results<Card>, for words: String) -> Results<Card> {
        let cards = cards.sorted(by: \.shop)
        return words.isEmpty ? cards : cards.where { $0.shop.matches(words) || $0.owner.name.matches(words) }
    }

    /// Returns the rows at some positions of a list for a browser, in the order of the positions.
    func rows(of snapshot: ListSnapshot, at positions: some Collection<Int>) async throws -> [CardRow] {
        let cards = positions.map { (card: snapshot[$0], isStarred: snapshot.isFavorite($0)) }
        let owners = try await store.read { [store] _ in
            try cards.map { try store.object($0.card.owner)?.name ?? "–" }
        }
        let states = try await sync.states(of: cards.map(\.card))
        return cards.indices.map { index in
            let (card, state) = (cards[index].card, states[index])
            return CardRow(
                id: card.localID.rawValue, shop: card.shop, owner: owners[index],
                number: EAN13(card.barcode)?.printed ?? card.barcode, points: card.points.grouped,
                isStarred: cards[index].isStarred, hasPhoto: card.photo != nil, state: state.name,
                stateWords: state.words)
        }
    }

    /// Returns a card.
    ///
    /// - Throws: ``WebFailure`` if it does not exist.
    func card(_ id: LocalID) async throws -> Card {
        let card = try await store.read { tx in try tx.object(ofType: Card.self, forPrimaryKey: id) }
        guard let card else { throw WebFailure.missingCard }
        return card
    }

    /// Returns whether this person has a star on a card.
    func isStarred(_ card: Card) async throws -> Bool {
        try await store.read { [person = wallet.person] tx in
            try !tx.objects(Star.self).where { $0.person == person && $0.card == card }.isEmpty()
        }
    }
}
