import Foundation
import Tandem

extension UploadRun {
    /// The number of consecutive files without a response after which the server counts as down.
    private static let maximumWithoutResponse = 3

    /// Handles a failed upload: its effect on the file and on the others.
    func fail(_ file: PendingFile, with failure: RemoteFailure) async throws -> FileUpload.Outcome {
        if failure.isCancellation, Task.isCancelled { throw CancellationError() }
        var error = SyncError(failure, table: nil, url: nil)
        switch failure {
        case .notSent, .unauthenticated:
            // The file did not cause this failure.
            await requeue(file)
            stop(.failure(error))
            return .failed(error, retryAt: nil)
        case .later(_, let delay?) where delay > .zero:
            let now = options.clock.now()
            let end = ServerBackoff.end(of: delay, at: now)
            error.retryAt = end
            if delay > options.retry.ceiling { stop(.failure(error)) }
            context.pause.record(until: end, at: now)
            return try await put(file, off: error, until: end)
        case .later, .lost:
            let isDown = state.withLock { state in
                state.filesWithoutResponse += 1
                return state.filesWithoutResponse >= Self.maximumWithoutResponse
            }
            if isDown { stop(.failure(error)) }
            return try await put(file, off: error, until: retryDate(file, from: 5, to: 3600))
        case .invalidResponse, .conflict, .gone, .notFound, .refused, .notEncodable, .outdatedPosition, .file:
            state.withLock { $0.filesWithoutResponse = 0 }
            return try await fail(file, with: error)
        }
    }

    /// Handles a problem with the file itself, or a refusal of the server. The upload is still retried, but rarely.
    func fail(_ file: PendingFile, with error: SyncError) async throws -> FileUpload.Outcome {
        try await put(file, off: error, until: retryDate(file, from: 60, to: 86_400))
    }

    private func put(
        _ file: PendingFile, off error: SyncError, until date: Date
    ) async throws -> FileUpload.Outcome {
        let (id, reason, sent) = (file.attachment.id, error.message, sent(of: file, after: error))
        try await store.lasting { try $0.failUpload(of: id, reason: reason, retryAt: date, offset: sent) }
        return .failed(error, retryAt: date)
    }

    /// Returns the time of the next attempt. Each failure doubles the delay, and random jitter shortens it by up to a
    /// half.
    private func retryDate(_ file: PendingFile, from first: Double, to longest: Double) -> Date {
        let delay = min(longest, first * Double(1 << min(max(file.attempts, 0), 20)))
        return options.clock.now() + delay * (1 - 0.5 * Double(options.random() >> 11) * 0x1p-53)
    }

    /// Leaves a file for the next push, as if it had not been attempted. If that can't be stored, the file only seems
    /// to be in progress.
    func requeue(_ file: PendingFile) async {
        let (id, sent) = (file.attachment.id, sent(of: file, after: nil))
        try? await store.lasting { try $0.requeueUpload(of: id, offset: sent) }
    }

    /// Returns the number of bytes of a file that this attempt and earlier ones have sent.
    private func sent(of file: PendingFile, after error: SyncError?) -> Int64 {
        // The server has discarded the received bytes.
        if case .file(.hashMismatch)? = error?.underlying as? RemoteFailure { return 0 }
        let sent = state.withLock { $0.uploads.first { $0.file.attachment.id == file.attachment.id }?.sent } ?? 0
        return max(file.offset, sent)
    }

    /// Waits for the end of the server's `Retry-After`.
    ///
    /// - Returns: Whether requests are allowed then.
    func waitOutPause() async throws -> Bool {
        while true {
            try Task.checkCancellation()
            guard state.withLock({ $0.stop == nil }) else { return false }
            if let error = context.pauseError(for: nil) {
                stop(.failure(error))
                return false
            }
            let left = context.pause.secondsLeft(
                at: options.clock.now(), atMost: options.retry.ceiling.seconds)
            guard left > 0 else { return true }
            try await options.clock.sleep(for: .seconds(left))
        }
    }

    // MARK: Progress

    func reportProgress(_ sent: Int64, index: Int) {
        state.withLock { $0.uploads[index].sent = max($0.uploads[index].sent, sent) }
        reportProgress()
    }

    func reportProgress() {
        let (done, all) = state.withLock { state in
            let due = state.uploads.filter { if case .waiting? = $0.outcome { false } else { true } }
            return (due.count { $0.outcome != nil }, due)
        }
        guard !all.isEmpty else { return }
        let sent = Dictionary(all.map { ($0.file.attachment.id, $0.sent) }) { first, _ in first }
        let activity = SyncStatus.Activity.uploading(
            done: done, total: all.count, sent: all.reduce(0) { $0 + $1.sent },
            of: all.reduce(0) { $0 + ($1.file.attachment.size ?? 0) })
        context.statusTracker.setUploads(activity, sent: sent)
    }

    /// The results, in the planned order of the files.
    var results: [FileUpload] {
        state.withLock(\.uploads).map {
            FileUpload(
                attachment: $0.file.attachment, table: $0.file.table, localID: $0.file.localID,
                outcome: $0.outcome ?? .notReached)
        }
    }
}
