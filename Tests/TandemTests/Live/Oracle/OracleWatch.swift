import Dispatch
import OpenCombine

@testable import Tandem

/// Checks the values of one subscription against the query's result in each committed state.
///
/// `@unchecked Sendable`: for the reason given at ``OracleRun``.
class AnyOracleWatch: @unchecked Sendable {
    let number: Int
    let text: String
    let delivery: Delivery
    let asking: Asking
    let token = LiveToken()
    /// The store of the subscription.
    let store: Store
    let fresh: (Store) throws -> Shown
    /// Whether the subscriber's own changes can be merged into its last value.
    var canApplySilently = false
    /// Whether it shows only local IDs, so that objects can change without a visible difference.
    var showsIdentity = false
    /// Whether it shows a least or greatest value.
    var isExtreme = false
    /// Plants a fault in the subscription.
    var planter: FaultPlanter?
    var isCancelled = false
    /// Whether the values delivered before its cancellation have been checked.
    var isOver = false

    /// The committed states that may still be delivered, the oldest first.
    var states: [Shown] = []
    /// The last value that it showed; `nil` if there is none or it is unknown.
    var lastShown: Shown?
    var isShownOrdered = true
    /// Whether a value may be delivered again.
    ///
    /// This is the case if a quiet write was read together with a later write or with pending changes.
    var mayBeRepeated = false
    /// Whether the shown value is unknown and no delivery is required.
    var mayBeOmitted = false
    var hasStarted = false
    /// The number of deliveries, and of those that merged several commits.
    fileprivate(set) var deliveries = 0
    fileprivate(set) var merged = 0

    init(
        _ number: Int, _ text: String, _ delivery: Delivery, _ asking: Asking, _ store: Store,
        _ fresh: @escaping (Store) throws -> Shown
    ) {
        self.number = number
        self.text = text
        self.delivery = delivery
        self.asking = asking
        self.store = store
        self.fresh = fresh
    }

    func begin() {}
    func ask(_ count: Int) {}
    func react(_ reaction: @escaping @Sendable () -> Void) {}
    func cancel(isCalm: Bool) {}
    var isSettled: Bool { true }
    func problems(isCalm: Bool) -> [String] { [] }

    /// Returns the result in a state, computed by a store, inside or outside its transaction.
    func result(in store: Store) -> Shown {
        do {
            return try fresh(store)
        } catch {
            return .failure((error as? TandemError).map { "\($0.code)" } ?? "\(error)")
        }
    }

    /// Records a state that was or will be committed.
    func note(_ state: Shown) {
        if states.last != state { states.append(state) }
    }

    /// Records a change that the subscriber made itself without notification.
    func applySilently(before: Shown, after: Shown, isDrained: Bool) {
        guard hasStarted else { return }
        // A watch that shows only local IDs looks unchanged while a modification is pending.
        if !isDrained || showsIdentity { mayBeRepeated = true }
        if isShownOrdered, let lastShown, lastShown == before {
            self.lastShown = after
        } else if canApplySilently, let lastShown, let shown = lastShown.rows, let old = before.rows,
            let new = after.rows
        {
            // A subscriber that has seen an older state merges its own change into it.
            func byID(_ rows: [Picture]) -> [LocalID: Picture] {
                Dictionary(rows.map { ($0.id, $0) }) { first, _ in first }
            }
            let (was, now) = (byID(old), byID(new))
            var shows = byID(shown)
            for id in Set(was.keys).union(now.keys) where was[id] != now[id] { shows[id] = now[id] }
            self.lastShown = .rows(Array(shows.values))
            isShownOrdered = false
            // The row number may have belonged to another object with a pending notification.
            mayBeRepeated = true
        } else {
            // If the write does not change the shown value, pending changes may be delivered unchanged.
            mayBeRepeated = true
            guard before != after else { return }
            // Of several queries, some may be up to date while others are delivered again.
            if case .parts = lastShown { mayBeOmitted = true }
            lastShown = nil
        }
    }
}

