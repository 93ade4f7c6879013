/// A live list: the rows of a query in its order, and their changes since the last delivery to the subscriber.
final class ListPart: LivePart {
    let list: LiveList
    /// The rows of the last delivery.
    private var delivered = RowSlice(RowTree())
    /// The differences from these rows, by row.
    private var pending: [Int64: RowDelta] = [:]
    private var wasDelivered = false
    private let tuning: LiveTuning

    private var tree = RowTree()
    /// The rows by their rowids, if changes arrive row by row.
    private let rows: RowIndex?
    /// The visible rows before changes after which unknown rows belong to the window.
    private var unapplied: RowSlice?
    /// Whether all visible rows are new since the last delivery, which was empty. They are not in `pending` then.
    private var areAllNew = false
    /// Whether the tree has all rows of the query, and not only those of the window and a reserve.
    private var isComplete = true

    /// Returns whether two rows of an object are the same to the subscriber.
    private let isSame: (LiveRow, LiveRow) -> Bool

    init(_ list: LiveList, tuning: LiveTuning) {
        isSame = list.reading.maker.comparison()
        rows = list.isIncremental ? RowIndex() : nil
        self.list = list
        self.tuning = tuning
    }

    /// The rows that the query currently shows.
    private var visible: RowSlice {
        guard let window = list.window else { return RowSlice(tree) }
        let start = min(window.offset, tree.count)
        return RowSlice(tree, range: start..<min(start + window.limit, tree.count))
    }

    func watch(in schema: Schema) throws -> PartWatch {
        try list.watch(in: schema)
    }

    var isDirty: Bool { !wasDelivered || areAllNew || !pending.isEmpty }

    /// The number of rows that differ from the last delivery.
    var pendingCount: Int { areAllNew ? visible.count : pending.count }

    // MARK: Reloading

    func load(_ snapshot: LiveSnapshot) throws {
        recordNewRows()
        latest = []
        let before = unapplied ?? visible
        var query = list.query
        if let window = list.window {
            query.offset = 0
            query.limit = window.capacity(tuning)
        }
        let found = try list.reading.rows(query, in: snapshot, threads: tuning.threads)
        isComplete = list.window.map { found.count < $0.capacity(tuning) } ?? true
        guard let tree = RowTree(found, sorted: found.sorted(threads: tuning.threads), threads: tuning.threads) else {
            // This happens only in a damaged file.
            throw TandemError(
                .corrupt, message: "Two objects of \(list.query.model.name) have the same local ID.",
                advice: "Restore a backup. Store.checkIntegrity lists the damage.", store: snapshot.connection.path,
                model: list.query.model.name)
        }
        self.tree = tree
        rows?.reset(tree, rowIDs: found.rowIDs, threads: tuning.threads)
        unapplied = nil
        guard wasDelivered else { return }
        if before.isEmpty, delivered.isEmpty, pending.isEmpty {
            areAllNew = !visible.isEmpty
        } else {
            recordDeltas(before.deltas(to: visible, isSame: isSame))
        }
    }

    /// Adds the rows of the first result after an empty one to the pending changes, before they change.
    private func recordNewRows() {
        guard areAllNew else { return }
        areAllNew = false
        recordDeltas(visible.map { RowDelta(old: nil, new: $0) })
    }

    // MARK: Row by row

    func apply(_ changes: [PartChange], isQuiet: Bool) -> Bool {
        defer { if !isQuiet { latest = [] } }
        recordNewRows()
        latest = []
        let before = visible
        var steps = Steps()
        for change in changes {
            guard case .row(let rowID, let new, let isSilent) = change else { continue }
            step(rowID, to: new, isSilent: isSilent, steps: &steps)
        }
        guard tree.apply(removed: steps.removed, inserted: steps.inserted, index: rows) else {
            recordContradiction()
            unapplied = before
            return false
        }
        if list.window == nil {
            recordDeltas(steps.deltas)
            return true
        }
        guard trimToWindow() else {
            unapplied = before
            return false
        }
        recordDeltas(before.deltas(to: visible) { _, new in steps.silent.contains(new.rowID) })
        return true
    }

