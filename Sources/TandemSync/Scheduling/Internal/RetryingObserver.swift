import Synchronization

/// A check that is repeated after a delay if it failed, until it is cancelled.
final class RetryingObserver: Sendable {
    private struct State {
        var isOver = false
        /// Whether another check is scheduled.
        var isWaiting = false
    }

    private let check: @Sendable () -> Bool
    private let later: @Sendable (@escaping @Sendable () -> Void) -> Void
    private let state = Mutex(State())

    /// - Parameters:
    ///   - later: Calls the given closure after a delay.
    ///   - check: Runs the check; returns `false` if it failed.
    init(
        later: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void, check: @escaping @Sendable () -> Bool
    ) {
        self.later = later
        self.check = check
    }

    func run() {
        guard !state.withLock({ $0.isOver }), !check() else { return }
        let isWanted = state.withLock { state in
            guard !state.isOver, !state.isWaiting else { return false }
            state.isWaiting = true
            return true
        }
        guard isWanted else { return }
        later { [weak self] in
            guard let self else { return }
            state.withLock { $0.isWaiting = false }
            run()
        }
    }

    func end() { state.withLock { $0.isOver = true } }
}
