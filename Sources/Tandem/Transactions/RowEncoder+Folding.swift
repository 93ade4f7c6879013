// The folded twins of a text, which are stored beside it: its sort key, its search key, and its key for uniqueness.

extension RowEncoder {
    /// Returns the key of a folded property's text that must be unique.
    func uniqueTwin(_ fold: TableLayout.Fold) -> StorageValue {
        guard let text = text(fold.property) else { return .null }
        return .text(Folding.caseKey(text))
    }

    /// Appends the keys of a folded property: see ``TableLayout/Fold/columns``.
    ///
    /// They are the sort key, and the search key and the key for uniqueness if the property has them. If the value is
    /// not a text, its keys are NULL: a damaged file may have a blob in its place, which may not be valid UTF-8.
    func appendTwins(_ fold: TableLayout.Fold, of row: RowEncoder, by collation: Collation) {
        guard row.slots[fold.property].tag == .text else {
            for _ in fold.columns { appendNull() }
            return
        }
        row.withBytes(of: fold.property) { text in
            append(.blob) { collation.appendKey(for: text, to: &$0) }
            if fold.searchColumn != nil { append(.text) { Folding.appendSearchKey(of: text, to: &$0) } }
            if fold.uniqueColumn != nil { append(.text) { Folding.appendCaseKey(of: text, to: &$0) } }
        }
    }
}
