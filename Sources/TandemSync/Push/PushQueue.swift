import Foundation
import Tandem

/// The operations of a push, with their order, dependencies and outcomes.
///
/// An operation waits for a single other one at a time, and is checked again when that one ends. So a cycle is detected
/// as a chain that leads back when its last link would be added.
struct PushQueue {
    /// An operation in the order of the push.
    struct Node {
        let id: PendingOperation.ID
        let kind: PendingOperation.Kind
        let table: String
        let localID: LocalID
        /// The error of an earlier push, if the operation was not sent since.
        let earlierError: OperationError?
        /// Whether enough others that failed in an earlier push are tried before it.
        var isSpare = false
        /// The position in the line.
        var position: Int
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
        /// The maximum size of a batch with this operation; `nil` if only the server limits it.
        ///
        /// An operation whose outcome is unknown since an earlier push goes alone. Its request may be the cause, and
        /// would fail its whole batch in each push.
        var batchLimit: Int?
        /// The number of its batches that the server has delayed as a whole.
        var batchDelays = 0
        /// The operation's kind and values that the app has checked before they are sent.
        var checked: (kind: PendingOperation.Kind, values: [String: StorageValue])?
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
        mutating func addLostEdit(_ edit: LostEdit) {
            guard !edit.values.isEmpty else { return }
            lost = lost?.followed(by: edit) ?? edit
        }
    }

    private(set) var nodes: [PendingOperation.ID: Node] = [:]
    /// All operations in the order of the queue.
    private var order: [PendingOperation.ID] = []
    /// All operations in the order of sending.
    private var line: [PendingOperation.ID] = []
    /// The number of operations of the line that were started.
    private var reached = 0
    /// The operations that waited and may continue, the first one last.
    private var returned: [PendingOperation.ID] = []
    /// The operation that each waiting operation waits for.
    private var behind: [PendingOperation.ID: PendingOperation.ID] = [:]
    /// The number of operations that have ended.
    private(set) var finished = 0
    private var waiters: [PendingOperation.ID: [PendingOperation.ID]] = [:]
    /// The operations that refer to an object that is deleted, by its delete.
    private var referrers: [PendingOperation.ID: [PendingOperation.ID]] = [:]

    var inOrder: [Node] { order.compactMap { nodes[$0] } }

    subscript(id: PendingOperation.ID) -> Node? {
        get { nodes[id] }
        set { nodes[id] = newValue }
    }

    /// Appends an operation.
    mutating func append(_ operation: PendingOperation) {
        guard nodes[operation.id] == nil else { return }
        nodes[operation.id] = Node(
            id: operation.id, kind: operation.kind, table: operation.table, localID: operation.localID,
            earlierError: operation.error, position: line.count,
            batchLimit: operation.state == .attempted ? 1 : nil)
        order.append(operation.id)
        line.append(operation.id)
    }

    /// Sends operations that failed in an earlier push after all others, the one tried longest ago first. An operation
    /// that always fails, or stops each push, then keeps no other from being sent.
    ///
    /// - Parameters:
    ///   - keepingOrder: Whether the order stays that of the queue.
    ///   - limit: How many operations that failed before are tried in any case. If the order is the queue's, the first
    ///     of them is one of these.
    mutating func arrange(keepingOrder: Bool, upTo limit: Int) {
        let failed = order.filter { nodes[$0]?.earlierError != nil }
        guard let first = failed.first else { return }
        let longestAgo = failed.sorted { (triedAt($0), $0) < (triedAt($1), $1) }
        let tried = keepingOrder ? [first] + longestAgo.filter { $0 != first } : longestAgo
        for id in tried.dropFirst(limit) { nodes[id]?.isSpare = true }
        guard !keepingOrder else { return }
        line = order.filter { nodes[$0]?.earlierError == nil } + longestAgo
        for (place, id) in line.enumerated() { nodes[id]?.position = place }
    }

    private func triedAt(_ id: PendingOperation.ID) -> Date { nodes[id]?.earlierError?.at ?? .distantPast }

