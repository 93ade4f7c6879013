import Tandem

extension SyncContext {
    /// Sends the operations that are in the queue when it begins, over all tables; then the pending files and their
    /// URLs. Changes made during uploads are sent before the next file.
    ///
    /// Other pushes and pulls need not wait for the files. A push waits for the uploads of another push in this
    /// process. Files that another process is uploading are ``FileUpload/Outcome/notReached`` after
    /// ``Options/patience``.
    ///
    /// The push keeps the order of the changes of one object, and of objects that refer to each other. With one request
    /// in flight (``Options/inFlight``), it keeps the order of the whole queue. Refused and held operations are not
    /// sent. Operations that failed in an earlier push do not delay the rest.
    ///
    /// For example:
    ///
    /// ```swift
    /// let result = try await sync.push()
    /// for failed in result.failedOperations { print(failed) }
    /// ```
    ///
    /// - Returns: The outcome of each operation and each file, if the push reached the end of the queue.
    /// - Throws: The error that stopped the push; the queue is then intact. ``SyncError/Code/unreachable`` if the
    ///   server can't be reached, ``SyncError/Code/unauthenticated``, ``SyncError/Code/later``, and
    ///   ``SyncError/Code/invalidResponse`` if its responses are not valid; the error carries the result so far:
    ///   ``SyncError/result``. `CancellationError` and the store's errors; ``SyncError/Code/cancelled`` and
    ///   ``SyncError/Code/store`` in place of these if edits were lost before (``SyncResult/lostEdits``), so that the
    ///   result reaches the app.
    @discardableResult
    public func push() async throws -> SyncResult {
        try await finish(try await send(isExplicit: !ScheduledRun.isAutomatic))
    }

    /// Completes a result with the operations that wait for the user.
    ///
    /// - Throws: The error that stopped the sync, with the result.
    func finish(_ unfinished: SyncResult) async throws -> SyncResult {
        var result = unfinished
        do {
            // A cancelled sync reports its effects too.
            result.failedOperations = try await failedOperationsEvenIfCancelled()
        } catch {
            guard result.stoppedBy != nil || result.hasGivenUp else { throw error }
            result.stoppedBy = result.stoppedBy ?? SyncError(stopping: error)
        }
        if let error = result.stoppedBy { throw error.carrying(result) }
        return result
    }

    /// Sends the queue alone, inside a sync.
    ///
    /// - Parameter isExplicit: Whether the app started the push explicitly. Operations with a later retry date are then
    ///   sent at once.
    func runPush(isExplicit: Bool) async throws -> SyncResult {
        try await PushRun(self, isExplicit: isExplicit).run()
    }
}
