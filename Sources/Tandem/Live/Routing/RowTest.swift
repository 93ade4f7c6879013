/// A predicate over the columns of a row, with SQLite's semantics. NULL in SQLite is false here.
///
/// ``RowTestCompiler`` creates it, in the same structure as the SQL of the predicate.
indirect enum RowTest: Sendable {
    case constant(Bool)
    case not(RowTest)
    case all([RowTest])
    case any([RowTest])
    case isNull(Int)
    case isBlob(Int)
    /// Compares a column with a value that is not NULL. It is false if the column is NULL.
    case compares(Int, by: Comparison, to: BoundValue)
    /// Compares two columns. It is false if one is NULL.
    case comparesColumns(Int, by: Comparison, to: Int)
    /// SQL's `IS` between two columns.
    case isSame(Int, as: Int)
    /// Tests for one of some values, which are sorted and not NULL.
    case among(Int, values: [BoundValue])
    /// Tests for one of some ranges, which are sorted and do not overlap.
    case inKeyRanges(Int, ranges: [KeyRange])
    case isFolded(Int, test: FoldedTest)
    case hasFirstLetter(Int, collation: Collation, letter: String)
    case ends(Int, with: [UInt8])
    case contains(Int, bytes: [UInt8])
    case like(Int, pattern: WildcardPattern)
    case finds(Int, needle: SearchNeedle)
    case elementCount(Int, by: Comparison, to: Int)
    case elementsContain(Int, element: JSONNode)

    /// - Complexity: That of its comparisons, without allocation. Tests of JSON elements parse the JSON. Tests of
    ///   folded texts fold them.
    func holds(_ row: some ColumnSource) -> Bool {
        switch self {
        case .constant(let value): return value
        case .not(let test): return !test.holds(row)
        case .all(let tests):
            for test in tests where !test.holds(row) { return false }
            return true
        case .any(let tests):
            for test in tests where test.holds(row) { return true }
            return false
        case .isNull(let slot):
            if case .null = row.view(slot) { return true }
            return false
        case .isBlob(let slot):
            if case .blob = row.view(slot) { return true }
            return false
        case .compares(let slot, let comparison, let value):
            let view = row.view(slot)
            if case .null = view { return false }
            return comparison.holds(value.order(of: view))
        case .comparesColumns(let left, let comparison, let right):
            let (left, right) = (row.view(left), row.view(right))
            if case .null = left { return false }
            if case .null = right { return false }
            return comparison.holds(left.order(right))
        case .isSame(let left, let right):
            return row.view(left).order(row.view(right)) == 0
        case .among(let slot, let values):
            return Self.isElement(row.view(slot), of: values)
        case .inKeyRanges(let slot, let ranges):
            return row.withBytes(slot) { Self.isElement($0, of: ranges) }
        case .isFolded(let slot, let test):
            return row.withBytes(slot) { test.holds($0) }
        case .hasFirstLetter(let slot, let collation, let letter):
            return row.withBytes(slot) { bytes in
                ScalarText.isEqual(collation.firstLetter(of: String(decoding: bytes, as: UTF8.self)), letter)
            }
        case .ends(let slot, let suffix):
            return row.withBytes(slot) { bytes in suffix.withUnsafeBufferPointer { ByteSearch.ends(bytes, with: $0) } }
        case .contains(let slot, let part):
            return row.withBytes(slot) { bytes in
                part.withUnsafeBufferPointer { ByteSearch.contains(bytes, needle: $0) }
            }
        case .like(let slot, let pattern):
            return row.withBytes(slot) { pattern.matches($0) }
        case .finds(let slot, let needle):
            return row.withBytes(slot) { needle.matches(searchKey: $0) }
        case .elementCount(let slot, let comparison, let expected):
            return row.withBytes(slot) { bytes in
                guard let count = JSONElements.count(bytes) else { return false }
                return comparison.holds(count < expected ? -1 : count == expected ? 0 : 1)
            }
        case .elementsContain(let slot, let element):
            return row.withBytes(slot) { JSONElements.contain(element, in: $0) }
        }
    }

    private static func isElement(_ key: UnsafeBufferPointer<UInt8>, of ranges: [KeyRange]) -> Bool {
        let begun = ranges.indices.endOfPrefix { index in
            ranges[index].lower.withUnsafeBufferPointer { !ByteSearch.isLess(key, $0) }
        }
        // Only the last range that begins at or before the key can contain it.
        return begun > 0 && ranges[begun - 1].contains(key)
    }

    private static func isElement(_ view: ColumnView, of values: [BoundValue]) -> Bool {
        if case .null = view { return false }
        var (low, high) = (0, values.count)
        while low < high {
            let middle = (low + high) / 2
            let order = values[middle].order(of: view)
            if order == 0 { return true }
            if order < 0 { high = middle } else { low = middle + 1 }
        }
        return false
    }
}

extension ColumnSource {
    /// Tests a column's bytes. It is false for NULL. A text column holds no numbers, because SQLite converts them to
    /// texts.
    @inline(__always)
    fileprivate func withBytes(_ slot: Int, body: (UnsafeBufferPointer<UInt8>) -> Bool) -> Bool {
        switch view(slot) {
        case .text(let bytes), .blob(let bytes): body(bytes)
        case .null, .integer, .real: false
        }
    }
}