    /// The effects of a commit's changes on the tree.
    private struct Steps {
        var removed: [LiveRow] = []
        var inserted: [LiveRow] = []
        var deltas: [RowDelta] = []
        /// Rows without a change of an observed column.
        var silent: Set<Int64> = []
    }

    private func step(_ rowID: Int64, to new: LiveRow?, isSilent: Bool, steps: inout Steps) {
        let old = rows?.row(rowID)
        guard old != nil || new != nil else { return }
        if let old, let new, old.hasKey(of: new) {
            steps.removed.append(old)
            steps.inserted.append(new)
            if isSilent { steps.silent.insert(rowID) } else { steps.deltas.append(RowDelta(old: old, new: new)) }
            return
        }
        // Rows beyond the last kept row are unknown, and do not matter until they move up.
        let kept = new.flatMap { isBeyond($0, without: old) ? nil : $0 }
        if let old { steps.removed.append(old) }
        if let kept { steps.inserted.append(kept) }
        steps.deltas.append(RowDelta(old: old, new: kept))
    }

    private func isBeyond(_ row: LiveRow, without old: LiveRow?) -> Bool {
        guard !isComplete else { return false }
        return tree.lowerBound(row) >= tree.count
    }

    /// Drops rows that are far beyond the window.
    ///
    /// - Returns: `false` if unknown rows belong to the window.
    private func trimToWindow() -> Bool {
        guard let window = list.window else { return true }
        let capacity = window.capacity(tuning)
        if tree.count > capacity * 2 {
            let surplus = Array(RowSlice(tree, range: capacity..<tree.count))
            if !tree.apply(removed: surplus, inserted: [], index: rows) { recordContradiction() }
            isComplete = false
        }
        return isComplete || tree.count >= window.offset + window.limit
    }

    private func recordDeltas(_ deltas: [RowDelta]) {
        guard wasDelivered else { return }
        if deltas.count > 32 { pending.reserveCapacity(pending.count + deltas.count) }
        let deltas = deltas.contains(where: \.isOfSeveralRows) ? Self.byRow(deltas) : deltas
        // A rowid that one object releases and another gets: process the release first.
        for delta in deltas where delta.new == nil { merge(delta) }
        for delta in deltas where delta.new != nil { merge(delta) }
        latest = deltas
        forgetReturned(deltas)
    }

    /// The maximum number of pending rows that are searched for a removed row. With more pending rows, a subscriber may
    /// get a change without effect.
    private static let maximumSearched = 1000

    /// Drops changes of an object that was removed under one rowid and inserted unchanged under another.
    private func forgetReturned(_ deltas: [RowDelta]) {
        guard pending.count > 1, pending.count <= Self.maximumSearched, deltas.contains(where: { $0.old == nil })
        else { return }
        var gone: [LocalID: LiveRow] = [:]
        for delta in pending.values where delta.new == nil { if let old = delta.old { gone[old.localID] = old } }
        guard !gone.isEmpty else { return }
        for delta in deltas where delta.old == nil {
            guard let new = delta.new, let old = gone[new.localID], old.hasKey(of: new), isSame(old, new),
                let waiting = pending[new.rowID], waiting.old == nil
            else { continue }
            pending[old.rowID] = nil
            pending[new.rowID] = nil
        }
    }

    private func merge(_ delta: RowDelta) {
        guard let rowID = (delta.old ?? delta.new)?.rowID else { return }
        let hasWaited = pending[rowID] != nil
        pending.merge(delta, rowID: rowID)
        // A value that has changed and changed back since the last delivery is not a change for the subscriber.
        if hasWaited, let whole = pending[rowID], let old = whole.old, let new = whole.new, old.hasKey(of: new),
            isSame(old, new)
        {
            pending[rowID] = nil
        }
    }

    /// Splits the deltas of objects that got another rowid into a removal and an insertion.
    private static func byRow(_ deltas: [RowDelta]) -> [RowDelta] {
        deltas.flatMap { delta in
            delta.isOfSeveralRows
                ? [RowDelta(old: delta.old, new: nil), RowDelta(old: nil, new: delta.new)] : [delta]
        }
    }

