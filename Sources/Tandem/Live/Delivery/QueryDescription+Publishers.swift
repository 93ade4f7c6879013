/// The publishers of a query, which the typed queries and those by names share.
extension QueryDescription {
    /// Returns a publisher of the changes of the query's list.
    ///
    /// - Parameters:
    ///   - maker: The factory of the list's rows.
    ///   - store: The store of the query.
    ///   - element: Returns the element of a row.
    func listPublisher<Element: Sendable>(
        maker: RowMaker, on store: Store, element: @escaping @Sendable (LiveRow) -> Element
    ) -> LivePublisher<ChangeSet<Element>> {
        let reading = RowReading(maker: maker, section: nil, order: RowOrder(order))
        return LivePublisher(
            store: store,
            recipe: LiveRecipe { store in
                let part = ListPart(
                    LiveList(self, reading: reading, in: store.schema), tuning: store.live.tuning)
                return LiveRecipe.Making(parts: [part]) { ChangeSet(part.consumeChanges(), element: element) }
            })
    }

    /// Returns a publisher of the number of the query's objects.
    func countPublisher(on store: Store) -> LivePublisher<Int> {
        LivePublisher(
            store: store,
            recipe: LiveRecipe { _ in
                let part = CountPart(self)
                return LiveRecipe.Making(parts: [part]) { part.consumeCount() }
            })
    }
}

extension ChangeSet {
    init(
        _ change: (old: RowSlice, new: RowSlice, changes: RowChanges?),
        element: @escaping @Sendable (LiveRow) -> Element
    ) {
        let results = LiveCollection(change.new, element: element)
        if let changes = change.changes {
            self.init(previous: LiveCollection(change.old, element: element), results: results, changes: changes)
        } else {
            self.init(initial: results)
        }
    }
}
