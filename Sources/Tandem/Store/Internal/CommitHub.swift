import Synchronization

/// Tells those who watch which tables' operations a commit has changed, and whether files stand otherwise after it.
final class CommitHub: Sendable {
    /// What a commit has changed.
    enum Change: Sendable {
        /// The operations of these tables.
        case tables(Set<String>)
        /// How files stand.
        case files
        /// Another process has committed: nobody knows what.
        case unknown
    }

    typealias Observer = @Sendable (Change) -> Void

    private struct State {
        var next = 0
        var observers: [Int: Observer] = [:]
        var finishers: [Int: @Sendable () -> Void] = [:]
        var isFinished = false
    }

    private let state = Mutex(State())

    /// Whether anybody watches.
    var isObserved: Bool { state.withLock { !$0.observers.isEmpty } }

    /// Adds an observer, which is called after each commit on the thread that wrote, with no lock held; after one of
    /// another process on the live engine's queue.
    ///
    /// - Returns: A token to remove it by.
    func observe(_ observer: @escaping Observer, onFinish: @escaping @Sendable () -> Void) -> Int {
        let token: Int? = state.withLock { state in
            guard !state.isFinished else { return nil }
            state.next += 1
            state.observers[state.next] = observer
            state.finishers[state.next] = onFinish
            return state.next
        }
        guard let token else {
            onFinish()
            return 0
        }
        return token
    }

    func remove(_ token: Int) {
        state.withLock { state in
            state.observers[token] = nil
            state.finishers[token] = nil
        }
    }

    func committed(_ touched: TouchedTables) {
        if !touched.operations.isEmpty { tell(.tables(touched.operations)) }
        if touched.hasFiles { tell(.files) }
    }

    /// Another process has committed.
    func committedElsewhere() {
        tell(.unknown)
    }

    private func tell(_ change: Change) {
        for observer in state.withLock({ Array($0.observers.values) }) { observer(change) }
    }

    /// The store closes: nothing will change any more.
    func finish() {
        let finishers = state.withLock { state in
            defer {
                state.observers = [:]
                state.finishers = [:]
                state.isFinished = true
            }
            return Array(state.finishers.values)
        }
        for finish in finishers { finish() }
    }
}
