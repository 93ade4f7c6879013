import Observation
import OpenCombine

/// Live results for a view, as an `ObservableObject` of OpenCombine. `results` holds the last delivered objects.
///
/// ```swift
/// let cards = LiveResults(store.objects(Card.self).sorted(by: \.shop))
/// let subscription = cards.objectWillChange.sink { view.setNeedsDisplay() }
/// ```
///
/// It observes while it exists. Its values change on the main queue, which the app must run.
@MainActor
public final class LiveResults<M: Model>: ObservableObject {
    /// The current objects.
    @Published public private(set) var results: LiveCollection<M> = .empty
    /// The changes of the last commit, or `nil` before the first result.
    @Published public private(set) var changes: ChangeSet<M>?
    /// The error that ended the updates, or `nil` while they continue. If the store was closed, its code is `closed`.
    @Published public private(set) var error: TandemError?
    /// Whether the first result has arrived.
    public var isLoaded: Bool { changes != nil }

    private var subscription: AnyCancellable?

    /// Starts to observe a query.
    public init(_ query: Results<M>) {
        observe(query)
    }

    /// Observes another query, or the same one again after an error.
    public func observe(_ query: Results<M>) {
        error = nil
        changes = nil
        subscription = query.onMain { [weak self] change in
            self?.changes = change
            self?.results = change.results
        } onEnd: { [weak self] error in
            self?.error = error
        }
    }
}

/// Live results for a view, for Swift's Observation. A view that reads `results` while it is tracked is updated when
/// they change.
///
/// ```swift
/// let cards = ObservedResults(store.objects(Card.self).sorted(by: \.shop))
/// withObservationTracking { draw(cards.results) } onChange: { view.setNeedsDisplay() }
/// ```
///
/// It observes while it exists. Its values change on the main queue, which the app must run.
@MainActor
@Observable
public final class ObservedResults<M: Model> {
    /// The current objects.
    public private(set) var results: LiveCollection<M> = .empty
    /// The changes of the last commit, or `nil` before the first result.
    public private(set) var changes: ChangeSet<M>?
    /// The error that ended the updates, or `nil` while they continue. If the store was closed, its code is `closed`.
    public private(set) var error: TandemError?
    /// Whether the first result has arrived.
    public var isLoaded: Bool { changes != nil }

    @ObservationIgnored private var subscription: AnyCancellable?

    /// Starts to observe a query.
    public init(_ query: Results<M>) {
        observe(query)
    }

    /// Observes another query, or the same one again after an error.
    public func observe(_ query: Results<M>) {
        error = nil
        changes = nil
        subscription = query.onMain { [weak self] change in
            self?.changes = change
            self?.results = change.results
        } onEnd: { [weak self] error in
            self?.error = error
        }
    }
}

extension Results {
    /// Observes the query with functions of the main actor.
    fileprivate func onMain(
        _ receive: @escaping @MainActor (ChangeSet<M>) -> Void, onEnd: @escaping @MainActor (TandemError) -> Void
    ) -> AnyCancellable {
        let path = store.path
        return changesetPublisher.on(.main).sink(
            receiveCompletion: { @Sendable completion in
                var reason = TandemError(.closed, message: "The store is closed.", store: path)
                if case .failure(let error) = completion { reason = error }
                MainActor.assumeIsolated { [reason] in onEnd(reason) }
            },
            receiveValue: { @Sendable change in
                MainActor.assumeIsolated { receive(change) }
            })
    }
}
