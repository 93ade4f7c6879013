/// The events of a list for a browser.
enum ListEvent {
    /// The largest number of changed positions that are sent one by one. A larger change is sent as a new list, whose
    /// size does not depend on it.
    static let largestChange = 2000

    /// A new list. The browser keeps its place in it.
    struct Reset: Encodable {
        let stream: String
        let revision: Int
        let count: Int
        let headings: [ListSnapshot.Heading]
        /// The position of the first of the rows.
        let first: Int
        let rows: [CardRow]
    }

    /// Insertions, deletions, moves and changes of rows.
    struct Change: Encodable {
        /// The revision after the change. The one before is the previous number.
        let revision: Int
        let count: Int
        /// The headings; `nil` if they are unchanged.
        let headings: [ListSnapshot.Heading]?
        let deletions: [Int]
        let insertions: [Int]
        let modifications: [Int]
        /// Whether all rows may have changed. A browser forgets those that it has.
        let isReread: Bool
        /// The new rows in the browser's window, by position.
        let rows: [Int: CardRow]
        /// The IDs of moved cards, by their new positions. A browser moves their rows.
        let ids: [Int: String]
    }

    /// Rows that a browser requested.
    struct Rows: Encodable {
        let revision: Int
        let first: Int
        let rows: [CardRow]
    }
}
