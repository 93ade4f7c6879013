import Synchronization

/// A changing value with its followers.
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

    /// The number of followers.
    package var followerCount: Int { state.withLock { $0.followers.count } }

    /// Sets the value and delivers it to all followers if it differs. Has no effect after the end.
    package func set(_ value: Value) {
        state.withLock { state in
            guard !state.isFinished, state.value != value else { return }
            state.value = value
            // The lock is held, so that all followers see the same order. Yielding does not call back.
            for follower in state.followers.values { follower.yield(value) }
        }
    }

    /// Returns the current value, then each change. A slow consumer gets only the newest values.
    ///
    /// - Parameters:
    ///   - count: The number of values kept for a slow consumer.
    ///   - onEnd: Called when the sequence has no consumer any longer, or no more values.
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
