extension Results {
    /// The objects as an asynchronous sequence, in the query's order, which does not block the task's thread.
    ///
    /// ```swift
    /// for try await card in store.objects(Card.self).where({ $0.points > 100 }).elements {
    ///     try await upload(card)
    /// }
    /// ```
    ///
    /// The iteration has its own connection. It sees the state of the store when the first object was requested, and
    /// takes constant memory, like ``forEach(_:)``. A long iteration prevents checkpoints of the write-ahead log. If
    /// other code writes a lot in the meantime, end the iteration, or call ``Results/all()-9pqel``.
    ///
    /// This sequence's `filter` and `map` run for each object after it is read. `where(_:)` lets SQLite filter.
    public var elements: ResultsSequence<M> { ResultsSequence(results: self) }
}

/// The objects of a query as an asynchronous sequence: see ``Results/elements``.
public struct ResultsSequence<M: Model>: AsyncSequence, Sendable {
    /// The type of the objects.
    public typealias Element = M

    let results: Results<M>

    /// Returns a new iterator.
    ///
    /// - Throws: `CancellationError` if the task is cancelled, or ``TandemError``.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(walk: AsyncWalk(results: results))
    }

    /// An iterator over the objects of a query.
    public struct AsyncIterator: AsyncIteratorProtocol {
        let walk: AsyncWalk<M>

        /// Returns the next object, or nil at the end.
        ///
        /// - Throws: ``TandemError`` if the query is not valid, or the store can't be read; `CancellationError`.
        public mutating func next() async throws -> M? {
            try await walk.next()
        }
    }
}
