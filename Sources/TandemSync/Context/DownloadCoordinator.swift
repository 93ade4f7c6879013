import Synchronization
import Tandem

/// The running downloads, each shared by all tasks that need the file.
final class DownloadCoordinator: Sendable {
    private struct Entry {
        let number: Int
        let task: Task<Void, any Error>
        var waiting = 0
    }

    private struct State {
        var entries: [FileID: Entry] = [:]
        var last = 0
    }

    private let state = Mutex(State())

    /// Runs a download, or waits for the running one of the same file. It is cancelled when its last waiting task is
    /// cancelled.
    func share(_ id: FileID, body: @escaping @Sendable () async throws -> Void) async throws {
        let (number, task) = state.withLock { state in
            var entry =
                state.entries[id]
                ?? {
                    state.last += 1
                    let number = state.last
                    return Entry(
                        number: number,
                        task: Task {
                            defer { self.forget(id, number: number) }
                            try await body()
                        })
                }()
            entry.waiting += 1
            state.entries[id] = entry
            return (entry.number, entry.task)
        }
        // A cancelled caller stops waiting at once: its stream ends.
        let (results, continuation) = AsyncStream<Result<Void, any Error>>.makeStream()
        Task { continuation.yield(await task.result) }
        try await withTaskCancellationHandler {
            for await result in results { return try result.get() }
            throw CancellationError()
        } onCancel: {
            let isLast = state.withLock { state in
                guard var entry = state.entries[id], entry.number == number else { return false }
                entry.waiting -= 1
                state.entries[id] = entry.waiting == 0 ? nil : entry
                return entry.waiting == 0
            }
            if isLast { task.cancel() }
        }
    }

    private func forget(_ id: FileID, number: Int) {
        state.withLock { state in
            if state.entries[id]?.number == number { state.entries[id] = nil }
        }
    }
}
