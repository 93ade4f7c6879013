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
        var lost: [String: StorageValue] = [:]
        /// What becomes of it if the push ends here.
        var unfinished = PushResult.Outcome.notReached
        /// `nil` while it has not ended.
        var outcome: PushResult.Outcome?
        /// Whether it is no longer in the queue.
        var isGone = false

        var isOver: Bool { outcome != nil || isGone }
    }

    private(set) var nodes: [Operation.ID: Node] = [:]
    private var order: [Operation.ID] = []
    private var next = 0
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
        order.append(operation.id)
        nodes[operation.id] = Node(
            id: operation.id, kind: operation.kind, table: operation.table, localID: operation.localID)
    }

    /// Has a delete go after an operation that refers to what it deletes.
    mutating func note(_ referrer: Operation.ID, refersToObjectOf delete: Operation.ID) {
        guard referrer != delete, nodes[delete] != nil else { return }
        referrers[delete, default: []].append(referrer)
    }

    /// The first one that may go.
    mutating func takeNext() -> Operation.ID? {
        let fresh = next < order.count ? order[next] : nil
        if let back = returned.last, fresh.map({ back < $0 }) ?? true {
            returned.removeLast()
            return back
        }
        if fresh != nil { next += 1 }
        return fresh
    }

    // MARK: Waiting

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
        guard let other = referrers[delete]?.first(where: { isUnfinished($0) && !closesCycle(delete, behind: $0) })
        else { return false }
        park(delete, behind: other)
        return true
    }

    /// Has an operation wait for another one that has not ended. Whether that closes a circle is to be looked at in the
    /// same breath, or two would wait for each other.
    mutating func park(_ id: Operation.ID, behind other: Operation.ID) {
        behind[id] = other
        waiters[other, default: []].append(id)
    }

    /// Ends an operation: those that waited for it may go on.
    mutating func finish(_ id: Operation.ID, _ outcome: PushResult.Outcome?) {
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
        returned = (returned + ids).sorted(by: >)
    }
}
