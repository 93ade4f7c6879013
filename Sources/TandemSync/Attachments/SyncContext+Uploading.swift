import Foundation
import Tandem

extension SyncContext {
    /// Sends the queue, then the files, then the updates that carry their URLs; then deletes on the server what nobody
    /// needs any more. Inside a sync.
    func runSending(isExplicit: Bool) async throws -> PushResult {
        let result = try await runPush(isExplicit: isExplicit)
        guard let files, let tandem, result.stoppedBy == nil, !ScheduledRun.leavesFiles else { return result }
        let run = UploadRun(self, tandem, files, isExplicit: isExplicit)
        do {
            try await run.run()
            let stop = run.state.withLock(\.stop)
            switch stop {
            case .cancelled: throw CancellationError()
            case .thrown(let error): throw error
            case .failure, nil: break
            }
            let unsettled = Set(result.entries.filter { !$0.outcome.isSettled }.map(\.id))
            let news = Set(run.state.withLock(\.operations)).subtracting(unsettled)
            var ended = result.with(run.results)
            if !news.isEmpty { ended = ended.followed(by: try await PushRun(self, isExplicit: true, only: news).run()) }
            if case .failure(let error)? = stop { return ended.stopped(by: error) }
            guard ended.stoppedBy == nil else { return ended }
            let deletion = try await UnwantedFilesRun(self, tandem, files, isExplicit: isExplicit).run()
            return deletion.map { ended.stopped(by: $0) } ?? ended
        } catch {
            guard result.hasGivenUp else { throw error }
            return result.with(run.results).stopped(by: SyncError(stopping: error))
        }
    }

    /// Whether there is anything to be sent: operations, files, or files to be deleted on the server.
    func hasToSend() async throws -> Bool {
        if try await store.read({ try $0.countOfOperations() }) > 0 { return true }
        guard files != nil, let tandem, !ScheduledRun.leavesFiles else { return false }
        return try await tandem.read { transaction in
            try transaction.countOfPendingFiles() > 0 || !transaction.unwantedFiles(at: .distantFuture).isEmpty
        }
    }

    /// How a file stands, live: first as it is, then whenever that changes. See ``status(of:)``.
    ///
    /// Ends when the store is closed, and when the store does not know the file any more.
    public func statuses(of attachment: Attachment) -> AsyncThrowingStream<AttachmentStatus, any Error> {
        live { try await self.status(of: attachment) }
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
        let ids = Set(later.entries.map(\.id))
        return PushResult(
            entries: entries.filter { !ids.contains($0.id) || $0.outcome.isSettled } + later.entries,
            uploads: uploads, stoppedBy: stoppedBy ?? later.stoppedBy,
            nextDue: [nextDue, later.nextDue].compactMap { $0 }.min())
    }
}
