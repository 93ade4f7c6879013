/// A part of the store that takes part in every write transaction, such as the live queries.
///
/// ``Store/commitParticipants(on:isMigrating:)`` creates the participants of a transaction, one for each
/// ``StorePart``. The transaction calls them in their order, on the writer's thread. All methods have an empty default.
protocol CommitParticipant {
    /// Called after the transaction has begun, before its first change. If it throws, the transaction is rolled back.
    func begin(_ transaction: WriteTransaction) throws

    /// Called after the last change of the transaction's block. It may write to the store. If it throws, the
    /// transaction is rolled back.
    func prepare(_ transaction: WriteTransaction) throws

    /// Commits, after all participants have prepared. A participant implements it to hold a lock during the commit.
    ///
    /// - Parameter commit: A closure that commits. The participant must call it exactly once.
    func commit(_ transaction: WriteTransaction, with commit: () throws -> Void) throws

    /// Called after the commit, before the writer is released.
    func didCommit(_ transaction: WriteTransaction)

    /// Called after the rollback of a failed transaction.
    func didRollBack(_ transaction: WriteTransaction)

    /// Called once after the commit or the rollback, to release the resources of the transaction.
    func end(_ transaction: WriteTransaction)

    /// Returns a closure that notifies observers, or `nil`. It is called after ``end(_:)``. The closure runs after the
    /// writer is released, because observers may write.
    func notification() -> (@Sendable () -> Void)?
}

extension CommitParticipant {
    func begin(_ transaction: WriteTransaction) throws {}
    func prepare(_ transaction: WriteTransaction) throws {}
    func commit(_ transaction: WriteTransaction, with commit: () throws -> Void) throws { try commit() }
    func didCommit(_ transaction: WriteTransaction) {}
    func didRollBack(_ transaction: WriteTransaction) {}
    func end(_ transaction: WriteTransaction) {}
    func notification() -> (@Sendable () -> Void)? { nil }
}
