import Synchronization

/// Looks at something, and a while after a look that has failed once more, until it is ended.
final class RepeatedLook: Sendable {
    private struct State {
        var isOver = false
        /// Whether there will be another look.
        var isWaiting = false
    }

    private let look: @Sendable () -> Bool
    private let later: @Sendable (@escaping @Sendable () -> Void) -> Void
    private let state = Mutex(State())

    /// - Parameters:
    ///   - later: Calls what it is given, after a while.
    ///   - look: Looks; `false` if it has failed.
    init(
        later: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void, look: @escaping @Sendable () -> Bool
    ) {
        self.later = later
        self.look = look
    }

    func run() {
        guard !state.withLock({ $0.isOver }), !look() else { return }
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
