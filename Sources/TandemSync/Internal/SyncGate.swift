import Synchronization

/// Lets one pass at a time, in the order in which they came. Who is cancelled stops waiting at once.
final class SyncGate: Sendable {
    private struct State {
        var isTaken = false
        var waiters: [(id: Int, continuation: CheckedContinuation<Void, any Error>)] = []
        var lastID = 0
    }

    private let state = Mutex(State())

    /// Waits until nobody else is inside.
    ///
    /// - Throws: `CancellationError`; then the gate was not passed.
    func enter() async throws {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                let result: Result<Void, any Error>? = state.withLock { state in
                    if Task.isCancelled { return .failure(CancellationError()) }
                    if !state.isTaken {
                        state.isTaken = true
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

    /// Passes if nobody is inside.
    func tryToEnter() -> Bool {
        state.withLock { state in
            guard !state.isTaken else { return false }
            state.isTaken = true
            return true
        }
    }

    /// Lets the next one in.
    func leave() {
        let next = state.withLock { state in
            guard !state.waiters.isEmpty else {
                state.isTaken = false
                return nil as CheckedContinuation<Void, any Error>?
            }
            return state.waiters.removeFirst().continuation
        }
        next?.resume()
    }
}

/// The gates of this process, one for each lock of a store that is being synced.
final class SyncGates: Sendable {
    static let all = SyncGates()

    private struct Entry {
        let gate = SyncGate()
        var users = 0
    }

    private let entries = Mutex<[String: Entry]>([:])

    /// The gate of a lock, until ``release(_:)`` is called as often.
    func gate(of name: String) -> SyncGate {
        entries.withLock { entries in
            var entry = entries[name] ?? Entry()
            entry.users += 1
            entries[name] = entry
            return entry.gate
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
