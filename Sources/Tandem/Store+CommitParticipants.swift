extension Store {
    /// Creates the participants of a write transaction that has just begun.
    ///
    /// The schema check comes first, because the live queries use its result. The files come before the live queries,
    /// because they write while they prepare.
    ///
    /// - Parameter isMigrating: Whether the transaction completes a migration of this store.
    func commitParticipants(on connection: Connection, isMigrating: Bool) -> [any CommitParticipant] {
        [SchemaCheck(isMigrating: isMigrating), FileCommit(), LiveCommit(live, on: connection)]
    }
}
