import Foundation
import Tandem

// What is changed while files are uploaded.

extension UploadRun {
    /// How long changes rest while files are under way and none has to wait for them.
    static let pause = Duration.seconds(2)

    /// So many URLs are not kept back for the end: other devices wait for them.
    private static let urlLimit = 100

    /// Whether the queue has something that nobody has tried to send.
    func hasNews() async -> Bool {
        // A store that can't be read says so where it is written.
        guard state.withLock({ $0.stop == nil }), let marks = try? await marks() else { return false }
        return !news(in: marks).isEmpty
    }

    private func marks() async throws -> OperationMarks {
        try await store.read { try $0.operationMarks() }
    }

    /// What nobody has tried to send. What carries URLs, and nothing else, goes together: at the end, with what is changed,
    /// or when it is much.
    private func news(in marks: OperationMarks) -> [OperationMarks.Mark] {
        state.withLock { state in
            let news = marks.news(since: state.tried)
            let isChanged = news.contains { !state.marks.contains($0) }
            return isChanged || news.count >= Self.urlLimit ? news : []
        }
    }

    /// Sends that, in a sync of its own.
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
            // Another process is syncing: what was changed stays new.
        } catch {
            stop(error is CancellationError && Task.isCancelled ? .cancelled : .thrown(error))
        }
    }

    /// What is to be sent when the files have gone: URLs, and what was changed meanwhile.
    ///
    /// - Parameter failed: What has been tried in vain, and is only sent if it was changed since.
    func rest(without failed: Set<Tandem.Operation.ID>) async throws -> Set<Tandem.Operation.ID> {
        guard state.withLock({ !$0.uploads.isEmpty }) else { return [] }
        let marks = try await marks()
        return state.withLock { state in
            let changed = marks.news(since: state.tried).filter { !state.marks.contains($0) }
            return Set(state.operations).subtracting(failed).union(changed.map(\.id))
        }
    }
}
