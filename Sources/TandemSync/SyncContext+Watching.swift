import Tandem

extension SyncContext {
    /// Returns the current activity of the context, and the remaining work.
    ///
    /// - Throws: `TandemError` if the store can't be read.
    public func status() async throws -> SyncStatus {
        var status = statusTracker.status
        let (counts, fetched) = try await store.read { store in
            (
                try [PendingOperation.State.failed, .held].map { try store.countOfOperations(in: $0) }
                    + [try store.countOfOperations(), try store.countOfOperationsToRetry()],
                try store.lastSuccesses()
            )
        }
        (status.failed, status.held, status.retrying) = (counts[0], counts[1], counts[3])
        if let tandem { status.pendingFiles = try await tandem.read { try $0.countOfPendingFiles() } }
        status.pending = counts[2] - counts[0] - counts[1]
        status.lastSuccess.merge(successes(after: fetched)) { max($0, $1) }
        return status
    }

    /// The live status of the context: the current one first, then each change. A slow consumer gets only the newest.
    ///
    /// For example:
    ///
    /// ```swift
    /// for try await status in context.statuses {
    ///     spinner.isHidden = !status.isSyncing
    ///     badge = status.pending + status.failed
    /// }
    /// ```
    ///
    /// Ends when the store is closed.
    public var statuses: AsyncThrowingStream<SyncStatus, any Error> {
        live(hasFiles: true) { try await self.status() }
    }

    /// Returns the sync state of an object; `nil` if the store does not have the object.
    ///
    /// - Throws: ``SyncError/Code/unknownModel`` if the store was not opened with its model, or if the model is
    ///   local-only.
    public func state<M: Model>(of object: M) async throws -> SyncState? {
        let (table, localID, isPushing) = (M.__definition.table, object.localID, isPushing)
        _ = try settings(of: table)
        return try await store.read { try $0.syncState(of: localID, in: table, isPushing: isPushing) }
    }

    /// Returns the live sync state of an object: the current one first, then each change.
    ///
    /// The stream ends when the store is closed. It fails with ``SyncError/Code/unknownModel`` if the store was not
    /// opened with the object's model, or if the model is local-only.
    public func states<M: Model>(of object: M) -> AsyncThrowingStream<SyncState?, any Error> {
        live(hasFiles: true) { try await self.state(of: object) }
    }

    /// The live list of operations that wait for the user: the current ones first, then each change. A slow consumer
    /// gets only the newest.
    ///
    /// For example:
    ///
    /// ```swift
    /// for try await failures in sync.failures {
    ///     list.show(failures.map { "\($0.operation.model) \($0.operation.localID): \($0.message)" })
    /// }
    /// ```
    ///
    /// The user's choices for each: ``retry(_:)``, ``keepMine(_:)``, ``takeServers(_:)``, ``discard(_:)``,
    /// ``hold(_:)``. Ends when the store is closed.
    public var failures: AsyncThrowingStream<[TableOperationError], any Error> {
        live { try await self.failedOperations() }
    }

    /// Whether operations that are marked as being sent may be in flight. A push of another process is not visible
    /// here.
    private var isPushing: Bool {
        if case .pushing? = statusTracker.status.activity { true } else { false }
    }

    /// Returns a value that is read again after each change of the queue and of the context's activity.
    ///
    /// - Parameter hasFiles: Whether the value depends on files. It is then also read again after each change of a
    ///   file.
    func live<Value: Equatable & Sendable>(
        hasFiles: Bool = false, read: @escaping @Sendable () async throws -> Value
    ) -> AsyncThrowingStream<Value, any Error> {
        let (values, continuation) = AsyncThrowingStream<Value, any Error>.makeStream(
            bufferingPolicy: .bufferingNewest(1))
        // A single pending signal is enough for any number of changes.
        let (signals, signal) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        signal.yield()
        let (board, changes) = (statusTracker, store.operationChanges)
        let fileChanges = hasFiles ? tandem?.attachments.changes : nil
        let token = board.observe { signal.yield() }
        let queue = Task {
            for await _ in changes { signal.yield() }
            signal.finish()
        }
        let files = fileChanges.map { changes in
            Task { for await _ in changes { signal.yield() } }
        }
        let reader = Task {
            var last: Value?
            do {
                for await _ in signals {
                    let value = try await read()
                    guard value != last else { continue }
                    last = value
                    continuation.yield(value)
                }
                continuation.finish()
            } catch TandemError.Code.closed {
                continuation.finish()
            } catch {
                continuation.finish(throwing: error)
            }
        }
        continuation.onTermination = { _ in
            board.remove(token)
            queue.cancel()
            files?.cancel()
            reader.cancel()
        }
        return values
    }
}
