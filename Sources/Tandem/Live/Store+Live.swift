extension Store {
    /// Publishes an object as it is now and after each commit that changes it; nil while it is not in the store.
    ///
    /// ```swift
    /// let subscription = store.publisher(for: card).on(.main).sink(receiveCompletion: { _ in }) { card in
    ///     title = card?.shop ?? "deleted"
    /// }
    /// ```
    public func publisher<M: Model>(for object: M) -> LivePublisher<M?> {
        publisher(for: object.reference)
    }

    /// Publishes the object that a reference names, as it is now and after each commit that changes it; nil while it is
    /// not in the store.
    public func publisher<M: Model>(for reference: Reference<M>) -> LivePublisher<M?> {
        objects(M.self).where { $0.localID == reference.localID }.collectionPublisher.mapRecipe { $0.first }
    }

    /// Publishes several queries as one whole: all values are of one committed state.
    ///
    /// ```swift
    /// let screen = store.combined(cards.collectionPublisher, people.countPublisher)
    /// let subscription = screen.on(.main).sink(receiveCompletion: { _ in }) { cards, count in … }
    /// ```
    ///
    /// There is a value for each commit that changes one of them at least. A change set among them is then empty where
    /// its query has not changed.
    ///
    /// - Parameter publisher: Publishers of this store. Where they deliver, and by which token they are identified, is
    ///   said of the whole.
    /// - Precondition: All are publishers of this store.
    public func combined<each Value: Sendable>(
        _ publisher: repeat LivePublisher<each Value>
    ) -> LivePublisher<(repeat each Value)> {
        for one in repeat each publisher {
            precondition(one.store === self, "Only publishers of one store can be combined.")
        }
        let recipes = (repeat (each publisher).recipe)
        return LivePublisher(
            store: self,
            recipe: LiveRecipe { store in
                var parts: [any LivePart] = []
                func make<Output>(_ recipe: LiveRecipe<Output>) -> () throws -> Output {
                    let making = recipe.make(store)
                    parts += making.parts
                    return making.output
                }
                let outputs = (repeat make(each recipes))
                return LiveRecipe.Making(parts: parts) { (repeat try (each outputs)()) }
            })
    }

    /// Whether this thread is in a transaction of a store in memory, which has no second connection to read by.
    var isBusyInMemory: Bool { readers == nil && AccessFrame.current(on: self) != nil }
}
