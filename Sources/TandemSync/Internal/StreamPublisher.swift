import OpenCombine
import Synchronization

/// An asynchronous sequence as an OpenCombine publisher. Each subscription has its own sequence, and receives values on
/// the thread of the sequence's task.
///
/// It respects demand: without demand, only the newest value is kept.
struct StreamPublisher<Output: Sendable, Failure: Error>: Publisher {
    /// A subscription that delivers the values and the completion.
    typealias Source = @Sendable (_ tell: @Sendable (Output) -> Void) async -> Subscribers.Completion<Failure>

    let source: Source

    func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
        let subscription = StreamSubscription<Output, Failure>(AnySubscriber(subscriber))
        subscriber.receive(subscription: subscription)
        subscription.start(source)
    }
}

extension StreamPublisher where Failure == any Error {
    init(_ stream: @escaping @Sendable () -> AsyncThrowingStream<Output, any Error>) {
        self.init { tell in
            do {
                for try await value in stream() { tell(value) }
                return .finished
            } catch {
                return .failure(error)
            }
        }
    }
}

extension StreamPublisher where Failure == Never {
    init(_ stream: @escaping @Sendable () -> AsyncStream<Output>) {
        self.init { tell in
            for await value in stream() { tell(value) }
            return .finished
        }
    }
}

/// `@unchecked Sendable`: the lock protects all mutable state. A single thread at a time calls the subscriber
/// (`isDelivering`), with the lock open.
private final class StreamSubscription<Output: Sendable, Failure: Error>: Subscription, @unchecked Sendable {
    private struct State {
        var subscriber: AnySubscriber<Output, Failure>?
        var demand = Subscribers.Demand.none
        var pending: Output?
        var completion: Subscribers.Completion<Failure>?
        var isDelivering = false
        var task: Task<Void, Never>?
    }

    private enum Next {
        case value(AnySubscriber<Output, Failure>, Output)
        case completion(AnySubscriber<Output, Failure>, Subscribers.Completion<Failure>)
    }

    private let lock = Mutex<Void>(())
    private var state: State

    init(_ subscriber: AnySubscriber<Output, Failure>) {
        state = State(subscriber: subscriber)
    }

    deinit { state.task?.cancel() }

    func start(_ source: @escaping StreamPublisher<Output, Failure>.Source) {
        // The task does not retain the subscription, so that a released subscription ends.
        let task = Task.detached { [weak self] in
            let completion = await source { [weak self] value in self?.enqueue { $0.pending = value } }
            self?.enqueue { $0.completion = completion }
        }
        let isCancelled = lock.withLock { _ in
            state.task = task
            return state.subscriber == nil
        }
        if isCancelled { task.cancel() }
    }

    func request(_ demand: Subscribers.Demand) { enqueue { $0.demand += demand } }

    func cancel() {
        // These values are released with the lock open: their deinitializers may run the app's code, which may cancel
        // too.
        let (task, subscriber, pending) = lock.withLock { _ in
            defer { (state.subscriber, state.pending) = (nil, nil) }
            return (state.task, state.subscriber, state.pending)
        }
        task?.cancel()
        withExtendedLifetime((subscriber, pending)) {}
    }

    private func enqueue(_ change: (inout State) -> Void) {
        let isMine = lock.withLock { _ in
            change(&state)
            defer { state.isDelivering = true }
            return !state.isDelivering
        }
        guard isMine else { return }
        while let next = takeNext() {
            switch next {
            case .value(let subscriber, let value):
                let more = subscriber.receive(value)
                lock.withLock { _ in state.demand += more }
            case .completion(let subscriber, let completion): subscriber.receive(completion: completion)
            }
        }
    }

    /// Returns the next delivery; `nil` ends the delivery loop.
    private func takeNext() -> Next? {
        lock.withLock { _ in
            if let subscriber = state.subscriber {
                if let value = state.pending, state.demand > .none {
                    state.pending = nil
                    state.demand -= 1
                    return .value(subscriber, value)
                }
                if let completion = state.completion, state.pending == nil {
                    state.subscriber = nil
                    return .completion(subscriber, completion)
                }
            }
            state.isDelivering = false
            return nil
        }
    }
}
