import OpenCombine
import Synchronization

/// The values of a ``LivePublisher`` as an asynchronous sequence. See ``LivePublisher/values``.
public struct LiveSequence<Output: Sendable>: AsyncSequence, Sendable {
    /// The type of the values.
    public typealias Element = Output

    let publisher: LivePublisher<Output>

    /// Returns an iterator over the values.
    public func makeAsyncIterator() -> Iterator {
        Iterator(publisher: publisher)
    }

    /// An iterator that subscribes at its first request, and unsubscribes when it is released.
    public struct Iterator: AsyncIteratorProtocol {
        private let walk: LiveWalk<Output>

        init(publisher: LivePublisher<Output>) {
            walk = LiveWalk(publisher)
        }

        /// Returns the next value, or nil at the end.
        ///
        /// - Throws: ``TandemError`` if the query can't be read. The sequence has then ended.
        public mutating func next() async throws -> Output? {
            try await walk.next()
        }

        /// Returns the next value, or nil at the end.
        ///
        /// - Parameter actor: The actor that the call is isolated to.
        /// - Throws: ``TandemError`` if the query can't be read. The sequence has then ended.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(any Error) -> Output? {
            try await walk.next()
        }
    }
}

/// An iteration over a live sequence.
private final class LiveWalk<Output: Sendable>: Sendable {
    private struct State {
        var waiting: CheckedContinuation<Output?, any Error>?
        var end: Result<Void, TandemError>?
        var subscription: TypedLiveSubscription<Output>?
    }

    private let state: Shared
    private let publisher: LivePublisher<Output>

    /// The state that the subscription updates. It does not retain the iteration, which ends the subscription when it
    /// is released.
    private final class Shared: Sendable {
        let state = Mutex(State())

        func receive(_ output: Output) {
            state.withLock { state in
                defer { state.waiting = nil }
                return state.waiting
            }?.resume(returning: output)
        }

        func complete(_ completion: Subscribers.Completion<TandemError>) {
            let end: Result<Void, TandemError>
            switch completion {
            case .finished: end = .success(())
            case .failure(let error): end = .failure(error)
            }
            let waiting = state.withLock { state in
                // An error is reported once. After that the sequence is at its end.
                state.end = state.waiting == nil ? end : .success(())
                state.subscription = nil
                defer { state.waiting = nil }
                return state.waiting
            }
            guard let waiting else { return }
            if case .failure(let error) = end {
                waiting.resume(throwing: error)
            } else {
                waiting.resume(returning: nil)
            }
        }

        func cancel() {
            let (waiting, subscription) = state.withLock { state in
                state.end = .success(())
                defer {
                    state.waiting = nil
                    state.subscription = nil
                }
                return (state.waiting, state.subscription)
            }
            subscription?.cancel()
            waiting?.resume(returning: nil)
        }
    }

    init(_ publisher: LivePublisher<Output>) {
        self.publisher = publisher
        state = Shared()
    }

    deinit {
        state.cancel()
    }

    func next() async throws -> Output? {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                wait(continuation)
            }
        } onCancel: {
            state.cancel()
        }
    }

    private enum Turn {
        case over(Result<Void, TandemError>)
        case ask(TypedLiveSubscription<Output>)
    }

    private func wait(_ continuation: CheckedContinuation<Output?, any Error>) {
        let turn: Turn = state.state.withLock { state in
            if let end = state.end {
                state.end = .success(())
                return .over(end)
            }
            if Task.isCancelled { return .over(.success(())) }
            let subscription = state.subscription ?? makeSubscription()
            state.subscription = subscription
            state.waiting = continuation
            return .ask(subscription)
        }
        switch turn {
        case .over(.success): continuation.resume(returning: nil)
        case .over(.failure(let error)): continuation.resume(throwing: error)
        case .ask(let subscription): subscription.request(.max(1))
        }
    }

    private func makeSubscription() -> TypedLiveSubscription<Output> {
        publisher.makeSubscription(
            .direct,
            receiver: TypedLiveSubscription<Output>.Receiver(
                receive: { [state] in
                    state.receive($0)
                    return .none
                }, complete: { [state] in state.complete($0) }))
    }
}
