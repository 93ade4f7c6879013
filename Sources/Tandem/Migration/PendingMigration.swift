/// The rest of a migration after the tables were adapted: objects to enumerate, which needs a writable store.
struct PendingMigration {
    struct Work {
        let rows: OldRows
        let run: (OldRows, WriteTransaction) throws -> Void
    }

    let work: [Work]
    /// The old tables, which are dropped at the end.
    let tables: [String]
    /// The old tables whose files are in use until then.
    let tablesWithFiles: [String]
}

extension Migration.Enumeration {
    func isOf(table: String) -> Bool {
        if case .table(table) = source { true } else { false }
    }
}

extension Store {
    /// Enumerates the objects for a migration's steps, and commits the migration.
    ///
    /// - Throws: ``TandemError``, and the errors of a step. The store is then unchanged.
    func finish(_ pending: PendingMigration) throws {
        try writer.queue.unsafeReentrantWrite { _ in
            let connection = writer.connection
            do {
                let transaction = WriteTransaction(store: self, connection: connection)
                try transaction.run(isCancellable: false, isBegun: true) {
                    try AccessFrame.with(self, in: transaction) {
                        for work in pending.work { try work.run(work.rows, transaction) }
                    }
                    try transaction.flushSearch()
                    for table in pending.tables { try connection.execute("DROP TABLE \(table.quotedSQL)") }
                    for table in pending.tablesWithFiles {
                        try connection.execute(
                            "DELETE FROM \"__file_uses\" WHERE \"table\" = ?", binding: [.text(table)])
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
