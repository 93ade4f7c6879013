/// The check at the beginning of each write transaction that no other process has changed the schema.
struct SchemaCheck: CommitParticipant {
    /// Whether the transaction itself changes the schema.
    let isMigrating: Bool

    func begin(_ transaction: WriteTransaction) throws {
        guard !isMigrating else { return }
        do {
            transaction.hasExternalCommit = try transaction.store.checkSchema(transaction.connection)
        } catch let error as TandemError where error.code == .foreignSchemaChange {
            transaction.foreignSchemaChange = error
            throw error
        }
    }

    func didRollBack(_ transaction: WriteTransaction) {
        // The next transaction looks up the stamp again.
        transaction.connection.schemaStamp = nil
    }
}
