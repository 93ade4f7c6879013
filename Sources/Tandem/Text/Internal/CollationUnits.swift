/// The division of a canonical decomposition into units: scalars and contractions (UTS #10, S2.1).
struct CollationUnits {
    private let table: CollationTable
    let scalars: [UInt32]
    /// For each scalar that belongs to an earlier contraction, a later index before which all do. Zero for others, and
    /// empty if there are none.
    private var consumed: [Int] = []
    private var ends: [Int] = []
    private(set) var index = 0

    struct Unit {
        /// The position of the first scalar.
        let index: Int
        let first: UInt32
        let entry: CollationEntry
        /// The contraction, if the unit has several scalars.
        let contraction: Int?
        /// Whether no other scalar is between those of the contraction.
        let isContiguous: Bool
    }

    init(_ scalars: [UInt32], table: CollationTable) {
        self.scalars = scalars
        self.table = table
    }

    mutating func next() -> Unit? {
        index = firstFree(from: index)
        guard index < scalars.count else { return nil }
        let start = index
        let first = scalars[start]
        let entry = table[first]
        index += 1
        if entry.kind == .rare || !entry.has(CollationEntry.Flag.starts) {
            return Unit(index: start, first: first, entry: entry, contraction: nil, isContiguous: true)
        }
        let candidates = table.contractions(startingWith: first)
        var contraction = longestContraction(of: candidates, at: start)
        var isContiguous = true
        if let contraction { index = start + table.contractions[contraction].count }
        extend(&contraction, candidates: candidates, isContiguous: &isContiguous)
        return Unit(
            index: start, first: first, entry: contraction.map { table.contractions[$0].entry } ?? entry,
            contraction: contraction, isContiguous: isContiguous)
    }

    private func longestContraction(of candidates: Range<Int>, at start: Int) -> Int? {
        var best: Int?
        var bestCount = 1
        for candidate in candidates {
            let contraction = table.contractions[candidate]
            guard contraction.count > bestCount, start + contraction.count <= scalars.count else { continue }
            let wanted = table.scalars(of: contraction)
            if (1..<contraction.count).allSatisfy({ scalars[start + $0] == wanted[$0] && !isConsumed(start + $0) }) {
                best = candidate
                bestCount = contraction.count
            }
        }
        return best
    }

    private func isConsumed(_ index: Int) -> Bool { index < consumed.count && consumed[index] > 0 }

    /// Returns the first index from `start` on that no earlier contraction contains.
    private mutating func firstFree(from start: Int) -> Int {
        var index = start
        while isConsumed(index) { index = consumed[index] }
        // The next search is short. Without this, a hostile text would take minutes.
        if index > start { consumed[start] = index }
        return index
    }

    /// Extends a unit by later marks that are not blocked.
    private mutating func extend(
        _ contraction: inout Int?, candidates: Range<Int>, isContiguous: inout Bool
    ) {
        var position = index
        var lastClass: UInt8 = 0
        while position < scalars.count {
            if isConsumed(position) {
                position = firstFree(from: position)
                continue
            }
            let combiningClass = FoldingTables.normal[scalars[position]].combiningClass
            if combiningClass == 0 { return }
            if combiningClass > lastClass,
                let longer = extended(contraction, by: scalars[position], candidates: candidates)
            {
                contraction = longer
                if position == index {
                    index += 1
                } else {
                    isContiguous = false
                    if consumed.isEmpty { consumed = Array(repeating: 0, count: scalars.count) }
                    consumed[position] = position + 1
                }
                position += 1
            } else {
                lastClass = combiningClass
                // The others of this class are blocked. Without the table, a hostile text would take minutes.
                if ends.isEmpty { ends = endsOfClasses() }
                position = ends[position]
            }
        }
    }

    /// Returns, for each scalar, the index of the next one with another combining class.
    private func endsOfClasses() -> [Int] {
        var ends = Array(scalars.indices)
        for index in scalars.indices.reversed() {
            let isSame =
                index + 1 < scalars.count
                && FoldingTables.normal[scalars[index]].combiningClass
                    == FoldingTables.normal[scalars[index + 1]].combiningClass
            ends[index] = isSame ? ends[index + 1] : index + 1
        }
        return ends
    }

    private func extended(_ contraction: Int?, by scalar: UInt32, candidates: Range<Int>) -> Int? {
        let count = contraction.map { table.contractions[$0].count } ?? 1
        return candidates.first { candidate in
            let longer = table.contractions[candidate]
            guard longer.count == count + 1 else { return false }
            let wanted = table.scalars(of: longer)
            guard wanted[count] == scalar else { return false }
            guard let contraction else { return true }
            let own = table.scalars(of: table.contractions[contraction])
            return (0..<count).allSatisfy { own[$0] == wanted[$0] }
        }
    }
}
