import Synchronization

/// A value that changes, and those who follow it.
package final class LiveValue<Value: Equatable & Sendable>: Sendable {
    private struct State {
        var value: Value
        var followers: [Int: AsyncStream<Value>.Continuation] = [:]
        var lastID = 0
        var isFinished = false
    }

    private let state: Mutex<State>

    package init(_ value: Value) {
        state = Mutex(State(value: value))
    }

    package var value: Value { state.withLock { $0.value } }

    /// How many follow it.
    package var followerCount: Int { state.withLock { $0.followers.count } }

    /// Tells a value to all, if it is another one. After the end nobody is told.
    package func set(_ value: Value) {
        state.withLock { state in
            guard !state.isFinished, state.value != value else { return }
            state.value = value
            // With the lock held, so that all see values in one order; nothing is called back by it.
            for follower in state.followers.values { follower.yield(value) }
        }
    }

    /// The value as it is, then each other one. Who is slow gets the newest ones.
    ///
    /// - Parameters:
    ///   - count: How many are kept for who is slow.
    ///   - onEnd: Called when nobody listens any more, or there will be no more values.
    package func values(
        keeping count: Int = 1, onEnd: @escaping @Sendable () -> Void = {}
    ) -> AsyncStream<Value> {
        let (values, continuation) = AsyncStream<Value>.makeStream(bufferingPolicy: .bufferingNewest(count))
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        continuation.onTermination = { [weak self] _ in
            self?.forget(id)
            onEnd()
        }
        let isFinished = state.withLock { state in
            continuation.yield(state.value)
            if !state.isFinished { state.followers[id] = continuation }
            return state.isFinished
        }
        if isFinished { continuation.finish() }
        return values
    }

    /// Ends all sequences.
    package func finish() {
        let followers = state.withLock { state in
            defer { state.followers = [:] }
            state.isFinished = true
            return state.followers.values.map { $0 }
        }
        for follower in followers { follower.finish() }
    }

    private func forget(_ id: Int) { state.withLock { $0.followers[id] = nil } }
}
