/// What became of one row between two states: it came (no old one), it went (no new one), or it was replaced.
///
/// The number of a row that went can be given to another object. Then old and new have different local IDs, and one
/// went and the other came. An object that came back may have another number, and is in two deltas.
struct RowDelta: Sendable {
    var old: LiveRow?
    var new: LiveRow?

    init(old: LiveRow?, new: LiveRow?) {
        self.old = old
        self.new = new
    }

    /// Whether nothing became of it.
    var isEmpty: Bool { old === new }

    /// Whether the object has another number than it had.
    var isOfSeveralRows: Bool {
        guard let old, let new else { return false }
        return old.rowID != new.rowID
    }
}

/// What became of rows over several commits: the net effect of the deltas merged into it, each after the last.
struct RowDeltas: Sendable, Sequence {
    private var deltas: [Int64: RowDelta] = [:]

    init() {}

    var count: Int { deltas.count }
    var isEmpty: Bool { deltas.isEmpty }
    var underestimatedCount: Int { count }

    /// Adds what became of a row since the last delta of its number: *a* → *b* and then *b* → *c* are *a* → *c*.
    mutating func merge(_ delta: RowDelta, rowID: Int64) {
        guard let index = deltas.index(forKey: rowID) else {
            if !delta.isEmpty { deltas[rowID] = delta }
            return
        }
        deltas.values[index].new = delta.new
        if deltas.values[index].isEmpty { deltas.remove(at: index) }
    }

    /// What became of a row.
    subscript(rowID: Int64) -> RowDelta? { deltas[rowID] }

    /// Takes out what became of a row.
    mutating func remove(rowID: Int64) -> RowDelta? { deltas.removeValue(forKey: rowID) }

    /// Adds what became of rows since.
    mutating func merge(_ later: RowDeltas) {
        if isEmpty {
            self = later
        } else {
            for (rowID, delta) in later.deltas { merge(delta, rowID: rowID) }
        }
    }

    mutating func removeAll() { deltas.removeAll() }

    /// Makes room for so many rows.
    mutating func reserveCapacity(_ count: Int) { deltas.reserveCapacity(count) }

    /// The deltas, in no order.
    var all: [RowDelta] { Array(deltas.values) }

    func makeIterator() -> Dictionary<Int64, RowDelta>.Values.Iterator { deltas.values.makeIterator() }
}
