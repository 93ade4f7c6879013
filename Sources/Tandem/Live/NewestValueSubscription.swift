import OpenCombine
import Synchronization

/// A subscription that honors demand. It holds back values without demand, and keeps only the newest.
///
/// Proof of `@unchecked Sendable`: the lock protects all mutable state. `AnySubscriber` is not `Sendable`, but only one
/// thread at a time calls the subscriber (`isDelivering`). That thread does not hold the lock during the call.
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
        case value(Output, to: AnySubscriber<Output, Failure>)
        case completion(Subscribers.Completion<Failure>, to: AnySubscriber<Output, Failure>)
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
        while let next = dequeue() {
            switch next {
            case .value(let value, let subscriber):
                let more = subscriber.receive(value)
                lock.withLock { _ in state.demand += more }
            case .completion(let completion, let subscriber): subscriber.receive(completion: completion)
            }
        }
    }

    /// Returns the next delivery; `nil` ends the delivery loop.
    private func dequeue() -> Next? {
        lock.withLock { _ in
            if let subscriber = state.subscriber {
                if let value = state.pending, state.demand > .none {
                    state.pending = nil
                    state.demand -= 1
                    return .value(value, to: subscriber)
                }
                if let completion = state.completion, state.pending == nil {
                    state.subscriber = nil
                    return .completion(completion, to: subscriber)
                }
            }
            state.isDelivering = false
            return nil
        }
    }
}