    // MARK: Telling

    /// The changes of the latest commit, which ``applySilently(wasDirty:)`` needs.
    private var latest: [RowDelta] = []

    func applySilently(wasDirty: Bool) {
        guard wasDelivered else { return }
        guard wasDirty else {
            delivered = visible
            pending = [:]
            areAllNew = false
            return
        }
        // The subscriber has applied these changes to its last delivered state. This is not possible for windows: the
        // row that fills a gap may be among the pending changes.
        guard list.window == nil, list.isIncremental else { return resetBaseline() }
        var tree = delivered.tree
        var removed: [LiveRow] = []
        var inserted: [LiveRow] = []
        let unknown = unknownRemovedObjects
        for delta in latest {
            guard let rowID = (delta.old ?? delta.new)?.rowID else { continue }
            // Without a pending change, the subscriber already has this state.
            guard let waiting = pending.removeValue(forKey: rowID) else { continue }
            if let had = waiting.old {
                // The rowid belonged to another object, whose removal the subscriber must still get.
                guard delta.isOf(had) else {
                    return resetBaseline()
                }
                removed.append(had)
            } else if delta.old != nil || delta.new.map({ unknown.contains($0.localID) }) ?? false {
                // The object existed and changed, but the subscriber was not notified of it, and may not have it.
                return resetBaseline()
            }
            if let new = waiting.new { inserted.append(new) }
        }
        // An object can have been shown under another rowid.
        let touched = Set(latest.flatMap { [$0.old?.localID, $0.new?.localID].compactMap(\.self) })
        for delta in Array(pending.values) {
            guard let had = delta.old, touched.contains(had.localID) else { continue }
            removed.append(had)
            pending[had.rowID] = nil
            if let new = delta.new { pending.merge(RowDelta(old: nil, new: new), rowID: had.rowID) }
        }
        guard tree.apply(removed: removed, inserted: inserted) else {
            recordContradiction()
            return resetBaseline()
        }
        delivered = RowSlice(tree)
    }

    /// The objects of removed rows that the subscriber was not notified of. An object can get another row in the same
    /// commit.
    private var unknownRemovedObjects: Set<LocalID> {
        var objects: Set<LocalID> = []
        for delta in latest where delta.new == nil {
            if let old = delta.old, pending[old.rowID] == nil { objects.insert(old.localID) }
        }
        guard !objects.isEmpty else { return [] }
        // The subscriber knows an object that it was shown in an earlier row.
        for delta in pending.values { if let had = delta.old { objects.remove(had.localID) } }
        return objects
    }

    func resetBaseline() {
        delivered = .empty
        pending = [:]
        areAllNew = false
        wasDelivered = false
    }

    /// Returns the pending changes, and marks them as delivered.
    func consumeChanges() -> (old: RowSlice, new: RowSlice, changes: RowChanges?) {
        defer {
            delivered = visible
            latest = []
            pending.removeAll(keepingCapacity: pending.capacity <= Self.keptCapacity)
            areAllNew = false
            wasDelivered = true
        }
        guard wasDelivered else { return (delivered, visible, nil) }
        if areAllNew { return (delivered, visible, RowChanges(replacing: delivered, with: visible)) }
        if let changes = RowChanges(from: delivered, to: visible, deltas: pending.values) {
            return (delivered, visible, changes)
        }
        recordContradiction()
        return (delivered, visible, RowChanges(replacing: delivered, with: visible))
    }

    /// The maximum capacity of `pending` that is kept after a delivery.
    private static let keptCapacity = 24

    /// Handles changes that do not fit the known rows. Only a bug in this engine can cause that. An app is better
    /// served by a reload, or by a full delivery, than by a crash. Our tests are better served by a crash, except those
    /// of the recovery.
    private func recordContradiction() {
        assert(
            !tuning.stopsAtContradictions,
            "The changes of \(list.query.model.name) do not fit the rows of its live list.")
    }
}
