extension Store {
    /// Publishes an object's current value, and its value after each commit that changes it. The value is nil while the
    /// object is not in the store.
    ///
    /// ```swift
    /// let subscription = store.publisher(for: card).on(.main).sink(receiveCompletion: { _ in }) { card in
    ///     title = card?.shop ?? "deleted"
    /// }
    /// ```
    public func publisher<M: Model>(for object: M) -> LivePublisher<M?> {
        publisher(for: object.reference)
    }

    /// Publishes the current value of a reference's target, and its value after each commit that changes it. The value
    /// is nil while the target is not in the store.
    public func publisher<M: Model>(for reference: Reference<M>) -> LivePublisher<M?> {
        objects(M.self).where { $0.localID == reference.localID }.collectionPublisher.mapOutput { $0.first }
    }

    /// Publishes several queries together: all values belong to the same committed state.
    ///
    /// ```swift
    /// let screen = store.combined(cards.collectionPublisher, people.countPublisher)
    /// let subscription = screen.on(.main).sink(receiveCompletion: { _ in }) { cards, count in … }
    /// ```
    ///
    /// It publishes a value for each commit that changes at least one of them. A change set of an unchanged query is
    /// then empty.
    ///
    /// - Parameter publisher: Publishers of this store. Set the scheduler and the token on the combined publisher.
    /// - Precondition: All are publishers of this store.
    public func combined<each Value: Sendable>(
        _ publisher: repeat LivePublisher<each Value>
    ) -> LivePublisher<(repeat each Value)> {
        for one in repeat each publisher {
            precondition(one.store === self, "Only publishers of the same store can be combined.")
        }
        let composers = (repeat (each publisher).compose)
        return LivePublisher(store: self) {
            var parts: [any LivePart] = []
            func output<Output>(_ compose: () -> LiveComposition<Output>) -> () throws -> Output {
                let composition = compose()
                parts += composition.parts
                return composition.output
            }
            let outputs = (repeat output(each composers))
            return LiveComposition(parts: parts) { (repeat try (each outputs)()) }
        }
    }
}
