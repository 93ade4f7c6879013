/// Asynchronous reading, outside the caller's thread. In an asynchronous function, `await` selects these functions.
///
/// For example:
///
/// ```swift
/// let cards = try await store.objects(Card.self).sorted(by: \.shop).limit(50).all()
/// ```
///
/// Cancelling the task interrupts the query and throws `CancellationError`.
extension Results {
    /// Returns all objects, in the query's order, read outside the caller's thread.
    ///
    /// - Throws: The errors of the synchronous `all()`, and `CancellationError`.
    public func all() async throws -> [M] {
        try await store.read { _ in try all() }
    }

    /// Returns the first object, or nil if there is none, read outside the caller's thread.
    ///
    /// - Throws: ``TandemError`` if the query is not valid, or the store can't be read; `CancellationError`.
    public func first() async throws -> M? {
        try await store.read { _ in try first() }
    }

    /// Returns the number of objects, counted outside the caller's thread.
    ///
    /// - Throws: ``TandemError`` if the query is not valid, or the store can't be read; `CancellationError`.
    public func count() async throws -> Int {
        try await store.read { _ in try count() }
    }
}
