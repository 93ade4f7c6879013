extension Results {
    /// Returns the objects that follow an object in the order: the next page of a list.
    ///
    /// ```swift
    /// let cards = store.objects(Card.self).sorted(by: \.shop)
    /// var page = try cards.limit(50).all()
    /// while let last = page.last {
    ///     page = try cards.after(last).limit(50).all()
    /// }
    /// ```
    ///
    /// The position is that of the given values. So it does not matter if the object was changed or deleted in the
    /// meantime. The position includes the local ID, which breaks ties, so no object is skipped or repeated.
    ///
    /// - Parameter object: The last object of the page before.
    /// - Complexity: If an index provides the order, O(log *n*) for the first object, however far the page is from the
    ///   beginning. ``offset(_:)`` reads all objects before it.
    /// - Throws: ``TandemError`` with the code `invalidQuery` if the order follows a reference or contains
    ///   `matchingFirst`. An object's values do not determine its position in such an order. If a
    ///   `Codable` value of the object can't be encoded, throws the encoder's error.
    public func after(_ object: M) throws -> Results {
        let row = RowEncoder()
        object.__append(to: row)
        if let failure = row.failure { throw failure }
        let follows = try PageTerm.follows(
            query.order, values: row, state: object.__state, model: query.model, store: store)
        return Results(store: store, query: query.filtered(follows))
    }

    /// Returns up to `limit` objects that follow an object in the order, or the first page if `object` is nil.
    ///
    /// - Precondition: The limit is not negative.
    /// - Parameters:
    ///   - object: The last object of the page before, or nil.
    ///   - limit: The maximum number of objects.
    /// - Throws: The errors of ``after(_:)`` and ``all()-9pqel``.
    public func page(after object: M?, limit: Int) throws -> [M] {
        try (object.map(after) ?? self).limit(limit).all()
    }
}
