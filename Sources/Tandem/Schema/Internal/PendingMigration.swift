/// What is left of a migration when the tables fit the models: objects to be gone through, with a store to write to.
struct PendingMigration {
    struct Work {
        let rows: OldRows
        let run: (OldRows, WriteTransaction) throws -> Void
    }

    let work: [Work]
    /// The old tables, which go at the end.
    let tables: [String]
    /// Those of them whose files are in use until then.
    let tablesWithFiles: [String]
}

extension Migration.Enumeration {
    func isOf(table: String) -> Bool {
        if case .table(table) = source { true } else { false }
    }
}

extension Store {
    /// Goes through the objects that a migration's steps ask for, and commits the migration.
    ///
    /// - Throws: ``TandemError``, and what a step throws; the store is then as it was.
    func finish(_ pending: PendingMigration) throws {
        try writer.queue.unsafeReentrantWrite { _ in
            let connection = writer.connection
            do {
                let transaction = WriteTransaction(store: self, connection: connection, origin: .app)
                try transaction.run(isCancellable: false, isBegun: true) {
                    try AccessFrame.with(self, transaction) {
                        for work in pending.work { try work.run(work.rows, transaction) }
                    }
                    try transaction.flushSearch()
                    for table in pending.tables { try connection.execute("DROP TABLE \(table.quotedSQL)") }
                    for table in pending.tablesWithFiles {
                        try connection.execute("DELETE FROM \"__file_uses\" WHERE \"table\" = ?", [.text(table)])
                    }
                    if !pending.tablesWithFiles.isEmpty { try Migrator.freeUnusedFiles(connection) }
                }
                connection.schemaStamp = openedStamp
                connection.dataVersion = try connection.value("PRAGMA data_version")
            } catch {
                connection.rollBack()
                throw located(error)
            }
            connection.finalizeStatements()
        }
    }
}
