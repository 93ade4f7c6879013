import Observation
import OpenCombine

/// Live results for a view: an `ObservableObject` of OpenCombine's, whose `results` are those delivered last.
///
/// ```swift
/// let cards = LiveResults(store.objects(Card.self).sorted(by: \.shop))
/// let subscription = cards.objectWillChange.sink { view.setNeedsDisplay() }
/// ```
///
/// It observes as long as it lives. Its values change on the main queue, which the app must run.
@MainActor
public final class LiveResults<M: Model>: ObservableObject {
    /// The objects as they are.
    @Published public private(set) var results: LiveCollection<M> = .empty
    /// What the last commit changed of them; `nil` before the first result.
    @Published public private(set) var changes: ChangeSet<M>?
    /// Why they are no longer kept up to date; `nil` while they are. Has the code `closed` when the store is.
    @Published public private(set) var error: TandemError?
    /// Whether the first result has come.
    public var isLoaded: Bool { changes != nil }

    private var subscription: AnyCancellable?

    public init(_ query: Results<M>) {
        observe(query)
    }

    /// Observes another query, or the same one again after an error.
    public func observe(_ query: Results<M>) {
        error = nil
        changes = nil
        let path = query.store.path
        subscription = query.changesetPublisher.on(.main).onMain { [weak self] change in
            self?.changes = change
            self?.results = change.results
        } onEnd: { [weak self] error in
            self?.error = error ?? TandemError(.closed, "The store is closed.", store: path)
        }
    }
}

/// Live results for a view, for Swift's Observation: reading `results` in a tracked body has it drawn anew when they
/// change.
///
/// ```swift
/// let cards = ObservedResults(store.objects(Card.self).sorted(by: \.shop))
/// withObservationTracking { draw(cards.results) } onChange: { view.setNeedsDisplay() }
/// ```
///
/// It observes as long as it lives. Its values change on the main queue, which the app must run.
@MainActor
@Observable
public final class ObservedResults<M: Model> {
    /// The objects as they are.
    public private(set) var results: LiveCollection<M> = .empty
    /// What the last commit changed of them; `nil` before the first result.
    public private(set) var changes: ChangeSet<M>?
    /// Why they are no longer kept up to date; `nil` while they are. Has the code `closed` when the store is.
    public private(set) var error: TandemError?
    /// Whether the first result has come.
    public var isLoaded: Bool { changes != nil }

    @ObservationIgnored private var subscription: AnyCancellable?

    public init(_ query: Results<M>) {
        observe(query)
    }

    /// Observes another query, or the same one again after an error.
    public func observe(_ query: Results<M>) {
        error = nil
        changes = nil
        let path = query.store.path
        subscription = query.changesetPublisher.on(.main).onMain { [weak self] change in
            self?.changes = change
            self?.results = change.results
        } onEnd: { [weak self] error in
            self?.error = error ?? TandemError(.closed, "The store is closed.", store: path)
        }
    }
}

extension LivePublisher {
    /// Subscribes with functions of the main actor's. The publisher must deliver on the main queue.
    fileprivate func onMain(
        _ receive: @escaping @MainActor (Output) -> Void, onEnd: @escaping @MainActor (TandemError?) -> Void
    ) -> AnyCancellable {
        sink(
            receiveCompletion: { @Sendable completion in
                var reason: TandemError?
                if case .failure(let error) = completion { reason = error }
                MainActor.assumeIsolated { [reason] in onEnd(reason) }
            },
            receiveValue: { @Sendable output in
                MainActor.assumeIsolated { receive(output) }
            })
    }
}
