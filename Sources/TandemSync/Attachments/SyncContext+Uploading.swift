import Foundation
import Tandem

extension SyncContext {
    /// Sends the queue, then the files, and between them what is changed meanwhile; then the updates that carry their URLs.
    /// Then it deletes on the server what nobody needs any more. Inside a sync.
    func runSending(isExplicit: Bool) async throws -> PushResult {
        guard let files, let tandem, tandem.attachments.areSent, !ScheduledRun.leavesFiles else {
            return try await runPush(isExplicit: isExplicit)
        }
        let before = try await tandem.read { try $0.operationMarks() }
        var result = try await runPush(isExplicit: isExplicit)
        guard result.stoppedBy == nil else { return result }
        let run = UploadRun(self, tandem, files, isExplicit: isExplicit, tried: before)
        do {
            try await run.run()
            let (stop, pushes) = run.state.withLock { ($0.stop, $0.pushes) }
            result = pushes.reduce(result) { $0.followed(by: $1) }.with(run.results)
            switch stop {
            case .cancelled: throw CancellationError()
            case .thrown(let error): throw error
            case .failure, nil: break
            }
            // What was changed again and again while it was sent may still be sent once more. What failed may not.
            let failed = result.entries.filter { entry in
                if case .stillPending = entry.outcome { return false }
                return !entry.outcome.isSettled
            }
            let rest = try await run.rest(without: Set(failed.map(\.id)))
            if !rest.isEmpty {
                result = result.followed(by: try await PushRun(self, isExplicit: true, only: rest).run())
            }
            if case .failure(let error)? = stop { return result.stopped(by: error) }
            guard result.stoppedBy == nil else { return result }
            result = try await withFilesAttachedSince(result, tandem)
            let deletion = try await UnwantedFilesRun(self, tandem, files, isExplicit: isExplicit).run()
            return result.followed(by: deletion)
        } catch {
            guard result.hasGivenUp else { throw error }
            return result.with(run.results).stopped(by: SyncError(stopping: error))
        }
    }

    /// Adds the files that were attached while others were uploaded: another push takes them, and is due at once.
    private func withFilesAttachedSince(_ result: PushResult, _ store: Store) async throws -> PushResult {
        let known = Set(result.uploads.map(\.attachment.id))
        let news = try await store.read { try $0.pendingFiles(at: .distantFuture) }
            .filter { !known.contains($0.attachment.id) }
        guard !news.isEmpty else { return result }
        let uploads = news.map {
            FileUpload(attachment: $0.attachment, table: $0.table, localID: $0.localID, outcome: .notReached)
        }
        return PushResult(
            entries: result.entries, uploads: result.uploads + uploads, stoppedBy: result.stoppedBy,
            nextDue: options.clock.now())
    }

    /// Whether there is anything to be sent: operations, files, or files to be deleted on the server.
    func hasToSend() async throws -> Bool {
        if try await store.read({ try $0.countOfOperations() }) > 0 { return true }
        guard files != nil, let tandem, !ScheduledRun.leavesFiles else { return false }
        return try await tandem.read { transaction in
            try transaction.countOfPendingFiles() > 0 || !transaction.unwantedFiles().isEmpty
        }
    }

    /// How a file stands, live: first as it is, then whenever that changes, as when it was downloaded, or has left the
    /// cache. See ``status(of:)``.
    ///
    /// Ends when the store is closed, and with `TandemError.Code.unknownAttachment` when the store does not know the file
    /// any more.
    public func statuses(of attachment: Attachment) -> AsyncThrowingStream<AttachmentStatus, any Error> {
        live(hasFiles: true) { try await self.status(of: attachment) }
    }

    /// How a file stands: as the store knows it, with what an upload has sent by now.
    ///
    /// For example:
    ///
    /// ```swift
    /// for try await status in sync.statuses(of: photo) {
    ///     if case .uploading(let sent) = status.state { bar.show(sent, of: photo.size ?? 0) }
    /// }
    /// ```
    ///
    /// - Throws: `TandemError.Code.unknownAttachment` if the store does not know it, or its last object is gone.
    public func status(of attachment: Attachment) async throws -> AttachmentStatus {
        guard let tandem else { throw Self.noFiles() }
        let sent = board.uploads[attachment.id]
        var status = try tandem.attachments.status(of: attachment)
        if case .uploading = status.state, let sent { status.state = .uploading(sent: sent) }
        return status
    }

    static func noFiles() -> SyncError {
        SyncError(
            .unknownModel, "The context's store keeps no files, or it was made without a server for them.",
            advice: "Give SyncContext a store of Tandem's, and files:.")
    }
}

extension PushResult {
    func with(_ uploads: [FileUpload]) -> PushResult {
        PushResult(entries: entries, uploads: uploads, stoppedBy: stoppedBy, nextDue: nextDue)
    }

    func stopped(by error: SyncError) -> PushResult {
        PushResult(entries: entries, uploads: uploads, stoppedBy: stoppedBy ?? error, nextDue: nextDue)
    }

    /// What two pushes have done, one after the other.
    func followed(by later: PushResult) -> PushResult {
        PushResult(
            entries: entries.followed(by: later.entries), uploads: uploads, stoppedBy: stoppedBy ?? later.stoppedBy,
            nextDue: [nextDue, later.nextDue].compactMap { $0 }.min())
    }
}