    /// Has a delete go after an operation that refers to what it deletes.
    mutating func addReferrer(_ referrer: PendingOperation.ID, refersToObjectOf delete: PendingOperation.ID) {
        guard referrer != delete, nodes[delete] != nil else { return }
        referrers[delete, default: []].append(referrer)
    }

    /// The next operation to send.
    var next: PendingOperation.ID? {
        let fresh = reached < line.count ? line[reached] : nil
        guard let back = returned.last, fresh.map({ position(of: back) < position(of: $0) }) ?? true else {
            return fresh
        }
        return back
    }

    /// Removes the next operation to send.
    mutating func dequeue() {
        guard let next else { return }
        if next == returned.last { returned.removeLast() } else { reached += 1 }
    }

    // MARK: Waiting

    /// Whether another operation waits for this one.
    func isAwaited(_ id: PendingOperation.ID) -> Bool { waiters[id] != nil }

    /// Whether an operation is part of this push, and has not ended.
    func isUnfinished(_ id: PendingOperation.ID) -> Bool {
        nodes[id].map { !$0.isOver } ?? false
    }

    /// Returns whether an operation that waited for another one would wait for itself.
    func closesCycle(_ id: PendingOperation.ID, behind other: PendingOperation.ID) -> Bool {
        var place: PendingOperation.ID? = other
        while let current = place {
            if current == id { return true }
            place = behind[current]
        }
        return false
    }

    /// Lets a delete wait for an operation that refers to its object. If deletes form a cycle, the one that would
    /// close it does not wait, and is sent.
    ///
    /// - Returns: Whether the operation waits.
    mutating func parkBehindReferrer(_ delete: PendingOperation.ID) -> Bool {
        park(delete, behindLastOf: referrers[delete] ?? [])
    }

    /// Lets an operation wait for the last of several unfinished operations that do not wait for it. When that one has
    /// ended, most of the others have too. Waiting for each one in turn would cause a check for each.
    ///
    /// - Returns: Whether the operation waits.
    /// - Complexity: O(*n* log *n*) in the number of the others.
    mutating func park(_ id: PendingOperation.ID, behindLastOf others: [PendingOperation.ID]) -> Bool {
        let unfinished = others.filter(isUnfinished).sorted { position(of: $0) > position(of: $1) }
        guard let other = unfinished.first(where: { !closesCycle(id, behind: $0) }) else { return false }
        park(id, behind: other)
        return true
    }

    /// Lets an operation wait for an unfinished one. The caller must check for a cycle in the same critical section, or
    /// two operations could wait for each other.
    mutating func park(_ id: PendingOperation.ID, behind other: PendingOperation.ID) {
        behind[id] = other
        waiters[other, default: []].append(id)
    }

    /// Ends an operation. The operations that waited for it may continue.
    mutating func finish(_ id: PendingOperation.ID, outcome: SyncResult.Outcome?) {
        guard let node = nodes[id], !node.isOver else { return }
        finished += 1
        nodes[id]?.outcome = outcome
        nodes[id]?.isGone = outcome == nil
        release(id)
    }

    /// Releases the operations that waited for another one. They check again whether they must wait.
    mutating func release(_ id: PendingOperation.ID) {
        guard let waiting = waiters.removeValue(forKey: id) else { return }
        for id in waiting { behind[id] = nil }
        returned = (returned + waiting).sorted { position(of: $0) > position(of: $1) }
    }

    /// Returns a started operation to the line. It is sent before all operations behind it.
    ///
    /// - Complexity: O(*n*) in the number of returned operations.
    mutating func giveBack(_ id: PendingOperation.ID) {
        guard isUnfinished(id) else { return }
        // It was tried in any case.
        nodes[id]?.isSpare = false
        let place = position(of: id)
        var (low, high) = (0, returned.count)
        while low < high {
            let middle = (low + high) / 2
            if position(of: returned[middle]) > place { low = middle + 1 } else { high = middle }
        }
        returned.insert(id, at: low)
    }

    private func position(of id: PendingOperation.ID) -> Int { nodes[id]?.position ?? .max }
}
