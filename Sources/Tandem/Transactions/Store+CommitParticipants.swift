extension Store {
    /// Creates the participants of a write transaction that has just begun: the schema check, and those of the parts in
    /// their order.
    ///
    /// The schema check comes first, because the live queries use its result.
    ///
    /// - Parameter isMigrating: Whether the transaction completes a migration of this store.
    func commitParticipants(on connection: Connection, isMigrating: Bool) -> [any CommitParticipant] {
        var participants: [any CommitParticipant] = [SchemaCheck(isMigrating: isMigrating)]
        for part in parts { participants.append(part.commitParticipant(on: connection)) }
        return participants
    }
}
