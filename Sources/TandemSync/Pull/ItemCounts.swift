/// The numbers of a table's items that a pull has compared.
struct ItemCounts: Hashable, Sendable {
    /// The number of items that the server shows.
    let visible: Int
    /// The number of the server's items in the store.
    let stored: Int
    /// Whether the pull reports edits of items that are no longer visible.
    let reportsEdits: Bool
}
