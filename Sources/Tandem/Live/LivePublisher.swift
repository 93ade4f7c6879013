import OpenCombine

/// A publisher of a query's current result, and then of the changes of each commit.
///
/// For example:
///
/// ```swift
/// let pinned = store.objects(Card.self).where { $0.isPinned }.sorted(by: \.shop)
///
/// let subscription = pinned.changesetPublisher.on(.main).sink(receiveCompletion: { _ in }) { change in
///     if change.isInitial { return list.show(change.results) }
///     list.apply(deletions: change.deletions, insertions: change.insertions,
///                modifications: change.modifications, from: change.results)
/// }
///
/// for try await cards in pinned.collectionPublisher.values { print(cards.count) }
/// ```
///
/// Every subscription begins with the current result, even if it is empty. It continues with a value for each commit
/// that changes the result, from any thread or process. The values are in the order of the commits. Each value belongs
/// to exactly one committed state. A subscriber that is slow, or that requests no values, gets its missed changes in a
/// single value: nothing is lost, and nothing accumulates.
///
/// A publisher finishes when its store is closed. It fails with a ``TandemError`` if the store can't be read any more.
/// You can then subscribe again.
///
/// No delivery begins after a subscription was cancelled. A delivery in progress on another thread at that time runs to
/// its end. You can write, cancel and subscribe inside a delivery.
///
/// ## Topics
/// ### Options
/// - ``on(_:)``
/// - ``identified(by:)``
/// ### As an asynchronous sequence
/// - ``values``
public struct LivePublisher<Output: Sendable>: Publisher, Sendable {
    /// The error with which the publisher fails.
    public typealias Failure = TandemError

    let store: Store
    /// Composes a subscription.
    let compose: @Sendable () -> LiveComposition<Output>
    private var scheduler = LiveScheduler.background
    private var token: LiveToken?

    init(store: Store, compose: @escaping @Sendable () -> LiveComposition<Output>) {
        self.store = store
        self.compose = compose
    }

    /// Returns the same publisher with another scheduler. The default is a serial queue for each subscription.
    public func on(_ scheduler: LiveScheduler) -> LivePublisher {
        var publisher = self
        publisher.scheduler = scheduler
        return publisher
    }

    /// Returns the same publisher with a token, by which a write can leave out its subscriptions. Use it if they
    /// already know the changes:
    ///
    /// ```swift
    /// let token = LiveToken()
    /// let publisher = cards.changesetPublisher.identified(by: token).on(.main)
    /// let subscription = publisher.sink(receiveCompletion: { _ in }) { change in list.follow(change) }
    /// // The user drags a row: the list already shows it, and must not move it again.
    /// try store.write(withoutNotifying: [token]) { try $0.update(moved) }
    /// ```
    ///
    /// - Parameter token: The token to pass to `write(withoutNotifying:)`.
    public func identified(by token: LiveToken) -> LivePublisher {
        var publisher = self
        publisher.token = token
        return publisher
    }

    /// Attaches a subscriber.
    public func receive<Downstream: Subscriber>(subscriber: Downstream)
    where Downstream.Input == Output, Downstream.Failure == TandemError {
        // Proof of `nonisolated(unsafe)`: OpenCombine's subscribers are not marked as `Sendable`, but support calls
        // from any thread, one at a time. A subscription ensures that.
        nonisolated(unsafe) let subscriber = AnySubscriber(subscriber)
        let subscription = makeSubscription(
            scheduler.forOneSubscription,
            receiver: TypedLiveSubscription<Output>.Receiver(
                receive: { subscriber.receive($0) }, complete: { subscriber.receive(completion: $0) }))
        subscriber.receive(subscription: subscription)
    }

    func makeSubscription(
        _ scheduler: LiveScheduler, receiver: TypedLiveSubscription<Output>.Receiver
    ) -> TypedLiveSubscription<Output> {
        TypedLiveSubscription(compose(), store: store, scheduler: scheduler, token: token, receiver: receiver)
    }

    /// The same values as an asynchronous sequence. Each value is computed on request. A slow loop gets its missed
    /// changes in a single value. The publisher's scheduler is not used: values arrive where the loop runs.
    ///
    /// The sequence ends when the store is closed or the task is cancelled. It throws ``TandemError`` if the store
    /// can't be read any more.
    public var values: LiveSequence<Output> {
        LiveSequence(publisher: self)
    }
}

extension LivePublisher {
    /// Returns a publisher of transformed values with the same demand, scheduler and token.
    func mapOutput<New: Sendable>(_ transform: @escaping @Sendable (Output) throws -> New) -> LivePublisher<New> {
        var publisher = LivePublisher<New>(store: store) { [compose] in
            let composition = compose()
            return LiveComposition(parts: composition.parts) { try transform(composition.output()) }
        }
        publisher.scheduler = scheduler
        publisher.token = token
        return publisher
    }
}
