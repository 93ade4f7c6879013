import Tandem

extension SyncContext {
    /// Sends what the queue has when it begins, over all tables; then the files that wait, and their URLs. What is changed
    /// while files are uploaded is sent too, and no file begins before it.
    ///
    /// Other pushes and pulls need not wait for the files. A push waits for the uploads of another one in this process.
    /// Files that another process is uploading are ``FileUpload/Outcome/notReached`` after ``Options/patience``.
    ///
    /// Order is kept where it matters: between the changes of one object, between objects that refer to each other, and,
    /// at one request in flight (``Options/inFlight``), everywhere. What was refused, or is held, is not sent. What failed
    /// in an earlier push does not hold up the rest.
    ///
    /// For example:
    ///
    /// ```swift
    /// let result = try await sync.push()
    /// for failed in result.failedOperations { print(failed) }
    /// ```
    ///
    /// - Returns: What became of each operation and each file, if the push went through the queue.
    /// - Throws: What stopped the push; the queue is then intact. ``SyncError/Code/unreachable`` if the server can't be
    ///   reached, ``SyncError/Code/unauthenticated``, ``SyncError/Code/later`` and ``SyncError/Code/badAnswer`` if the
    ///   server can't answer; the error carries what was done before: ``SyncError/result``. `CancellationError` and
    ///   what the store throws; ``SyncError/Code/cancelled`` and ``SyncError/Code/store`` in place of these if edits
    ///   were lost before (``SyncResult/lostEdits``), so that the result reaches the app.
    @discardableResult
    public func push() async throws -> SyncResult {
        try await finish(SyncResult(try await send(isExplicit: !ScheduledRun.isAutomatic)))
    }

    /// Completes a result with the operations that wait for the user.
    ///
    /// - Throws: what stopped the sync, with the result.
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
    /// - Parameter isExplicit: Whether somebody has asked for it: what was to be tried again at a later time is then sent
    ///   at once.
    func runPush(isExplicit: Bool) async throws -> PushResult {
        try await PushRun(self, isExplicit: isExplicit).run()
    }
}
