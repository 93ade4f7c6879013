import OpenCombine
import Synchronization

/// A subscription that honors demand. It holds back values without demand, and keeps only the newest.
///
/// `@unchecked Sendable`: the lock protects all mutable state. A single thread at a time calls the subscriber
/// (`isDelivering`), with the lock open.
package final class NewestValueSubscription<Output: Sendable, Failure: Error>: Subscription, @unchecked Sendable {
    private struct State {
        var subscriber: AnySubscriber<Output, Failure>?
        var demand = Subscribers.Demand.none
        var pending: Output?
        var completion: Subscribers.Completion<Failure>?
        var isDelivering = false
        var stop: (@Sendable () -> Void)?
    }

    private enum Next {
        case value(AnySubscriber<Output, Failure>, Output)
        case completion(AnySubscriber<Output, Failure>, Subscribers.Completion<Failure>)
    }

    private let lock = Mutex<Void>(())
    private var state: State

    package init(_ subscriber: AnySubscriber<Output, Failure>) {
        state = State(subscriber: subscriber)
    }

    deinit { state.stop?() }

    /// Sets the closure that stops the source of the values, when the subscription is cancelled or released. A source
    /// that retains the subscription prevents its release.
    package func onEnd(_ stop: @escaping @Sendable () -> Void) {
        let isOver = lock.withLock { _ in
            if state.subscriber != nil { state.stop = stop }
            return state.subscriber == nil
        }
        if isOver { stop() }
    }

    /// Delivers a value as soon as there is demand, unless a newer one replaces it.
    package func send(_ value: Output) { enqueue { $0.pending = value } }

    /// Completes the subscription after the last value.
    package func complete(_ completion: Subscribers.Completion<Failure>) { enqueue { $0.completion = completion } }

    package func request(_ demand: Subscribers.Demand) { enqueue { $0.demand += demand } }

    package func cancel() {
        // These values are released with the lock open: their deinitializers may run the app's code, which may cancel
        // too.
        let (stop, subscriber, pending) = lock.withLock { _ in
            defer { (state.subscriber, state.pending, state.stop) = (nil, nil, nil) }
            return (state.stop, state.subscriber, state.pending)
        }
        stop?()
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
