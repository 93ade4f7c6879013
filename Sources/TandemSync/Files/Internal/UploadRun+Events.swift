import Foundation
import Tandem

// Changes made while files are uploaded.

extension UploadRun {
    /// The delay of changes while files are being uploaded and no file waits for the changes.
    static let pause = Duration.seconds(2)

    /// The number of URLs that are sent before the end, because other devices wait for them.
    private static let urlLimit = 100

    /// Returns whether the queue has operations that no push has attempted.
    func hasNews() async -> Bool {
        // The error of an unreadable store appears at the next write.
        guard state.withLock({ $0.stop == nil }), let marks = try? await marks() else { return false }
        return !news(in: marks).isEmpty
    }

    private func marks() async throws -> OperationMarks {
        try await store.read { try $0.operationMarks() }
    }

    /// Returns the operations that no push has attempted. Operations with URLs only are sent together: at the end, with
    /// other changes, or above a limit.
    private func news(in marks: OperationMarks) -> [OperationMarks.Mark] {
        state.withLock { state in
            let news = marks.news(since: state.tried)
            let isChanged = news.contains { !state.marks.contains($0) }
            return isChanged || news.count >= Self.urlLimit ? news : []
        }
    }

    /// Sends these operations, in a sync of its own.
    func pushNews() async {
        do {
            try await context.withObjects {
                let marks = try await marks()
                // Empty if the change was a URL that had just been saved, or if another sync has sent it. URLs that are
                // not sent now must still count as new afterwards.
                let news = news(in: marks)
                guard !news.isEmpty else { return }
                state.withLock { state in
                    state.tried = marks
                    state.marks.subtract(news)
                }
                let result = try await PushRun(context, isExplicit: isExplicit, only: Set(news.map(\.id))).run()
                state.withLock { $0.pushes.append(result) }
                if let error = result.stoppedBy { stop(.failure(error)) }
            }
        } catch SyncError.Code.busy {
            // Another process is syncing. The changes still count as new.
        } catch {
            stop(error is CancellationError && Task.isCancelled ? .cancelled : .thrown(error))
        }
    }

    /// Returns the operations to send after the uploads: URLs, and changes made meanwhile.
    ///
    /// - Parameter failed: Operations that failed. They are sent only if they have changed since.
    func rest(without failed: Set<PendingOperation.ID>) async throws -> Set<PendingOperation.ID> {
        guard state.withLock({ !$0.uploads.isEmpty }) else { return [] }
        let marks = try await marks()
        return state.withLock { state in
            let changed = marks.news(since: state.tried).filter { !state.marks.contains($0) }
            return Set(state.operations).subtracting(failed).union(changed.map(\.id))
        }
    }
}
