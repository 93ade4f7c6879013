import Tandem

/// The cards of a list at one time: favorites first, then all others by first letter.
///
/// It is made of two live results. A position counts through both.
struct ListSnapshot: Sendable {
    /// A heading of the list.
    struct Heading: Encodable, Equatable, Sendable {
        /// The letter, or a star for the favorites.
        let title: String
        /// The position of its first card.
        let start: Int
        let count: Int
    }

    let favorites: LiveCollection<Card>
    let others: LiveSections<String?, Card>

    /// The number of cards.
    var count: Int { favorites.count + others.elements.count }

    /// Returns the card at a position.
    subscript(position: Int) -> Card {
        position < favorites.count ? favorites[position] : others.elements[position - favorites.count]
    }

    /// Returns the ID of the card at a position.
    func id(at position: Int) -> LocalID {
        position < favorites.count
            ? favorites.localIDs[position] : others.elements.localIDs[position - favorites.count]
    }

    /// Returns whether the card at a position is a favorite.
    func isFavorite(_ position: Int) -> Bool { position < favorites.count }

    /// The headings, in the order of the list.
    var headings: [Heading] {
        let offset = favorites.count
        let letters = others.map { section in
            Heading(
                title: section.key.flatMap { $0.isEmpty ? nil : $0 } ?? "–", start: offset + section.range.lowerBound,
                count: section.count)
        }
        return favorites.isEmpty ? letters : [Heading(title: "★", start: 0, count: offset)] + letters
    }
}
