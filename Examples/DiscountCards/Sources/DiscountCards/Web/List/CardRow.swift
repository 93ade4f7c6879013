import Tandem

/// A card in a list, as a browser receives it.
struct CardRow: Encodable, Equatable, Sendable {
    let id: String
    let shop: String
    let owner: String
    let number: String
    let points: String
    let isStarred: Bool
    let hasPhoto: Bool
    let state: String
    /// The state in words.
    let stateWords: String
}
