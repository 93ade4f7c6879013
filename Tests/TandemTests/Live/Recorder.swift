import BigInt
import Foundation
import OpenCombine
import TestSupport

@testable import Tandem

/// A subscriber that records its values and the threads of their delivery.
///
/// `@unchecked Sendable`: `condition` guards all mutable state.
final class Recorder<Input: Sendable>: Subscriber, @unchecked Sendable {
    typealias Failure = TandemError

    private let condition = NSCondition()
    private let initial: Subscribers.Demand
    private let returned: Subscribers.Demand
    private let onValue: @Sendable (Input) -> Void
    private var subscription: (any Subscription)?
    private var received: [Input] = []
    private var threads: [pthread_t] = []
    private var ending: Subscribers.Completion<TandemError>?

    /// - Parameters:
    ///   - initial: The demand at the beginning.
    ///   - returned: The demand that is returned with each value.
    init(
        _ initial: Subscribers.Demand = .unlimited, returning returned: Subscribers.Demand = .none,
        onValue: @escaping @Sendable (Input) -> Void = { _ in }
    ) {
        self.initial = initial
        self.returned = returned
        self.onValue = onValue
    }

    func receive(subscription: any Subscription) {
        condition.withLock { self.subscription = subscription }
        if initial > .none { subscription.request(initial) }
    }

    func receive(_ input: Input) -> Subscribers.Demand {
        condition.withLock {
            received.append(input)
            threads.append(pthread_self())
            condition.broadcast()
        }
        onValue(input)
        return returned
    }

    func receive(completion: Subscribers.Completion<TandemError>) {
        condition.withLock {
            ending = completion
            condition.broadcast()
        }
    }

    func request(_ demand: Subscribers.Demand) { condition.withLock { subscription }?.request(demand) }

    func cancel() { condition.withLock { subscription }?.cancel() }

    var values: [Input] { condition.withLock { received } }
    var completion: Subscribers.Completion<TandemError>? { condition.withLock { ending } }

    /// Whether all deliveries were on this thread, or none.
    var wasDeliveredHere: Bool { condition.withLock { threads.allSatisfy { pthread_equal($0, pthread_self()) != 0 } } }
    var wasDeliveredElsewhere: Bool {
        condition.withLock { threads.allSatisfy { pthread_equal($0, pthread_self()) == 0 } }
    }

    /// The error that ended the subscription.
    var error: TandemError? {
        if case .failure(let error)? = completion { error } else { nil }
    }

    var isFinished: Bool {
        if case .finished? = completion { true } else { false }
    }

    /// Waits for a number of values; `false` if they don't come in time.
    func waitForValues(_ count: Int, seconds: Double = 20) -> Bool {
        wait(seconds) { received.count >= count }
    }

    func waitForEnd(seconds: Double = 20) -> Bool {
        wait(seconds) { ending != nil }
    }

    /// Waits until a value satisfies a condition; `false` if none comes in time.
    func waitForValue(seconds: Double = 20, _ isWanted: (Input) -> Bool) -> Bool {
        wait(seconds) { received.contains(where: isWanted) }
    }

    private func wait(_ seconds: Double, _ isReached: () -> Bool) -> Bool {
        expectBlockingAllowed()
        return condition.withLock {
            let end = Date(timeIntervalSinceNow: seconds)
            while !isReached() {
                if !condition.wait(until: end) { return isReached() }
            }
            return true
        }
    }
}

extension LivePublisher {
    func record(
        _ initial: Subscribers.Demand = .unlimited, returning returned: Subscribers.Demand = .none,
        onValue: @escaping @Sendable (Output) -> Void = { _ in }
    ) -> Recorder<Output> {
        let recorder = Recorder<Output>(initial, returning: returned, onValue: onValue)
        subscribe(recorder)
        return recorder
    }
}

/// Waits until a condition is true; `false` if it is not in time.
func comesTrue(within seconds: Double = 20, _ isSo: () -> Bool) -> Bool {
    expectBlockingAllowed()
    let end = Date(timeIntervalSinceNow: seconds)
    while !isSo() {
        if Date() > end { return false }
        usleep(1_000)
    }
    return true
}

/// Runs a block on another thread, and waits for its end; `false` if it does not end in time.
///
/// NB: Foundation's `Thread` can't be used. On Linux it releases its block after libdispatch has cleaned up after the
/// thread. If that releases a store, libdispatch uses freed memory.
func ends(within seconds: Double = 30, _ body: @escaping @Sendable () -> Void) -> Bool {
    expectBlockingAllowed()
    let isOver = DispatchSemaphore(value: 0)
    DispatchQueue(label: "tandem.tests.other").async {
        body()
        isOver.signal()
    }
    return isOver.wait(timeout: .now() + seconds) == .success
}

extension Store {
    var cards: Results<Card> { objects(Card.self) }

    @discardableResult
    func insert(_ shop: String, _ points: BigInt = 0, owner: Person? = nil) throws -> Card {
        try write { try $0.insert(Card(shop: shop, barcode: shop, points: points, owner: owner?.reference)) }
    }

    @discardableResult
    func change(_ card: Card, _ change: @escaping (inout Card) -> Void) throws -> Card? {
        try write { tx in try tx.update(Card.self, localID: card.localID) { change(&$0) } }
        return try object(ofType: Card.self, forPrimaryKey: card.localID)
    }
}
