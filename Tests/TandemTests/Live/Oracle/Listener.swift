import Dispatch
import Foundation
import OpenCombine

@testable import Tandem

/// The demand of a subscriber.
enum Asking: String, CaseIterable, Sendable {
    /// Unlimited demand.
    case unlimited
    /// Demand for one more value after each value.
    case oneByOne
    /// Demand only when the history says so.
    case rarely
}

/// The place where values are delivered.
enum Delivery: String, CaseIterable, Sendable {
    case immediate, queue, background, sequence
}

/// Takes the values of a subscription and keeps them until they are checked.
///
/// `@unchecked Sendable`: the lock protects the mutable state.
final class Listener<Output: Sendable>: Subscriber, @unchecked Sendable {
    typealias Input = Output
    typealias Failure = TandemError

    private struct State {
        var inbox: [Output] = []
        var received = 0
        var asked = 0
        var isUnlimited = false
        var completion: Subscribers.Completion<TandemError>?
        var subscription: (any Subscription)?
        var reaction: (@Sendable () -> Void)?
        var isCancelled = false
        var lateDeliveries = 0
        var permits: AsyncStream<Void>.Continuation?
        var task: Task<Void, Never>?
    }

    private let lock = NSLock()
    private var guarded = State()
    let asking: Asking
    /// Plants a fault in the demand. It is set before the subscription begins.
    var planter: FaultPlanter?

    init(_ asking: Asking) { self.asking = asking }

    private func withState<T>(_ body: (inout State) -> T) -> T { lock.withLock { body(&guarded) } }

    // MARK: Subscribing

    func begin(_ publisher: LivePublisher<Output>, _ delivery: Delivery, _ token: LiveToken, queue: DispatchQueue) {
        let publisher = publisher.identified(by: token)
        switch delivery {
        case .immediate: publisher.on(.immediate).subscribe(self)
        case .queue: publisher.on(.queue(queue)).subscribe(self)
        case .background: publisher.subscribe(self)
        case .sequence: beginSequence(publisher)
        }
    }

    private func beginSequence(_ publisher: LivePublisher<Output>) {
        let (stream, permits) = AsyncStream<Void>.makeStream()
        let task = Task.detached { [self] in
            var iterator = publisher.values.makeAsyncIterator()
            do {
                for await _ in stream {
                    guard let value = try await iterator.next() else { break }
                    take(value)
                    if asking != .rarely { ask(1) }
                }
                receive(completion: .finished)
            } catch {
                receive(completion: .failure(error as? TandemError ?? TandemError(.sql, message: "\(error)")))
            }
        }
        let owed = withState { state in
            state.permits = permits
            state.task = task
            return state.asked
        }
        for _ in 0..<owed { permits.yield() }
        if asking != .rarely { ask(1) }
    }

    // MARK: Subscriber

    func receive(subscription: any Subscription) {
        let subscription = planter?.plant(in: subscription) ?? subscription
        // The subscription may begin on another thread, and demand may come before that.
        let owed = withState { state in
            state.subscription = subscription
            return state.asked
        }
        if owed > 0 { subscription.request(.max(owed)) }
        switch asking {
        case .unlimited:
            withState { $0.isUnlimited = true }
            subscription.request(.unlimited)
        case .oneByOne: ask(1)
        case .rarely: break
        }
    }

    func receive(_ input: Output) -> Subscribers.Demand {
        take(input)
        guard asking == .oneByOne else { return .none }
        withState { $0.asked += 1 }
        return .max(1)
    }

    private func take(_ input: Output) {
        let reaction = withState { state in
            if state.isCancelled { state.lateDeliveries += 1 }
            state.inbox.append(input)
            defer { state.reaction = nil }
            return state.reaction
        }
        reaction?()
        withState { $0.received += 1 }
    }

    func receive(completion: Subscribers.Completion<TandemError>) {
        withState { $0.completion = completion }
    }

    // MARK: Actions of the history

    func ask(_ count: Int) {
        let (subscription, permits) = withState { state in
            state.asked += count
            return (state.subscription, state.permits)
        }
        subscription?.request(.max(count))
        for _ in 0..<(permits == nil ? 0 : count) { permits?.yield() }
    }

    /// Runs a reaction in the next delivery.
    func react(_ reaction: @escaping @Sendable () -> Void) { withState { $0.reaction = reaction } }

    /// - Parameter isCalm: Whether no delivery can be in progress on another thread.
    func cancel(isCalm: Bool) {
        let (subscription, task) = withState { ($0.subscription, $0.task) }
        subscription?.cancel()
        task?.cancel()
        // A canceled task may still hold a value.
        if task == nil, isCalm { withState { $0.isCancelled = true } }
    }

    // MARK: State

    func takeInbox() -> [Output] {
        withState { state in
            defer { state.inbox = [] }
            return state.inbox
        }
    }

    var completion: Subscribers.Completion<TandemError>? { withState { $0.completion } }
    var overdelivered: Bool { withState { !$0.isUnlimited && $0.received > $0.asked } }
    var lateDeliveries: Int { withState { $0.lateDeliveries } }
    /// Whether it waits for a value.
    var isAsking: Bool { withState { $0.isUnlimited || $0.asked > $0.received } }

    func live(_ token: LiveToken, in engine: LiveEngine) -> LiveSubscription? {
        withState { $0.subscription } as? LiveSubscription
            ?? engine.present.first { $0.token == token }
    }

    /// Whether all deliverable values have been delivered.
    func isSettled(_ token: LiveToken, in engine: LiveEngine) -> Bool {
        if completion != nil { return true }
        guard isAsking else { return live(token, in: engine)?.status.isIdle ?? true }
        guard let status = live(token, in: engine)?.status, !status.isOver else { return false }
        return status.isIdle && status.isAsked && status.isLoaded
    }
}
