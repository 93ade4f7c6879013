import Foundation
import Tandem

/// What a push has to send, and in which order: who goes next, who waits for whom, and what became of them.
///
/// An operation waits for one other at a time; it is looked at again when that one has ended. So a cycle shows itself as
/// a chain that leads back, at the moment it would be closed.
struct PushQueue {
    /// An operation, as far as its order is concerned.
    struct Node {
        let id: Operation.ID
        let kind: Operation.Kind
        let table: String
        let localID: LocalID
        /// What it failed of in an earlier push, if it has since not been sent.
        let earlierError: OperationError?
        /// Whether enough others that failed in an earlier push are tried before it.
        var isSpare = false
        /// Its place in the line.
        var place: Int
        /// How often it was put together with what the server holds.
        var rounds = 0
        /// Whether somebody else's changes were among that.
        var isMerged = false
        /// How often the server has asked for patience.
        var tries = 0
        /// How often it was sent again after an answer, for what was changed meanwhile.
        var resends = 0
        /// What an insert has left out follows it, once.
        var hasLeftOut = false
        /// What was given up for the server's values.
        private(set) var lost: LostEdit?
        /// What becomes of it if the push ends here.
        var unfinished = SyncResult.Outcome.notReached
        /// `nil` while it has not ended.
        var outcome: SyncResult.Outcome?
        /// Whether it is no longer in the queue.
        var isGone = false

        var isOver: Bool { outcome != nil || isGone }

        /// Adds what was given up.
        mutating func note(_ edit: LostEdit) {
            guard !edit.values.isEmpty else { return }
            lost = lost?.followed(by: edit) ?? edit
        }
    }

    private(set) var nodes: [Operation.ID: Node] = [:]
    /// All of them, as they are in the queue.
    private var order: [Operation.ID] = []
    /// All of them, as they go.
    private var line: [Operation.ID] = []
    /// How many of the line have gone.
    private var reached = 0
    /// Those that waited and may go on, the first one last.
    private var returned: [Operation.ID] = []
    /// Which one an operation waits for.
    private var behind: [Operation.ID: Operation.ID] = [:]
    /// How many have ended.
    private(set) var finished = 0
    private var waiters: [Operation.ID: [Operation.ID]] = [:]
    /// The operations that refer to an object that is deleted, by its delete.
    private var referrers: [Operation.ID: [Operation.ID]] = [:]

    var inOrder: [Node] { order.compactMap { nodes[$0] } }

    subscript(id: Operation.ID) -> Node? {
        get { nodes[id] }
        set { nodes[id] = newValue }
    }

    /// Adds an operation behind those there are.
    mutating func append(_ operation: Operation) {
        guard nodes[operation.id] == nil else { return }
        nodes[operation.id] = Node(
            id: operation.id, kind: operation.kind, table: operation.table, localID: operation.localID,
            earlierError: operation.error, place: line.count)
        order.append(operation.id)
        line.append(operation.id)
    }

    /// Sends operations that failed in an earlier push after all others, the one tried longest ago first. An operation
    /// that always fails, or stops each push, then keeps no other from being sent.
    ///
    /// - Parameters:
    ///   - keepingOrder: Whether the order stays that of the queue.
    ///   - limit: How many operations that failed before are tried in any case. If the order is the queue's, the first of
    ///     them is one of these.
    mutating func arrange(keepingOrder: Bool, upTo limit: Int) {
        let failed = order.filter { nodes[$0]?.earlierError != nil }
        guard let first = failed.first else { return }
        let longestAgo = failed.sorted { (triedAt($0), $0) < (triedAt($1), $1) }
        let tried = keepingOrder ? [first] + longestAgo.filter { $0 != first } : longestAgo
        for id in tried.dropFirst(limit) { nodes[id]?.isSpare = true }
        guard !keepingOrder else { return }
        line = order.filter { nodes[$0]?.earlierError == nil } + longestAgo
        for (place, id) in line.enumerated() { nodes[id]?.place = place }
    }

    private func triedAt(_ id: Operation.ID) -> Date { nodes[id]?.earlierError?.at ?? .distantPast }

    /// Has a delete go after an operation that refers to what it deletes.
    mutating func note(_ referrer: Operation.ID, refersToObjectOf delete: Operation.ID) {
        guard referrer != delete, nodes[delete] != nil else { return }
        referrers[delete, default: []].append(referrer)
    }

    /// The first one that may go.
    var next: Operation.ID? {
        let fresh = reached < line.count ? line[reached] : nil
        guard let back = returned.last, fresh.map({ place(of: back) < place(of: $0) }) ?? true else { return fresh }
        return back
    }

    /// Takes the first one that may go.
    mutating func takeNext() {
        guard let next else { return }
        if next == returned.last { returned.removeLast() } else { reached += 1 }
    }

    // MARK: Waiting

    /// Whether another operation waits for this one.
    func isAwaited(_ id: Operation.ID) -> Bool { waiters[id] != nil }

    /// Whether an operation is part of this push, and has not ended.
    func isUnfinished(_ id: Operation.ID) -> Bool {
        nodes[id].map { !$0.isOver } ?? false
    }

    /// Whether an operation that waited for another would wait for itself.
    func closesCycle(_ id: Operation.ID, behind other: Operation.ID) -> Bool {
        var place: Operation.ID? = other
        while let current = place {
            if current == id { return true }
            place = behind[current]
        }
        return false
    }

    /// Has a delete wait for an operation that refers to its object. Where deletes wait for each other in a circle, the
    /// first one in the queue goes.
    ///
    /// - Returns: Whether there is anything to wait for.
    mutating func parkBehindReferrer(_ delete: Operation.ID) -> Bool {
        park(delete, behindLastOf: referrers[delete] ?? [])
    }

    /// Has an operation wait for that one of several, which have not ended and do not wait for it, that goes last. When
    /// it has ended, most of the others have: whoever waited for them one after the other would be looked at as often.
    ///
    /// - Returns: Whether there is anything to wait for.
    /// - Complexity: O(*n* log *n*) in the number of the others.
    mutating func park(_ id: Operation.ID, behindLastOf others: [Operation.ID]) -> Bool {
        let unfinished = others.filter(isUnfinished).sorted { place(of: $0) > place(of: $1) }
        guard let other = unfinished.first(where: { !closesCycle(id, behind: $0) }) else { return false }
        park(id, behind: other)
        return true
    }

    /// Has an operation wait for another one that has not ended. Whether that closes a circle is to be looked at in the
    /// same breath, or two would wait for each other.
    mutating func park(_ id: Operation.ID, behind other: Operation.ID) {
        behind[id] = other
        waiters[other, default: []].append(id)
    }

    /// Ends an operation: those that waited for it may go on.
    mutating func finish(_ id: Operation.ID, _ outcome: SyncResult.Outcome?) {
        guard let node = nodes[id], !node.isOver else { return }
        finished += 1
        nodes[id]?.outcome = outcome
        nodes[id]?.isGone = outcome == nil
        release(id)
    }

    /// Lets those go on that waited for an operation. They look again whether they have to.
    mutating func release(_ id: Operation.ID) {
        guard let waiting = waiters.removeValue(forKey: id) else { return }
        for id in waiting { behind[id] = nil }
        giveBack(waiting)
    }

    private mutating func giveBack(_ ids: [Operation.ID]) {
        returned = (returned + ids).sorted { place(of: $0) > place(of: $1) }
    }

    private func place(of id: Operation.ID) -> Int { nodes[id]?.place ?? .max }
}
