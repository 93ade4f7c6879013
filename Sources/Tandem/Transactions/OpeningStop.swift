import Synchronization

/// A handle that cancels an opening from another thread.
final class OpeningStop: Sendable {
    private struct State {
        var isStopped = false
        var isOver = false
        /// The flag of the connection, while the store is being opened.
        var connection: StopFlag?
    }

    private let state = Mutex(State())

    /// Sets the connection on which the store is migrated.
    func watch(_ connection: Connection) {
        let flag = connection.mustStop
        let isStopped = state.withLock { state in
            state.connection = flag
            return state.isStopped
        }
        if isStopped { flag.isSet = true }
    }

    /// Cancels the opening, if it has not finished.
    func stop() {
        state.withLock { state in
            guard !state.isOver else { return }
            state.isStopped = true
            state.connection?.isSet = true
        }
    }

    func check() throws {
        if state.withLock({ $0.isStopped }) { throw CancellationError() }
    }

    /// Marks the opening as finished. Returns `false` if it was cancelled.
    func end() -> Bool {
        state.withLock { state in
            state.isOver = true
            state.connection = nil
            return !state.isStopped
        }
    }
}
