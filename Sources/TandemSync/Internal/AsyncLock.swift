import Synchronization

/// A fair asynchronous lock. A cancelled task stops waiting at once.
package final class AsyncLock: Sendable {
    private struct State {
        var isLocked = false
        var waiters: [(id: Int, continuation: CheckedContinuation<Void, any Error>)] = []
        var lastID = 0
    }

    private let state = Mutex(State())

    package init() {}

    /// Acquires the lock, in the order of the calls.
    ///
    /// - Throws: `CancellationError`; the lock is then not acquired.
    package func lock() async throws {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                let result: Result<Void, any Error>? = state.withLock { state in
                    if Task.isCancelled { return .failure(CancellationError()) }
                    if !state.isLocked {
                        state.isLocked = true
                        return .success(())
                    }
                    state.waiters.append((id, continuation))
                    return nil
                }
                if let result { continuation.resume(with: result) }
            }
        } onCancel: {
            let waiter = state.withLock { state in
                state.waiters.firstIndex { $0.id == id }.map { state.waiters.remove(at: $0) }
            }
            waiter?.continuation.resume(throwing: CancellationError())
        }
    }

    /// Acquires the lock if it is free.
    func tryToEnter() -> Bool {
        state.withLock { state in
            guard !state.isLocked else { return false }
            state.isLocked = true
            return true
        }
    }

    /// Releases the lock to the next waiting task.
    package func unlock() {
        let next = state.withLock { state in
            guard !state.waiters.isEmpty else {
                state.isLocked = false
                return nil as CheckedContinuation<Void, any Error>?
            }
            return state.waiters.removeFirst().continuation
        }
        next?.resume()
    }
}

/// The locks of this process: an instance for each lock of a store in use.
final class AsyncLocks: Sendable {
    static let all = AsyncLocks()

    private struct Entry {
        let lock = AsyncLock()
        var users = 0
    }

    private let entries = Mutex<[String: Entry]>([:])

    /// Returns the lock with a name. Balance each call with ``release(_:)``.
    func lock(of name: String) -> AsyncLock {
        entries.withLock { entries in
            var entry = entries[name] ?? Entry()
            entry.users += 1
            entries[name] = entry
            return entry.lock
        }
    }

    func release(_ name: String) {
        entries.withLock { entries in
            guard var entry = entries[name] else { return }
            entry.users -= 1
            entries[name] = entry.users == 0 ? nil : entry
        }
    }
}
