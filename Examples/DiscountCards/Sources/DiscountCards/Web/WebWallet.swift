import Foundation
import Tandem

/// The open store of a page server.
struct WebWallet: Sendable {
    let wallet: Wallet
    let sync: WebSync
    let deleted = DeletedCards()

    var store: Store { wallet.store }

    init(_ wallet: Wallet, syncsAutomatically: Bool) {
        self.wallet = wallet
        sync = WebSync(wallet.store, isAutomatic: syncsAutomatically)
    }

    /// Returns this person's favorites by name: all, or those that a search finds.
    func favorites(matching words: String) -> Results<Card> {
        let favorites = store.objects(Card.self).where { [person = wallet.person] in
            $0.stars.any { $0.person == person }
        }
        return Self.search(favorites, for: words)
    }

    /// Returns the cards that are no favorites of this person, by name: all, or those that a search finds.
    func others(matching words: String) -> Results<Card> {
        let others = store.objects(Card.self).where { [person = wallet.person] in
            $0.stars.none { $0.person == person }
        }
        return Self.search(others, for: words)
    }

    private static func search(_ cards: Results<Card>, for words: String) -> Results<Card> {
        let cards = cards.sorted(by: \.shop)
        return words.isEmpty ? cards : cards.where { $0.shop.matches(words) || $0.owner.name.matches(words) }
    }

    /// Returns the rows of a list for a browser.
    func rows(of snapshot: ListSnapshot, in range: Range<Int>) async throws -> [CardRow] {
        let cards = range.map { (card: snapshot[$0], isStarred: snapshot.isFavorite($0)) }
        let owners = try await store.read { [store] _ in
            try cards.map { try store.object($0.card.owner)?.name ?? "–" }
        }
        var rows: [CardRow] = []
        for (entry, owner) in zip(cards, owners) {
            rows.append(try await row(of: entry.card, owner: owner, isStarred: entry.isStarred))
        }
        return rows
    }

    private func row(of card: Card, owner: String, isStarred: Bool) async throws -> CardRow {
        let state = try await sync.state(of: card)
        return CardRow(
            id: card.localID.rawValue, shop: card.shop, owner: owner,
            number: EAN13(card.barcode)?.printed ?? card.barcode, points: card.points.grouped, isStarred: isStarred,
            hasPhoto: card.photo != nil, state: state.name, stateWords: state.words)
    }

    /// Returns a card.
    ///
    /// - Throws: ``WebFailure`` if it does not exist.
    func card(_ id: LocalID) async throws -> Card {
        let card = try await store.read { tx in
            try tx.objects(Card.self).where { $0.localID == id }.first()
        }
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
