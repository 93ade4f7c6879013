extension CollationPass {
    /// Appends the elements of a segment, and returns the index after it.
    ///
    /// The segment ends before the next scalar that does not interact with the last one. Its scalars are decomposed,
    /// and divided into units.
    mutating func appendSegment(at start: Int) -> Int {
        var scalars: [UInt32] = []
        var index = start
        var last = CollationEntry(rawValue: 0)
        while index < inputCount {
            var next = index
            let scalar = UTF8Scalars.decode(input, at: &next)
            let entry = table[scalar]
            if index > start, !interacts(last, with: entry) { break }
            scalars.append(scalar)
            last = entry
            index = next
        }
        var units = CollationUnits(FoldingTables.normal.decompose(scalars), table: table)
        while let unit = units.next() {
            if unit.isContiguous {
                append(unit.first, entry: unit.entry)
            } else {
                note(.unresolved)
                append(elementsOf: unit.entry)
            }
        }
        return index
    }
}
