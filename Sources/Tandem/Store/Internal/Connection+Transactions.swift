extension Connection {
    /// Begins a write transaction.
    func begin() throws {
        // What may have to end it is prepared beforehand: SQLite prepares nothing while it is interrupted.
        _ = try statement(.rollback)
        // There are no settings yet in a store that is being made.
        _ = try? statement(.emptyWrite)
        // A rollback that the disk refused may have left a transaction open.
        rollBack()
        try statement(.begin).run()
    }

    /// Ends a transaction that failed, if SQLite has not done so by itself (it has after some errors: a full disk,
    /// for one).
    func rollBack() {
        guard isInTransaction else { return }
        _ = try? statement(.rollback).run()
        guard isInTransaction else { return }
        // NB: An interrupt lasts until no statement runs, and FTS5 keeps one open until the transaction ends
        // (https://sqlite.org/forum/forumpost/137c7662b3): a ROLLBACK is interrupted too. A statement that writes is as
        // well, and then SQLite rolls back everything.
        _ = try? statement(.emptyWrite).run()
    }

    /// Runs a block that begins a read transaction, and ends that.
    func reading<T>(_ body: () throws -> T) throws -> T {
        defer {
            if isInTransaction {
                _ = try? statement(.commit).run()
                // A reader left in its transaction would see that state for ever.
                rollBack()
            }
        }
        return try body()
    }

    /// Runs statements in one read transaction, so that they see one state.
    func consistently<T>(_ transaction: Bool, _ body: () throws -> T) throws -> T {
        guard transaction, !isInTransaction else { return try body() }
        try statement("BEGIN DEFERRED").run()
        defer {
            _ = try? statement(.commit).run()
            // A reader left in its transaction would see that state for ever.
            rollBack()
        }
        return try body()
    }
}
