import Foundation
import Tandem

extension SyncContext {
    /// The result of a push before it uploads files.
    struct SentObjects: Sendable {
        var result: SyncResult
        /// The marks of the queue before the push; `nil` if files are left out.
        var marks: OperationMarks?
    }

    /// Runs a whole push: the queue, in a sync of its own, and then the files.
    func send(isExplicit: Bool) async throws -> SyncResult {
        try await withExclusiveSync {
            try await sendObjects(isExplicit: isExplicit)
        } then: { sent in
            try await sendFiles(after: sent, isExplicit: isExplicit)
        }
    }

    /// Sends the queue, inside a sync. ``sendFiles(after:isExplicit:)`` follows outside of it.
    func sendObjects(isExplicit: Bool) async throws -> SentObjects {
        let sendsFiles = files != nil && tandem?.attachments.areSent ?? false && !ScheduledRun.leavesFiles
        let marks = try await sendsFiles ? tandem?.read { try $0.operationMarks() } : nil
        return SentObjects(result: try await runPush(isExplicit: isExplicit), marks: marks)
    }

    /// Uploads the files and sends the changes made meanwhile, then the updates with the URLs. Last, it deletes
    /// unneeded files on the server.
    ///
    /// The method holds the uploads' lock throughout, and the objects' lock during each push.
    func sendFiles(after sent: SentObjects, isExplicit: Bool) async throws -> SyncResult {
        guard let files, let tandem, let marks = sent.marks, sent.result.stoppedBy == nil else { return sent.result }
        do {
            guard try await tandem.read({ try $0.hasFilesToSend() }) else { return sent.result }
            ScheduledRun.recordUploads()
            let result = try await withUploads(of: tandem) {
                try await checkOwner()
                let run = UploadRun(self, store: tandem, files: files, isExplicit: isExplicit, tried: marks)
                return try await upload(
                    sent.result, run: run,
                    deletions: RemoteFileDeletionRun(self, store: tandem, files: files, isExplicit: isExplicit))
            }
            if let result { return result }
            // The other push may end without these files.
            return try await addingFilesLeft(to: sent.result, in: tandem, dueAt: options.clock.now() + Self.uploadPause)
        } catch {
            guard sent.result.hasGivenUp else { throw error }
            return sent.result.stopped(by: SyncError(stopping: error))
        }
    }

    /// The delay of a scheduler that has left the files to another push, in seconds.
    private static let uploadPause: TimeInterval = 60

    private func upload(
        _ sent: SyncResult, run: UploadRun, deletions: RemoteFileDeletionRun
    ) async throws -> SyncResult {
        var result = sent
        do {
            try await run.run()
            let (stop, pushes) = run.state.withLock { ($0.stop, $0.pushes) }
            for push in pushes { result.add(push) }
            result.uploads = run.results
            switch stop {
            case .cancelled: throw CancellationError()
            case .thrown(let error): throw error
            case .failure, nil: break
            }
            // Objects that changed repeatedly while they were sent may be sent once more. Failed operations may not.
            let failed = result.entries.filter { entry in
                if case .stillPending = entry.outcome { return false }
                return !entry.outcome.isFinished
            }
            let rest = try await run.rest(without: Set(failed.map(\.id)))
            if !rest.isEmpty {
                result.add(try await withObjects { try await PushRun(self, isExplicit: true, only: rest).run() })
            }
            if case .failure(let error)? = stop { return result.stopped(by: error) }
            guard result.stoppedBy == nil else { return result }
            result = try await addingFilesLeft(to: result, in: run.store, dueAt: options.clock.now())
            return result.followed(by: try await deletions.run())
        } catch {
            // The files were uploaded nevertheless, and the next push sends their URLs.
            guard result.hasGivenUp || SyncError.Code.busy ~= error else { throw error }
            result.uploads = run.results
            return result.stopped(by: SyncError(stopping: error))
        }
    }

    /// Adds the files that are left to another push: those that were attached while others were uploaded, or all that
    /// another push is uploading.
    ///
    /// - Parameter date: The time of that other push.
    private func addingFilesLeft(to result: SyncResult, in store: Store, dueAt date: Date) async throws -> SyncResult {
        let known = Set(result.uploads.map(\.attachment.id))
        let left = try await store.read { try $0.pendingFiles(at: .distantFuture) }
            .filter { !known.contains($0.attachment.id) }
        guard !left.isEmpty else { return result }
        var result = result
        result.uploads += left.map {
            FileUpload(attachment: $0.attachment, table: $0.table, localID: $0.localID, outcome: .notReached)
        }
        result.nextDue = min(result.nextDue ?? date, date)
        return result
    }

    /// Returns whether there are operations or files to send, or files to delete on the server.
    func hasToSend() async throws -> Bool {
        if try await store.read({ try $0.countOfOperations() }) > 0 { return true }
        guard files != nil, let tandem, !ScheduledRun.leavesFiles else { return false }
        return try await tandem.read { try $0.hasFilesToSend() }
    }

    /// Returns the live status of a file: the current one first, then each change, for example a download or a removal
    /// from the cache. See ``status(of:)``.
    ///
    /// Ends when the store is closed, and with `TandemError.Code.unknownAttachment` when the store no longer knows the
    /// file.
    ///
    /// - Parameter attachment: The attachment, as an object has it.
    public func statuses(of attachment: Attachment) -> AsyncThrowingStream<AttachmentStatus, any Error> {
        live(hasFiles: true) { try await self.status(of: attachment) }
    }

    /// Returns the status of a file in the store, with the progress of an upload.
    ///
    /// For example:
    ///
    /// ```swift
    /// for try await status in sync.statuses(of: photo) {
    ///     if case .uploading(let sent) = status.state { bar.show(sent, of: photo.size ?? 0) }
    /// }
    /// ```
    ///
    /// - Parameter attachment: The attachment, as an object has it.
    /// - Throws: `TandemError.Code.unknownAttachment` if the store does not know the file, or if its last object was
    ///   removed.
    public func status(of attachment: Attachment) async throws -> AttachmentStatus {
        guard let tandem else { throw Self.noFiles() }
        let sent = statusTracker.uploads[attachment.id]
        var status = try tandem.attachments.status(of: attachment)
        if case .uploading = status.state, let sent { status.state = .uploading(sent: sent) }
        return status
    }
}

extension ReadTransaction {
    /// Whether files are to be uploaded, or to be deleted on the server.
    fileprivate func hasFilesToSend() throws -> Bool {
        try countOfPendingFiles() > 0 || !unwantedFiles().isEmpty
    }
}

extension SyncResult {
    /// Adds a later push. The result keeps the first error that stopped a push.
    mutating func add(_ later: SyncResult) {
        let stop = stoppedBy
        self = followed(by: later)
        stoppedBy = stop ?? stoppedBy
    }

    /// Returns the result of a push that an error stopped, unless another error stopped it before.
    func stopped(by error: SyncError) -> SyncResult {
        var result = self
        result.stoppedBy = stoppedBy ?? error
        return result
    }
}
