/// A live list: the rows that a query finds, in its order, and what has changed since the subscriber was last told.
final class ListPart: LivePart {
    let list: LiveList
    /// What the subscriber was told last.
    private var told = RowSlice(RowTree())
    /// What differs from that, row by row.
    private var pending = RowDeltas()
    private var wasTold = false
    var tuning = LiveTuning()

    private var tree = RowTree()
    /// The rows by their numbers in the table, where changes come row by row.
    private var rows: [Int64: LiveRow] = [:]
    /// What was visible before changes after which the window had room for rows that are not known.
    private var unsettled: RowSlice?
    /// Whether the tree has all rows of the query, not only as many as the window wants and some more.
    private var isComplete = true

    /// Whether two rows of one object are the same to the subscriber.
    private let isSame: (LiveRow, LiveRow) -> Bool

    init(_ list: LiveList) {
        isSame = list.reading.maker.comparison()
        self.list = list
    }

    /// What the query shows now.
    private var visible: RowSlice {
        guard let window = list.window else { return RowSlice(tree) }
        let start = min(window.offset, tree.count)
        return RowSlice(tree, range: start..<min(start + window.limit, tree.count))
    }

    func watch(in schema: Schema) throws -> PartWatch {
        try list.watch(in: schema)
    }

    var isDirty: Bool { !wasTold || !pending.isEmpty }

    /// How many rows differ from what was told.
    var pendingCount: Int { pending.count }

    // MARK: Reading afresh

    func load(_ connection: Connection) throws {
        latest = []
        let before = unsettled ?? visible
        var query = list.query
        if let window = list.window {
            query.offset = 0
            query.limit = window.capacity(tuning)
        }
        var found = try list.reading.rows(query, connection)
        isComplete = list.window.map { found.count < $0.capacity(tuning) } ?? true
        RowTree.sort(&found)
        // Only in a damaged file: a tree holds each once.
        if zip(found, found.dropFirst()).contains(where: { $0.hasPlace(of: $1) }) {
            throw TandemError(
                .corrupt, "Two objects of \(list.query.model.name) have one local ID.",
                advice: "Restore a backup; Store.checkIntegrity tells what is hurt.", store: connection.path,
                model: list.query.model.name)
        }
        tree = RowTree(sorted: found)
        if list.isIncremental {
            rows.removeAll(keepingCapacity: true)
            rows.reserveCapacity(found.count)
            for row in found { rows[row.rowID] = row }
        }
        unsettled = nil
        if wasTold {
            note(before.deltas(to: visible, isSame: isSame), since: before)
        }
    }

    // MARK: Row by row

    func apply(_ changes: [PartChange]) -> Bool {
        latest = []
        let before = visible
        var steps = Steps()
        for change in changes {
            guard case .row(let rowID, let new, let isSilent) = change else { continue }
            step(rowID, to: new, isSilent, &steps)
        }
        guard steps.areKnown, tree.apply(removed: steps.removed, inserted: steps.inserted) else {
            noteContradiction()
            unsettled = before
            return false
        }
        if list.window == nil {
            note(steps.deltas, since: before)
            return true
        }
        guard trimToWindow() else {
            unsettled = before
            return false
        }
        note(before.deltas(to: visible) { old, new in old === new || steps.silent.contains(new.rowID) })
        return true
    }

    /// What the changes of one commit do to the tree.
    private struct Steps {
        var removed: [LiveRow] = []
        var inserted: [LiveRow] = []
        var deltas: [RowDelta] = []
        /// Rows of which nothing observed has changed.
        var silent: Set<Int64> = []
        /// Whether each row that was replaced was there.
        var areKnown = true
    }

    private func step(_ rowID: Int64, to new: LiveRow?, _ isSilent: Bool, _ steps: inout Steps) {
        let old = rows[rowID]
        guard old != nil || new != nil else { return }
        if let old, let new, old.hasPlace(of: new) {
            rows[rowID] = new
            if tree.replace(new) == nil { steps.areKnown = false }
            if isSilent { steps.silent.insert(rowID) } else { steps.deltas.append(RowDelta(old: old, new: new)) }
            return
        }
        // Rows beyond the last one that is kept are not known, and not of interest until it moves up.
        let kept = new.flatMap { isBeyond($0, without: old) ? nil : $0 }
        if let old { steps.removed.append(old) }
        if let kept { steps.inserted.append(kept) }
        rows[rowID] = kept
        steps.deltas.append(RowDelta(old: old, new: kept))
    }

    private func isBeyond(_ row: LiveRow, without old: LiveRow?) -> Bool {
        guard !isComplete else { return false }
        return tree.lowerBound(row) >= tree.count
    }

    /// Lets rows go that are far beyond the window.
    ///
    /// - Returns: `false` if the window has room for rows that are not known.
    private func trimToWindow() -> Bool {
        guard let window = list.window else { return true }
        let capacity = window.capacity(tuning)
        if tree.count > capacity * 2 {
            var surplus: [LiveRow] = []
            tree.forEach(in: capacity..<tree.count) { surplus.append($0) }
            for row in surplus { rows[row.rowID] = nil }
            if !tree.apply(removed: surplus, inserted: []) { noteContradiction() }
            isComplete = false
        }
        return isComplete || tuning.has(.windowNotRefilled) || tree.count >= window.offset + window.limit
    }