final class OracleWatch<Output: Sendable>: AnyOracleWatch, @unchecked Sendable {
    /// Returns the picture of an output and the output's own inconsistencies.
    typealias Read = (_ output: Output, _ lastShown: Shown?, _ isOrdered: Bool) -> (Shown, [String])

    private let publisher: LivePublisher<Output>
    private let read: Read
    private let listener: Listener<Output>
    private let queue = DispatchQueue(label: "oracle")

    init(
        _ number: Int, _ text: String, _ delivery: Delivery, _ asking: Asking, _ store: Store,
        _ publisher: LivePublisher<Output>, fresh: @escaping (Store) throws -> Shown, read: @escaping Read
    ) {
        self.publisher = publisher
        self.read = read
        listener = Listener(asking)
        super.init(number, text, delivery, asking, store, fresh)
    }

    /// Whether it has begun: by the run, or in another watch's delivery while the run waits.
    private var hasBegun = false

    override func begin() {
        guard !isCancelled, !hasBegun else { return }
        hasBegun = true
        let planted = planter?.plant(in: publisher, token: token, isExtreme: isExtreme) ?? publisher
        listener.planter = planter
        listener.begin(planted, delivery, token, queue: queue)
    }

    override func ask(_ count: Int) {
        if hasBegun { listener.ask(count) }
    }

    override func react(_ reaction: @escaping @Sendable () -> Void) { listener.react(reaction) }
    override func cancel(isCalm: Bool) {
        isCancelled = true
        listener.cancel(isCalm: isCalm)
    }

    override var isSettled: Bool { isCancelled || !hasBegun || listener.isSettled(token, in: store.live) }

    /// - Parameter isCalm: Whether all deliverable values are delivered, so that the latest state must be shown.
    override func problems(isCalm: Bool) -> [String] {
        var found: [String] = []
        if listener.lateDeliveries > 0 { found.append("a delivery after it was cancelled") }
        if listener.overdelivered { found.append("more delivered than asked for") }
        for output in listener.takeInbox() {
            var (shown, problems) = read(output, hasStarted ? lastShown : nil, isShownOrdered)
            if mayBeRepeated, lastShown == nil || !problems.isEmpty {
                (shown, problems) = read(output, .rows([]), true)
            }
            found += problems
            if hasStarted, let lastShown, isShownOrdered, lastShown == shown, problems.isEmpty, !showsIdentity,
                !mayBeRepeated
            {
                found.append("a delivery where nothing has changed: \(shown)")
            }
            deliveries += 1
            if let index = states.firstIndex(of: shown) {
                if hasStarted, index > 1 { merged += 1 }
                states.removeFirst(index)
            } else {
                found.append("it shows \(shown), the states were \(states) \(difference(shown))")
            }
            lastShown = shown
            isShownOrdered = true
            hasStarted = true
            mayBeRepeated = false
            mayBeOmitted = false
        }
        if isCancelled {
            isOver = true
            return found
        }
        if let completion = listener.completion {
            // A sum that overflows ends its subscription, in whichever state it occurs.
            guard case .failure(let error) = completion, states.contains(where: { $0.failureCode == "\(error.code)" })
            else { return found + ["it ended: \(completion)"] }
            isCancelled = true
            isOver = true
            return found
        }
        guard isCalm else { return found }
        if listener.isAsking { mayBeRepeated = false }
        if listener.isAsking, let last = states.last, lastShown != last, isShownOrdered,
            lastShown != nil || !mayBeOmitted
        {
            found.append("it shows \(lastShown.map { "\($0)" } ?? "nothing") in place of \(last) \(difference(last))")
        }
        if listener.isAsking, states.count > 1 { states.removeFirst(states.count - 1) }
        return found
    }

    private func difference(_ shown: Shown) -> String {
        guard let rows = shown.rows, let others = (states.last ?? lastShown)?.rows ?? nil,
            rows.map(\.id) == others.map(\.id)
        else { return "" }
        return zip(rows, others).filter { $0 != $1 }.map { "\($0.id) \($0.differences($1))" }.joined(separator: "; ")
    }
}
