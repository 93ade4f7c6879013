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
        return LivePublisher(store: store) {
            let part = ListPart(LiveList(self, reading: reading, in: store.schema), tuning: store.live.tuning)
            return LiveComposition(parts: [part]) { ChangeSet(part.consumeChanges(), element: element) }
        }
    }

    /// Returns a publisher of the number of the query's objects.
    func countPublisher(on store: Store) -> LivePublisher<Int> {
        aggregatePublisher(.count, on: store) { Int($0.integer(0)) }
    }

    /// Returns a publisher of an aggregate.
    ///
    /// - Parameter read: Reads the value from the columns that the node selects, from column 0 on.
    func aggregatePublisher<Value: Sendable>(
        _ node: AggregateNode, on store: Store, read: @escaping @Sendable (RowDecoder) throws -> Value
    ) -> LivePublisher<Value> {
        LivePublisher(store: store) {
            let part = AggregatePart(self, node: node, read: read)
            return LiveComposition(parts: [part]) { try part.consumeValue() }
        }
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
