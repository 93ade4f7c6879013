/// Reading off the caller's thread: in an asynchronous function, `await` chooses these.
///
/// For example:
///
/// ```swift
/// let cards = try await store.objects(Card.self).sorted(by: \.shop).limit(50).all()
/// ```
///
/// Cancelling the task interrupts the query and throws `CancellationError`.
extension Results {
    /// All objects, in the order, read off the caller's thread.
    ///
    /// - Throws: As the synchronous `all()` does, and `CancellationError`.
    public func all() async throws -> [M] {
        try await store.read { _ in try all() }
    }

    /// The first object in the order, nil if there is none, read off the caller's thread.
    public func first() async throws -> M? {
        try await store.read { _ in try first() }
    }

    /// The number of objects, counted off the caller's thread.
    public func count() async throws -> Int {
        try await store.read { _ in try count() }
    }
}
