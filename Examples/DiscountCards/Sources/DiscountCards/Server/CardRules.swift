import Synchronization
import TandemServer

/// The family server's rules for a card: its number must be an EAN-13, and unique.
///
/// A local store can't enforce uniqueness alone: it does not know cards that other devices have not sent yet.
final class CardRules: Sendable {
    private struct Numbers {
        /// The cards by their numbers.
        var cards: [String: (id: String, shop: String)] = [:]
        /// The numbers by their cards.
        var ofCard: [String: String] = [:]
    }

    private let numbers = Mutex(Numbers())

    /// Checks a change.
    ///
    /// - Throws: `ServerRefusal`, which becomes the response.
    func check(_ change: ServerChange) throws {
        guard change.table == "card", change.kind != .delete else { return }
        guard case .text(let digits)? = change.members["barcode"], EAN13(digits) != nil else {
            throw Self.refusal("The number is not a valid EAN-13.")
        }
        if let other = numbers.withLock({ $0.cards[digits] }), other.id != change.id {
            throw Self.refusal("The number \(digits) is on another card already: \(other.shop).")
        }
    }

    /// Records a written card. If the transaction then fails, its number stays reserved until a restart, which is
    /// acceptable for development.
    func note(_ kind: ServerChange.Kind, of row: ServerRow) {
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
