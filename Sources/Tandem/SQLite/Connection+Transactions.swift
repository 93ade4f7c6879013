extension Connection {
    /// Begins a write transaction.
    func begin() throws {
        // Prepare the statements that may have to end it in advance: SQLite prepares nothing while it is interrupted.
        _ = try statement(TransactionStatement.rollback)
        // A store that is being created has no settings yet.
        _ = try? statement(TransactionStatement.emptyWrite)
        // If the disk rejected a rollback, a transaction may still be open.
        rollBack()
        try statement(TransactionStatement.begin).run()
    }

    /// Commits the transaction.
    func commit() throws { try statement(TransactionStatement.commit).run() }

    /// Ends a failed transaction, unless SQLite has already done so, as after a full disk.
    func rollBack() {
        guard isInTransaction else { return }
        _ = try? statement(TransactionStatement.rollback).run()
        guard isInTransaction else { return }
        // NB: An interrupt lasts until no statement runs, and FTS5 keeps a statement open until the transaction ends
        // (https://sqlite.org/forum/forumpost/137c7662b3). Therefore a ROLLBACK is interrupted too. An interrupted
        // writing statement makes SQLite roll back everything.
        _ = try? statement(TransactionStatement.emptyWrite).run()
    }

    /// Runs a block that begins a read transaction, and then ends the transaction.
    func reading<T>(_ body: () throws -> T) throws -> T {
        defer {
            if isInTransaction {
                try? commit()
                // A reader that stays in its transaction would always see that state.
                rollBack()
            }
        }
        return try body()
    }

    /// Runs statements in a single read transaction, so that they see the same state.
    func consistently<T>(_ transaction: Bool, body: () throws -> T) throws -> T {
        guard transaction, !isInTransaction else { return try body() }
        return try reading {
            try statement("BEGIN DEFERRED").run()
            return try body()
        }
    }
}
