extension Results {
    /// The objects, in the order, one by one, without blocking the task's thread.
    ///
    /// ```swift
    /// for try await card in store.objects(Card.self).where({ $0.points > 100 }).elements {
    ///     try await upload(card)
    /// }
    /// ```
    ///
    /// The walk has a connection of its own, and sees the store as it was when the first object was asked for. It takes
    /// constant memory as ``forEach(_:)`` does. A walk that takes long keeps the log of changes from being folded back
    /// into the file; end it, or read ``all()``, if much is written meanwhile.
    ///
    /// `filter` and `map` of this sequence are applied to each object after it is read. ``where(_:)`` leaves the
    /// choice to SQLite.
    public var elements: ResultsSequence<M> { ResultsSequence(results: self) }
}

/// The objects of a query as an asynchronous sequence: see ``Results/elements``.
public struct ResultsSequence<M: Model>: AsyncSequence, Sendable {
    public typealias Element = M

    let results: Results<M>

    /// Begins a walk.
    ///
    /// - Throws: `CancellationError` if the task is cancelled, or ``TandemError``.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(walk: AsyncWalk(results: results))
    }

    public struct AsyncIterator: AsyncIteratorProtocol {
        let walk: AsyncWalk<M>

        public mutating func next() async throws -> M? {
            try await walk.next()
        }
    }
}
