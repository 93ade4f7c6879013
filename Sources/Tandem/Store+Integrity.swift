import GRDB

extension Store {
    /// Checks the whole store: the file, and the consistency of all data about each object.
    ///
    /// For example:
    ///
    /// ```swift
    /// let problems = try store.checkIntegrity()
    /// if !problems.isEmpty { print(problems.joined(separator: "\n")) }
    /// ```
    ///
    /// It runs SQLite's own check of the file. It also compares:
    /// - each value with its property's type;
    /// - the folded keys with their texts;
    /// - the search index with the keys;
    /// - references with their link tables;
    /// - unresolved references with the objects;
    /// - each operation with its object.
    ///
    /// It also checks the `synced` and `deleted` flags, the uses of files, and their existence and length in the
    /// folder. ``AttachmentStore/verify(_:)`` also reads the files.
    ///
    /// Inside a write block it checks the transaction's own state. It skips the search index inside a read block, and
    /// if the store was opened read-only. SQLite's check of the search index counts as a write.
    ///
    /// - Returns: The problems, one sentence each. It is empty if there are none.
    /// - Throws: ``TandemError`` if the store can't be read at all.
    /// - Complexity: O(size of the store). Writers wait.
    public func checkIntegrity() throws -> [String] {
        if AccessFrame.current(on: self) != nil || configuration.isReadOnly {
            return try reading(consistently: true, searching: true) { try checkIntegrity(by: $0) }
        }
        try checkOpen()
        return try writerQueue.pass {
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
        try located { try IntegrityCheck(connection: connection, schema: schema, store: self).run() }
    }
}
