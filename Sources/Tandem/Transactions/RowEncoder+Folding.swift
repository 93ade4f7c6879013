// The folded twins of a text: its sort key and its search key, which are stored beside it.

extension RowEncoder {
    /// Returns the sort key of a folded property's text.
    func sortTwin(_ fold: TableLayout.Fold) -> StorageValue {
        let twins = RowEncoder()
        twins.appendTwins(fold, of: self)
        return twins.value(at: 0)
    }

    /// Appends the sort key of a folded property, and its search key if it has one.
    func appendTwins(_ fold: TableLayout.Fold, of row: RowEncoder) {
        if row.isNull(fold.property) {
            appendNull()
            if fold.searchColumn != nil { appendNull() }
            return
        }
        row.withBytes(of: fold.property) { text in
            append(.text) { Folding.appendSortKey(of: text, to: &$0) }
            if fold.searchColumn != nil { append(.text) { Folding.appendSearchKey(of: text, to: &$0) } }
        }
    }
}
