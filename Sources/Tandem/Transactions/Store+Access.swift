import GRDB

extension Store {
    /// Reads a consistent state of the store, whatever is written in the meantime.
    ///
    /// For example:
    ///
    /// ```swift
    /// let (cards, people) = try store.read { tx in
    ///     (try tx.objects(Card.self).count(), try tx.objects(Person.self).count())
    /// }
    /// ```
    ///
    /// Inside another block of the same store, it joins that block's transaction.
    ///
    /// - Parameter body: Reads by means of the transaction, which must not leave the block.
    /// - Throws: The errors of the block, and ``TandemError``.
    public func read<T>(_ body: (ReadTransaction) throws -> T) throws -> T {
        if let current = AccessFrame.current(on: self) { return try body(current) }
        return try reading(consistently: true) { connection in
            let transaction = ReadTransaction(caching: self, connection: connection)
            return try AccessFrame.with(self, in: transaction) { try body(transaction) }
        }
    }

    /// Reads a consistent state of the store, outside the caller's thread.
    ///
    /// Cancelling the task interrupts the current statement and throws `CancellationError`.
    ///
    /// - Parameter body: Reads by means of the transaction, which must not leave the block.
    /// - Throws: The errors of the block, ``TandemError``, and `CancellationError`.
    public func read<T: Sendable>(_ body: @Sendable (ReadTransaction) throws -> T) async throws -> T {
        try checkOpen()
        guard let readers else {
            return try await writer.queue.unsafeRead { _ in
                try checkOpen()
                return try run(reading: writer.connection, consistently: false, body)
            }
        }
        let reader = try await readers.borrow()
        defer { giveBack(reader) }
        return try await reader.connection.queue.unsafeRead { _ in
            try Task.checkCancellation()
            return try run(reading: reader.connection, consistently: true, body)
        }
    }

    private func run<T>(
        reading connection: Connection, consistently: Bool, _ body: (ReadTransaction) throws -> T
    ) throws -> T {
        let transaction = ReadTransaction(caching: self, connection: connection)
        return try AccessFrame.with(self, in: transaction) {
            try connection.consistently(consistently) { try body(transaction) }
        }
    }

    /// Writes to the store. A write block is atomic: if it throws, none of its changes are saved.
    ///
    /// For example:
    ///
    /// ```swift
    /// try store.write { tx in
    ///     let person = try tx.insert(Person(name: "Ада"))
    ///     try tx.insert(Card(shop: "Лента", barcode: "4601234567893", owner: person.reference))
    /// }
    /// ```
    ///
    /// Writers wait for each other. A `write` inside a `write` joins it. If the inner one throws, its changes are
    /// undone. The outer one continues if it catches the error.
    ///
    /// - Parameters:
    ///   - quiet: Tokens of subscriptions that are not notified of this write, because they know its changes: see
    ///     ``LivePublisher/identified(by:)``. In a `write` inside a `write`, this applies to the whole outer write:
    ///     they are not notified of its other changes either.
    ///   - body: Writes by means of the transaction, which must not leave the block.
    /// - Throws: The errors of the block, and ``TandemError``.
    @discardableResult
    public func write<T>(
        withoutNotifying quiet: Set<LiveToken> = [], _ body: (WriteTransaction) throws -> T
    ) throws -> T {
        if let joined = try joined() { return try joined.nested(withoutNotifying: quiet, body: body) }
        try checkOpen()
        let write = try writerQueue.pass {
            writer.queue.unsafeReentrantWrite { _ in
                FinishedWrite(WriteTransaction(store: self, connection: writer.connection)) {
                    perform($0, quiet: quiet, isCancellable: false, body: body)
                }
            }
        }
        // Notify after the writer is released, because observers may write. Free the transaction after that.
        return try withExtendedLifetime(write) {
            notifyObservers(write.outcome)
            return try write.outcome.result.get()
        }
    }

    /// Writes to the store, outside the caller's thread. A write block is atomic: if it throws, none of its changes are
    /// saved.
    ///
    /// Cancelling the task before the commit rolls back and throws `CancellationError`.
    ///
    /// - Parameters:
    ///   - quiet: Tokens of subscriptions that are not notified of this write.
    ///   - body: Writes by means of the transaction, which must not leave the block.
    /// - Throws: The errors of the block, ``TandemError``, and `CancellationError`.
    @discardableResult
    public func write<T: Sendable>(
        withoutNotifying quiet: Set<LiveToken> = [], _ body: @Sendable (WriteTransaction) throws -> T
    ) async throws -> T {
        try checkOpen()
        let outcome = try await writerQueue.pass { stay in
            try await writer.queue.writeWithoutTransaction { _ in
                defer { stay.end() }
                try Task.checkCancellation()
                let transaction = WriteTransaction(store: self, connection: writer.connection)
                return perform(transaction, quiet: quiet, isCancellable: true, body: body)
            }
        }
        notifyObservers(outcome)
        return try outcome.result.get()
    }

