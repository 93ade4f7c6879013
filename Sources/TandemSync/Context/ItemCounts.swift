/// The numbers of a table's items that a pull has compared.
struct ItemCounts: Sendable {
    /// The number of items that the server shows.
    let visible: Int
    /// The number of the server's items in the store.
    let stored: Int
    /// Whether the pull reports edits of items that are no longer visible.
    let reportsEdits: Bool

    /// Returns whether a full pull after these numbers would find the same as one after other numbers, or more.
    func covers(_ other: ItemCounts) -> Bool {
        visible == other.visible && stored == other.stored && (reportsEdits || !other.reportsEdits)
    }
}
