import GRDB
import GRDBSQLite

extension Store {
    /// Checks the whole store: the file, and that all that is kept about an object is in step with it.
    ///
    /// For example:
    ///
    /// ```swift
    /// let problems = try store.checkIntegrity()
    /// if !problems.isEmpty { print(problems.joined(separator: "\n")) }
    /// ```
    ///
    /// What is looked at: SQLite's own check of the file; each value against its property's type; the folded twins
    /// against their texts; the search index against the twins; references and their link tables; what waits for
    /// objects that have not arrived; each operation against its object; the `synced` and `deleted` flags; who uses which
    /// file, and whether it lies in the folder and is as long as it should be (``StoreAttachments/verify(_:)`` reads it).
    ///
    /// Inside a write block the transaction's own state is checked. In a store that was opened read-only, and inside a
    /// read block, the search index is not looked at: SQLite checks it by what counts as a write.
    ///
    /// - Returns: The problems found, a sentence each; empty if there are none.
    /// - Throws: ``TandemError`` if the store can't be read at all.
    /// - Complexity: O(size of the store). Writers wait.
    public func checkIntegrity() throws -> [String] {
        if AccessFrame.current(on: self) != nil || configuration.isReadOnly {
            return try reading(consistently: true, searching: true) { try checkIntegrity(by: $0) }
        }
        try checkOpen()
        return try gate.pass {
            try writer.queue.unsafeReentrantWrite { _ in
                try checkOpen()
                let connection = writer.connection
                try connection.begin()
                defer { connection.rollBack() }
                return try checkIntegrity(by: connection)
            }
        }
    }

    private func checkIntegrity(by connection: Connection) throws -> [String] {
        do {
            return try IntegrityCheck(connection: connection, schema: schema, store: self).run()
        } catch {
            throw located(error)
        }
    }
}
