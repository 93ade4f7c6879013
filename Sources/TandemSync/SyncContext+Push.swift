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
    /// for entry in result.refused { print(entry.localID, entry.outcome) }
    /// ```
    ///
    /// - Returns: What became of each operation. A server that can't be reached, asks who is calling, or wants to be left
    ///   alone for long, stops the push and is told in ``PushResult/stoppedBy``; the queue is then intact.
    /// - Throws: `CancellationError`; what the store throws. Once values were given up for the server's, the result is
    ///   returned with that in ``PushResult/stoppedBy``, so that they are not lost.
    @discardableResult
    public func push() async throws -> PushResult {
        try await send(isExplicit: !ScheduledRun.isAutomatic)
    }

    /// Sends the queue alone, inside a sync.
    ///
    /// - Parameter isExplicit: Whether somebody has asked for it: what was to be tried again at a later time is then sent
    ///   at once.
    func runPush(isExplicit: Bool) async throws -> PushResult {
        try await PushRun(self, isExplicit: isExplicit).run()
    }
}
