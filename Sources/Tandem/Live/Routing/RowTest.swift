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
    case compares(Int, Comparison, BoundValue)
    /// Compares two columns. It is false if one is NULL.
    case comparesColumns(Int, Comparison, Int)
    /// SQL's `IS` between two columns.
    case isSame(Int, Int)
    /// Tests for one of some values, which are sorted and not NULL.
    case among(Int, [BoundValue])
    /// Tests whether bytes begin with one of some bytes, which are sorted. None of them is a prefix of another.
    case beginsWith(Int, [[UInt8]])
    case hasFoldedPrefix(Int, FoldedPrefix)
    case hasFirstLetter(Int, Collation, String)
    case ends(Int, [UInt8])
    case contains(Int, [UInt8])
    case like(Int, WildcardPattern)
    case finds(Int, SearchNeedle)
    case elementCount(Int, Comparison, Int)
    case elementsContain(Int, JSONNode)

    /// - Complexity: That of its comparisons, without allocation. Tests of JSON elements parse the JSON. Tests of
    ///   prefixes and first letters compute sort keys.
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
        case .beginsWith(let slot, let prefixes):
            return row.withBytes(slot) { Self.begins($0, with: prefixes) }
        case .hasFoldedPrefix(let slot, let prefix):
            return row.withBytes(slot) { prefix.matches($0) }
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

    private static func begins(_ bytes: UnsafeBufferPointer<UInt8>, with prefixes: [[UInt8]]) -> Bool {
        var (low, high) = (0, prefixes.count)
        while low < high {
            let middle = (low + high) / 2
            let isAfter = prefixes[middle].withUnsafeBufferPointer { ByteSearch.isLess(bytes, $0) }
            if isAfter { high = middle } else { low = middle + 1 }
        }
        // Only the greatest prefix that is not greater than the bytes can be their beginning.
        guard low > 0 else { return false }
        return bytes.starts(with: prefixes[low - 1])
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
