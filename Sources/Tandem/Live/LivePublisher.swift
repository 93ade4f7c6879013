import OpenCombine

/// Publishes the present answer of a query, then what each commit changes of it.
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
/// Every subscription begins with the answer as it is, also if that is empty, and goes on with one value for each
/// commit that changes it, in the order of the commits, whichever thread or process made them. Each value is of exactly
/// one committed state. Who is slow, or asks for nothing, gets what it missed in one value: nothing is lost, and
/// nothing piles up.
///
/// A publisher ends when its store is closed; it fails with a ``TandemError`` if the store can't be read any more, and
/// can be subscribed to again.
///
/// No delivery begins after a subscription was cancelled. One that is under way on another thread at that moment goes
/// on to its end. Writing, cancelling and subscribing inside a delivery are all allowed.
///
/// ## Topics
/// ### Choosing how
/// - ``on(_:)``
/// - ``identified(by:)``
/// ### As an asynchronous sequence
/// - ``values``
public struct LivePublisher<Output: Sendable>: Publisher, Sendable {
    public typealias Failure = TandemError

    let store: Store
    let recipe: LiveRecipe<Output>
    private var scheduler = LiveScheduler.background
    private var token: LiveToken?

    init(store: Store, recipe: LiveRecipe<Output>) {
        self.store = store
        self.recipe = recipe
    }

    /// The same publisher, delivering elsewhere. Without it, on a queue of the subscription's own.
    public func on(_ scheduler: LiveScheduler) -> LivePublisher {
        var publisher = self
        publisher.scheduler = scheduler
        return publisher
    }

    /// The same publisher, whose subscriptions a write can leave out, because they know of its changes already:
    ///
    /// ```swift
    /// let token = LiveToken()
    /// let publisher = cards.changesetPublisher.identified(by: token).on(.main)
    /// let subscription = publisher.sink(receiveCompletion: { _ in }) { change in list.follow(change) }
    /// // The user drags a row: the list shows it already, and must not be told to move it once more.
    /// try store.write(withoutNotifying: [token]) { try $0.update(moved) }
    /// ```
    public func identified(by token: LiveToken) -> LivePublisher {
        var publisher = self
        publisher.token = token
        return publisher
    }

    public func receive<Downstream: Subscriber>(subscriber: Downstream)
    where Downstream.Input == Output, Downstream.Failure == TandemError {
        let subscriber = SubscriberBox(AnySubscriber(subscriber))
        let subscription = makeSubscription(
            scheduler.forOneSubscription,
            TypedLiveSubscription<Output>.Receiver(
                receive: { subscriber.receive($0) }, complete: { subscriber.complete($0) }))
        subscriber.begin(subscription)
    }

    func makeSubscription(
        _ scheduler: LiveScheduler, _ receiver: TypedLiveSubscription<Output>.Receiver
    ) -> TypedLiveSubscription<Output> {
        TypedLiveSubscription(recipe, store: store, scheduler: scheduler, token: token, receiver: receiver)
    }

    /// The same values as an asynchronous sequence. Each is computed when it is asked for; a loop that is slow sees
    /// what it missed in one. Where the publisher delivers does not matter: the values come where the loop runs.
    ///
    /// The sequence ends when the store is closed or the task is cancelled, and throws ``TandemError`` if the store
    /// can't be read any more.
    public var values: LiveSequence<Output> {
        LiveSequence(publisher: self)
    }
}

/// `@unchecked Sendable`: OpenCombine's subscribers are not marked, and are made to be called by one thread at a time,
/// whichever: a subscription sees to that.
private struct SubscriberBox<Output: Sendable>: @unchecked Sendable {
    private let subscriber: AnySubscriber<Output, TandemError>

    init(_ subscriber: AnySubscriber<Output, TandemError>) { self.subscriber = subscriber }

    func begin(_ subscription: any Subscription) { subscriber.receive(subscription: subscription) }
    func receive(_ output: Output) -> Subscribers.Demand { subscriber.receive(output) }
    func complete(_ completion: Subscribers.Completion<TandemError>) { subscriber.receive(completion: completion) }
}

extension LivePublisher {
    /// The same publisher, with each value turned into another one, still with demand, scheduler and token.
    func mapRecipe<New: Sendable>(_ transform: @escaping @Sendable (Output) throws -> New) -> LivePublisher<New> {
        var publisher = LivePublisher<New>(
            store: store,
            recipe: LiveRecipe { store in
                let making = recipe.make(store)
                return LiveRecipe<New>.Making(parts: making.parts) { try transform(making.output()) }
            })
        publisher.scheduler = scheduler
        publisher.token = token
        return publisher
    }
}
