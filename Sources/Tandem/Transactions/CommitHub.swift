import Synchronization

/// Notifies observers of the tables whose operations a commit has changed, and of changed file states.
final class CommitHub: Sendable {
    /// The changes of a commit.
    enum Change: Sendable {
        /// The operations of these tables changed.
        case tables(Set<String>)
        /// The state of files changed.
        case files
        /// Another process has committed unknown changes.
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

    /// Whether there are observers.
    var isObserved: Bool { state.withLock { !$0.observers.isEmpty } }

    /// Adds an observer. It is called after each commit on the writing thread, without a lock. After a commit of
    /// another process it is called on the live engine's queue.
    ///
    /// - Returns: A token for removing the observer.
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
        if !touched.operations.isEmpty { notify(.tables(touched.operations)) }
        if touched.hasFiles { notify(.files) }
    }

    /// Notifies observers that another process has committed.
    func committedElsewhere() {
        notify(.unknown)
    }

    private func notify(_ change: Change) {
        for observer in state.withLock({ Array($0.observers.values) }) { observer(change) }
    }

    /// Notifies observers that the store closes, so that no changes follow.
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
