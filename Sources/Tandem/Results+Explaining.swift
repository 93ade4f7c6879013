extension Results {
    /// Returns the SQL of this query, SQLite's plan, the way in which a live result follows changes, and suggested
    /// indexes.
    ///
    /// ```swift
    /// print(try store.objects(Card.self).where { $0.barcode == "4601234567893" }.explain())
    /// // SELECT … FROM "Card" AS t0 WHERE t0."deleted" = 0 AND t0."barcode" = ? ORDER BY t0."localID"
    /// // values: '4601234567893'
    /// // plan:
    /// //   SCAN t0 USING INDEX sqlite_autoindex_Card_1
    /// // live: each changed row is evaluated by itself
    /// // suggestion: All objects of Card are read. Mark its property barcode with @Indexed.
    /// ```
    ///
    /// The text is for people, and may change from version to version.
    public func explain() throws -> QueryExplanation {
        try query.explanation(on: store)
    }
}
