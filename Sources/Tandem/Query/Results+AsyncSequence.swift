extension Results: AsyncSequence {
    public typealias Element = M

    /// Walks over the objects, in the order, without blocking the task's thread.
    ///
    /// ```swift
    /// for try await card in store.objects(Card.self).where({ $0.points > 100 }) {
    ///     try await upload(card)
    /// }
    /// ```
    ///
    /// The walk has a connection of its own, and sees the store as it was when the first object was asked for. It takes
    /// constant memory as ``forEach(_:)`` does. A walk that takes long keeps the log of changes from being folded back
    /// into the file; end it, or read ``all()``, if much is written meanwhile.
    ///
    /// - Throws: `CancellationError` if the task is cancelled, or ``TandemError``.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(walk: AsyncWalk(results: self))
    }

    public struct AsyncIterator: AsyncIteratorProtocol {
        let walk: AsyncWalk<M>

        public mutating func next() async throws -> M? {
            try await walk.next()
        }
    }
}