    private func note(_ deltas: [RowDelta], since before: RowSlice? = nil) {
        guard wasTold else { return }
        if tuning.has(.mergedAgainstWrongBase), let before, !deltas.isEmpty {
            pending = RowDeltas()
            told = before
        }
        if deltas.count > 32 { pending.reserveCapacity(pending.count + deltas.count) }
        let deltas = deltas.contains(where: \.isOfSeveralRows) ? Self.byRow(deltas) : deltas
        // A number that one row leaves and another takes: it is left first.
        for delta in deltas where delta.new == nil { merge(delta) }
        for delta in deltas where delta.new != nil { merge(delta) }
        latest = deltas
        forgetReturned(deltas)
    }

    /// How many rows that wait are looked through for one that went. A subscriber for whom more wait may be told of a
    /// change that is none.
    private static let mostLookedThrough = 1000

    /// An object that went under one number and came back under another, as it was, is no change to the subscriber.
    private func forgetReturned(_ deltas: [RowDelta]) {
        guard pending.count > 1, pending.count <= Self.mostLookedThrough, deltas.contains(where: { $0.old == nil })
        else { return }
        var gone: [LocalID: LiveRow] = [:]
        for delta in pending where delta.new == nil { if let old = delta.old { gone[old.localID] = old } }
        guard !gone.isEmpty else { return }
        for delta in deltas where delta.old == nil {
            guard let new = delta.new, let old = gone[new.localID], old.hasPlace(of: new), isSame(old, new),
                let waiting = pending[new.rowID], waiting.old == nil
            else { continue }
            _ = pending.remove(rowID: old.rowID)
            _ = pending.remove(rowID: new.rowID)
        }
    }

    private func merge(_ delta: RowDelta) {
        guard let rowID = (delta.old ?? delta.new)?.rowID else { return }
        let hasWaited = pending[rowID] != nil
        pending.merge(delta, rowID: rowID)
        // What has changed and changed back while the subscriber was slow is no change to it.
        if hasWaited, let whole = pending[rowID], let old = whole.old, let new = whole.new, old.hasPlace(of: new),
            isSame(old, new)
        {
            _ = pending.remove(rowID: rowID)
        }
    }

    /// An object that has come back under another number has gone under the one and come under the other.
    private static func byRow(_ deltas: [RowDelta]) -> [RowDelta] {
        deltas.flatMap { delta in
            delta.isOfSeveralRows
                ? [RowDelta(old: delta.old, new: nil), RowDelta(old: nil, new: delta.new)] : [delta]
        }
    }

    // MARK: Telling

    /// What the latest commit did.
    private var latest: [RowDelta] = []

    func settleQuietly(wasDirty: Bool) {
        guard wasTold else { return }
        guard wasDirty else {
            told = visible
            pending = RowDeltas()
            return
        }
        // The subscriber has made these changes to what it was told last. Windows can't be followed so: what a row
        // that goes makes room for may be among what waits.
        guard list.window == nil, list.isIncremental else { return tellAnew() }
        var tree = told.tree
        var removed: [LiveRow] = []
        var inserted: [LiveRow] = []
        for delta in latest {
            guard let rowID = (delta.old ?? delta.new)?.rowID else { continue }
            // If nothing waits of it, it is what the subscriber was told already.
            guard let waiting = pending.remove(rowID: rowID) else { continue }
            if let had = waiting.old {
                // The number was another object's, of which the subscriber must still be told that it went.
                guard had.localID == delta.old?.localID || had.localID == delta.new?.localID else { return tellAnew() }
                removed.append(had)
            } else if delta.old != nil {
                // It was there to be changed, and the subscriber has not been told of it: it may have had no row for it.
                return tellAnew()
            }
            if let new = waiting.new { inserted.append(new) }
        }
        // An object can have been shown under another number.
        let touched = Set(latest.flatMap { [$0.old?.localID, $0.new?.localID].compactMap(\.self) })
        for delta in pending.all {
            guard let had = delta.old, touched.contains(had.localID) else { continue }
            removed.append(had)
            _ = pending.remove(rowID: had.rowID)
            if let new = delta.new { pending.merge(RowDelta(old: nil, new: new), rowID: had.rowID) }
        }
        guard tree.apply(removed: removed, inserted: inserted) else {
            noteContradiction()
            return tellAnew()
        }
        told = RowSlice(tree)
    }

    func tellAnew() {
        told = .empty
        pending = RowDeltas()
        wasTold = false
    }

    /// Hands over what has changed, and takes it for told.
    func take() -> (old: RowSlice, new: RowSlice, changes: RowChanges?) {
        defer {
            told = visible
            pending = RowDeltas()
            wasTold = true
        }
        guard wasTold else { return (told, visible, nil) }
        if let changes = RowChanges(from: told, to: visible, deltas: pending.all, tuning) {
            return (told, visible, changes)
        }
        noteContradiction()
        return (told, visible, RowChanges(replacing: told, with: visible))
    }

    /// What a commit did does not fit the rows that are known, which a mistake in this engine alone can cause. An app is
    /// better served by a list that is read afresh, or told whole, than by its end; a test of ours by the latter.
    private func noteContradiction() {
        assert(tuning.fault != nil, "The changes of \(list.query.model.name) do not fit the rows of its live list.")
    }
}
