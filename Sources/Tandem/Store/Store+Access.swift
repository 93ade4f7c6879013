import GRDB

/// Who makes a change.
public enum WriteOrigin: Sendable {
    /// The app: each change queues an operation, to be sent.
    case app
    /// A server: what is written came from there, and queues nothing. The state that
    /// ``Model/received(serverID:version:createdAt:updatedAt:)`` gives an object is kept.
    case server
}

extension Store {
    /// Reads in one consistent state of the store, whatever is written meanwhile.
    ///
    /// For example:
    ///
    /// ```swift
    /// let (cards, people) = try store.read { tx in
    ///     (try tx.objects(Card.self).count(), try tx.objects(Person.self).count())
    /// }
    /// ```
    ///
    /// Inside another block of the same store it is part of that one.
    ///
    /// - Throws: What the block throws, and ``TandemError``.
    public func read<T>(_ body: (ReadTransaction) throws -> T) throws -> T {
        if let current = AccessFrame.current(on: self) { return try body(current) }
        return try reading(consistently: true) { connection in
            let transaction = ReadTransaction(store: self, connection: connection)
            return try AccessFrame.with(self, transaction) { try body(transaction) }
        }
    }

    /// Reads in one consistent state of the store, off the caller's thread.
    ///
    /// Cancelling the task interrupts the statement under way and throws `CancellationError`.
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
        let transaction = ReadTransaction(store: self, connection: connection)
        return try AccessFrame.with(self, transaction) {
            try connection.consistently(consistently) { try body(transaction) }
        }
    }

    /// Writes: all that the block does is kept, or, if it throws, nothing of it.
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
    /// Writers wait for each other. A `write` inside a `write` is part of it; if the inner one throws, what it did is
    /// undone, and the outer one goes on if it catches the error.
    ///
    /// - Parameters:
    ///   - origin: Who makes the changes.
    ///   - quiet: Subscriptions that are not told of what this write changes, because they know: see
    ///     ``LivePublisher/identified(by:)``. In a `write` inside a `write` it holds for all that the outer one does:
    ///     what that changes besides is not told to them either.
    /// - Throws: What the block throws, and ``TandemError``.
    @discardableResult
    public func write<T>(
        from origin: WriteOrigin = .app, withoutNotifying quiet: Set<LiveToken> = [],
        _ body: (WriteTransaction) throws -> T
    ) throws -> T {
        if let joined = try joined(origin) { return try joined.nested(origin, withoutNotifying: quiet, body) }
        try checkOpen()
        let outcome = try gate.pass {
            writer.queue.unsafeReentrantWrite { _ in
                perform(origin, quiet, isCancellable: false, body)
            }
        }
        // With the writer free: whoever is told may write.
        tell(outcome)
        return try outcome.result.get()
    }

    /// Writes off the caller's thread: all that the block does is kept, or, if it throws, nothing of it.
    ///
    /// Cancelling the task before the commit rolls back and throws `CancellationError`.
    @discardableResult
    public func write<T: Sendable>(
        from origin: WriteOrigin = .app, withoutNotifying quiet: Set<LiveToken> = [],
        _ body: @Sendable (WriteTransaction) throws -> T
    ) async throws -> T {
        try checkOpen()
        let outcome = try await gate.pass { stay in
            try await writer.queue.writeWithoutTransaction { _ in
                defer { stay.end() }
                try Task.checkCancellation()
                return perform(origin, quiet, isCancellable: true, body)
            }
        }
        tell(outcome)
        return try outcome.result.get()
    }

    /// What came of a write.
    fileprivate struct Outcome<T> {
        let result: Result<T, any Error>
        let touched: TouchedTables
        let wakeUp: LiveWakeUp
    }

    /// Tells those who watch, with the writer free.
    private func tell<T>(_ outcome: Outcome<T>) {
        if case .success = outcome.result { commits.committed(outcome.touched) }
        live.run(outcome.wakeUp)
    }

    /// The write that this thread is in.
    private func joined(_ origin: WriteOrigin) throws -> WriteTransaction? {
        guard let current = AccessFrame.current(on: self) else { return nil }
        guard let write = current as? WriteTransaction else {
            throw TandemError(
                .writeInsideRead, "A write was begun inside a read block.",
                advice: "Read first, leave the block, then write; or do both in one write block.", store: path)
        }
        return write
    }

    private func perform<T>(
        _ origin: WriteOrigin, _ quiet: Set<LiveToken>, isCancellable: Bool, _ body: (WriteTransaction) throws -> T
    ) -> Outcome<T> {
        let transaction = WriteTransaction(store: self, connection: writer.connection, origin: origin)
        transaction.quiet = quiet
        let result = Result<T, any Error> {
            do {
                // The store may have been closed while this write waited for its turn.
                try checkOpen()
                return try transaction.run(isCancellable: isCancellable) {
                    try AccessFrame.with(self, transaction) { try body(transaction) }
                }
            } catch {
                throw located(error)
            }
        }
        return Outcome(result: result, touched: transaction.touched, wakeUp: transaction.wakeUp)
    }

    /// Runs a block with a connection to read by: that of the transaction the thread is in, else a reader.
    ///
    /// - Parameters:
    ///   - consistently: Whether the block runs several statements, which must see one state.
    ///   - searching: Whether it looks into a search index.
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

    /// Runs a block with a connection that sees what was committed last, also inside a read block, which sees the state
    /// that it began with; inside a write block, with that block's own.
    func readingNewest<T>(_ body: (Connection) throws -> T) throws -> T {
        // In memory nothing is committed while somebody reads.
        guard let readers, !(AccessFrame.current(on: self) is WriteTransaction) else { return try reading(body) }
        try checkOpen()
        // One beyond the maximum, if need be: who asks may hold another.
        let reader = try readers.borrowForWalk()
        defer { giveBack(reader) }
        return try body(reader.connection)
    }

    func giveBack(_ reader: ReaderPool.Reader) {
        guard readers?.giveBack(reader) != true else { return }
        reader.connection.finalizeStatements()
        try? reader.connection.queue.close()
    }

    /// A connection of its own for a walk that goes on across suspensions, `nil` in memory, where there is but one.
    func checkOutReader() throws -> Connection? {
        try readers?.borrowForWalk().connection
    }

    func checkIn(_ connection: Connection) {
        giveBack(ReaderPool.Reader(connection: connection))
    }

    /// Makes sure that the store was opened with a model.
    func requireModel(_ model: ModelDefinition) throws {
        guard schema.table(ofType: model.type) != nil else {
            var error = Schema.unknown(model.type)
            error.store = path
            throw error
        }
    }
}

extension Store.Outcome: Sendable where T: Sendable {}