    /// The outcome of a write.
    fileprivate struct Outcome<T> {
        let result: Result<T, any Error>
        let touched: TouchedTables
        let notifications: [@Sendable () -> Void]
    }

    /// A finished write, and its transaction. A class is cheap to pass through the generic functions that return it.
    private final class FinishedWrite<T> {
        let outcome: Outcome<T>
        private let transaction: WriteTransaction

        init(_ transaction: WriteTransaction, perform: (WriteTransaction) -> Outcome<T>) {
            outcome = perform(transaction)
            self.transaction = transaction
        }
    }

    /// Notifies observers, after the writer is released.
    private func notifyObservers<T>(_ outcome: Outcome<T>) {
        if case .success = outcome.result { commits.committed(outcome.touched) }
        for notify in outcome.notifications { notify() }
    }

    /// Returns the write that this thread is in.
    private func joined() throws -> WriteTransaction? {
        guard let current = AccessFrame.current(on: self) else { return nil }
        guard let write = current as? WriteTransaction else {
            throw TandemError(
                .writeInsideRead, message: "A write began inside a read block.",
                advice: "Write after the read block has returned, or read and write in a single write block.",
                store: path)
        }
        return write
    }

    private func perform<T>(
        _ transaction: WriteTransaction, quiet: Set<LiveToken>, isCancellable: Bool,
        body: (WriteTransaction) throws -> T
    ) -> Outcome<T> {
        transaction.quiet = quiet
        let result = Result<T, any Error> {
            try located {
                // The store may have been closed while this write waited.
                try checkOpen()
                return try transaction.run(isCancellable: isCancellable) {
                    try AccessFrame.with(self, in: transaction) { try body(transaction) }
                }
            }
        }
        return Outcome(result: result, touched: transaction.touched, notifications: transaction.notifications)
    }

    /// Runs a block with a connection for reading: that of the thread's transaction, or else a reader.
    ///
    /// - Parameters:
    ///   - consistently: Whether the block runs several statements, which must see the same state.
    ///   - searching: Whether it uses a search index.
    func reading<T>(
        consistently: Bool = false, searching: Bool = false, _ body: (Connection) throws -> T
    ) throws -> T {
        if let current = AccessFrame.current(on: self) {
            return try body(try current.connectionForReading(searching: searching))
        }
        try checkOpen()
        guard let readers else {
            return try writer.queue.unsafeReentrantRead { _ in
                try checkOpen()
                return try body(writer.connection)
            }
        }
        let reader = try readers.borrow()
        defer { giveBack(reader) }
        return try reader.connection.consistently(consistently) { try body(reader.connection) }
    }

    /// Runs a block with a connection that sees the last commit, even inside a read block.
    ///
    /// The read block itself sees an older state. Inside a write block, the connection is that of the write block.
    func readingNewest<T>(_ body: (Connection) throws -> T) throws -> T {
        // In memory, nothing is committed during a read.
        guard let readers, !(AccessFrame.current(on: self) is WriteTransaction) else { return try reading(body) }
        try checkOpen()
        // May exceed the maximum: the caller may already hold a reader.
        let reader = try readers.borrowForWalk()
        defer { giveBack(reader) }
        return try body(reader.connection)
    }

    /// Whether this thread is in a transaction of a store in memory, which has no second connection for reading.
    var isBusyInMemory: Bool { readers == nil && AccessFrame.current(on: self) != nil }

    func giveBack(_ reader: ReaderPool.Reader) {
        guard readers?.giveBack(reader) != true else { return }
        reader.connection.finalizeStatements()
        try? reader.connection.queue.close()
    }

    /// Returns a separate connection for an iteration across suspensions, or `nil` in memory, where there is only one.
    func checkOutReader() throws -> Connection? {
        try readers?.borrowForWalk().connection
    }

    func checkIn(_ connection: Connection) {
        giveBack(ReaderPool.Reader(connection: connection))
    }

    /// Checks that the store was opened with a model.
    func requireModel(_ model: ModelDefinition) throws {
        guard schema.table(of: model) != nil else {
            var error = Schema.unknown(model.name)
            error.store = path
            throw error
        }
    }
}

extension Store.Outcome: Sendable where T: Sendable {}
