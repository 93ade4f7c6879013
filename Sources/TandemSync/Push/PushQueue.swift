import Tandem

/// The operations of a push, with their order, dependencies and outcomes.
///
/// An operation waits for a single other one at a time, and is checked again when that one ends. So a cycle is detected
/// as a chain that leads back when its last link would be added.
struct PushQueue {
    /// An operation in the order of the push.
    struct Node {
        let id: Operation.ID
        let kind: Operation.Kind
        let table: String
        let localID: LocalID
        /// The error of an earlier push, if the operation was not sent since.
        let earlierError: OperationError?
        /// Whether this operation may be skipped, because enough others with server failures are tried first.
        var isSpare = false
        /// The position in the line.
        var place: Int
        /// The number of merges with the server's item.
        var rounds = 0
        /// Whether a merge included another client's changes.
        var isMerged = false
        /// The number of attempts while the server was not available.
        var tries = 0
        /// The number of resends after a response, for changes made meanwhile.
        var resends = 0
        /// Whether an insert has left out references, which follow it once.
        var hasLeftOut = false
        /// The edit that was dropped for the server's values.
        private(set) var lost: LostEdit?
        /// The outcome if the push ends now.
        var unfinished = SyncResult.Outcome.notReached
        /// `nil` while it has not ended.
        var outcome: SyncResult.Outcome?
        /// Whether it is no longer in the queue.
        var isGone = false

        var isOver: Bool { outcome != nil || isGone }

        /// Adds a dropped edit.
        mutating func note(_ edit: LostEdit) {
            guard !edit.values.isEmpty else { return }
            lost = lost?.followed(by: edit) ?? edit
        }

        /// Whether the server failed on this operation in an earlier push, or sent an invalid response. The server may
        /// be down, or fail on this object each time.
        var hasStumbled: Bool {
            guard let status = earlierError?.status else { return false }
            return !(400..<500).contains(status) || [408, 425, 429].contains(status)
        }

        /// Whether the operation stopped an earlier push and may do so again: its request was lost, or the server
        /// required authentication.
        var hasStopped: Bool { earlierError.map { $0.status == nil || $0.status == 401 } ?? false }
    }

    private(set) var nodes: [Operation.ID: Node] = [:]
    /// All operations in the order of the queue.
    private var order: [Operation.ID] = []
    /// All operations in the order of sending.
    private var line: [Operation.ID] = []
    /// The number of operations of the line that were started.
    private var reached = 0
    /// The operations that waited and may continue, the first one last.
    private var returned: [Operation.ID] = []
    /// The operation that each waiting operation waits for.
    private var behind: [Operation.ID: Operation.ID] = [:]
    /// The number of operations that have ended.
    private(set) var finished = 0
    private var waiters: [Operation.ID: [Operation.ID]] = [:]
    /// The operations that refer to an object that is deleted, by its delete.
    private var referrers: [Operation.ID: [Operation.ID]] = [:]

    var inOrder: [Node] { order.compactMap { nodes[$0] } }

    subscript(id: Operation.ID) -> Node? {
        get { nodes[id] }
        set { nodes[id] = newValue }
    }

    /// Appends an operation.
    mutating func append(_ operation: Operation) {
        guard nodes[operation.id] == nil else { return }
        nodes[operation.id] = Node(
            id: operation.id, kind: operation.kind, table: operation.table, localID: operation.localID,
            earlierError: operation.error, place: line.count)
        order.append(operation.id)
        line.append(operation.id)
    }

    /// Sets the order of sending. Operations that failed in an earlier push come last, so that they do not delay
    /// others, unless the queue's order must be kept.
    ///
    /// - Parameter limit: The number of operations with server failures that are tried in any case. They are the first
    ///   one and random others, so that permanent failures do not block the rest.
    mutating func arrange(keepingOrder: Bool, upTo limit: Int, random: () -> UInt64) {
        let failed = order.filter { nodes[$0]?.earlierError != nil }
        var stumbled = failed.filter { nodes[$0]?.hasStumbled ?? false }
        if stumbled.count > limit {
            for last in stride(from: stumbled.count - 1, to: 1, by: -1) {
                stumbled.swapAt(last, 1 + Int(random() % UInt64(last)))
            }
            for id in stumbled.dropFirst(limit) { nodes[id]?.isSpare = true }
        }
        guard !keepingOrder, !failed.isEmpty else { return }
        let stopped = failed.filter { nodes[$0]?.hasStopped ?? false }
        let others = failed.filter { nodes[$0].map { !$0.hasStumbled && !$0.hasStopped } ?? false }
        line = order.filter { nodes[$0]?.earlierError == nil } + others + stumbled + stopped
        for (place, id) in line.enumerated() { nodes[id]?.place = place }
    }

    /// Orders a delete after an operation that refers to the deleted object.
    mutating func note(_ referrer: Operation.ID, refersToObjectOf delete: Operation.ID) {
        guard referrer != delete, nodes[delete] != nil else { return }
        referrers[delete, default: []].append(referrer)
    }

    /// The next operation to send.
    var next: Operation.ID? {
        let fresh = reached < line.count ? line[reached] : nil
        guard let back = returned.last, fresh.map({ place(of: back) < place(of: $0) }) ?? true else { return fresh }
        return back
    }

    /// Removes the next operation to send.
    mutating func takeNext() {
        guard let next else { return }
        if next == returned.last { returned.removeLast() } else { reached += 1 }
    }

    // MARK: Waiting

    /// Returns whether an operation is part of this push and has not ended.
    func isUnfinished(_ id: Operation.ID) -> Bool {
        nodes[id].map { !$0.isOver } ?? false
    }

    /// Returns whether an operation that waited for another one would wait for itself.
    func closesCycle(_ id: Operation.ID, behind other: Operation.ID) -> Bool {
        var place: Operation.ID? = other
        while let current = place {
            if current == id { return true }
            place = behind[current]
        }
        return false
    }

    /// Lets a delete wait for an operation that refers to its object. If deletes form a cycle, the first one in the
    /// queue is sent.
    ///
    /// - Returns: Whether the operation waits.
    mutating func parkBehindReferrer(_ delete: Operation.ID) -> Bool {
        park(delete, behindLastOf: referrers[delete] ?? [])
    }

    /// Lets an operation wait for the last of several unfinished operations that do not wait for it. When that one has
    /// ended, most of the others have too. Waiting for each one in turn would cause a check for each.
    ///
    /// - Returns: Whether the operation waits.
    /// - Complexity: O(*n* log *n*) in the number of the others.
    mutating func park(_ id: Operation.ID, behindLastOf others: [Operation.ID]) -> Bool {
        let unfinished = others.filter(isUnfinished).sorted { place(of: $0) > place(of: $1) }
        guard let other = unfinished.first(where: { !closesCycle(id, behind: $0) }) else { return false }
        park(id, behind: other)
        return true
    }

    /// Lets an operation wait for an unfinished one. The caller must check for a cycle in the same critical section, or
    /// two operations could wait for each other.
    mutating func park(_ id: Operation.ID, behind other: Operation.ID) {
        behind[id] = other
        waiters[other, default: []].append(id)
    }

    /// Ends an operation. The operations that waited for it may continue.
    mutating func finish(_ id: Operation.ID, _ outcome: SyncResult.Outcome?) {
        guard let node = nodes[id], !node.isOver else { return }
        finished += 1
        nodes[id]?.outcome = outcome
        nodes[id]?.isGone = outcome == nil
        release(id)
    }

    /// Releases the operations that waited for another one. They check again whether they must wait.
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
