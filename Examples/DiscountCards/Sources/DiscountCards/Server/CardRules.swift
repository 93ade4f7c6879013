import Synchronization
import TandemServer

/// What the family's server demands of a card: that its number is an EAN-13, and on no other card.
///
/// A store can't keep the second rule alone: it does not know of cards that other devices have not sent yet.
final class CardRules: Sendable {
    private struct Numbers {
        /// The card that has a number.
        var cards: [String: (id: String, shop: String)] = [:]
        /// The number that a card has.
        var ofCard: [String: String] = [:]
    }

    private let numbers = Mutex(Numbers())

    /// - Throws: `ServerRefusal`, which is what the client hears.
    func check(_ change: ServerChange) throws {
        guard change.table == "card", change.kind != .delete else { return }
        guard case .text(let digits)? = change.members["barcode"], EAN13(digits) != nil else {
            throw Self.refusal("The number is no EAN-13.")
        }
        if let other = numbers.withLock({ $0.cards[digits] }), other.id != change.id {
            throw Self.refusal("The number \(digits) is on another card already: \(other.shop).")
        }
    }

    /// Remembers a card as it was written. If the transaction fails then, its number is taken until the next start: for
    /// development that is well enough.
    func note(_ kind: ServerChange.Kind, _ row: ServerRow) {
        guard row.table == "card" else { return }
        numbers.withLock { numbers in
            if let old = numbers.ofCard.removeValue(forKey: row.id) { numbers.cards[old] = nil }
            guard kind != .delete, case .text(let digits)? = row.members["barcode"] else { return }
            var shop = ""
            if case .text(let name)? = row.members["shop"] { shop = name }
            numbers.ofCard[row.id] = digits
            numbers.cards[digits] = (row.id, shop)
        }
    }

    private static func refusal(_ sentence: String) -> ServerRefusal {
        ServerRefusal(status: 400, body: ["error": .text(sentence)])
    }
}
