/// A set of row numbers, with one bit for each.
package struct RowSet: Sendable, Equatable {
    /// The bits of 64 rows each, by the upper bits of the row numbers.
    private var words: [Int64: UInt64] = [:]

    /// Creates an empty set.
    package init() {}

    /// Whether the set is empty.
    package var isEmpty: Bool { words.isEmpty }
    /// The number of rows.
    package var count: Int { words.values.reduce(0) { $0 + $1.nonzeroBitCount } }

    /// Adds a row.
    package mutating func insert(_ row: Int64) {
        words[row >> 6, default: 0] |= 1 << UInt64(row & 63)
    }

    /// Removes a row.
    package mutating func remove(_ row: Int64) {
        guard let word = words[row >> 6] else { return }
        let rest = word & ~(1 << UInt64(row & 63))
        words[row >> 6] = rest == 0 ? nil : rest
    }

    /// Whether it has a row.
    package func contains(_ row: Int64) -> Bool {
        (words[row >> 6] ?? 0) & (1 << UInt64(row & 63)) != 0
    }

    /// Takes some of the rows out.
    ///
    /// - Parameter limit: How many at least, if there are as many.
    package mutating func removeFirst(_ limit: Int) -> [Int64] {
        var rows: [Int64] = []
        var keys: [Int64] = []
        for (key, word) in words {
            var word = word
            while word != 0 {
                rows.append(key << 6 | Int64(word.trailingZeroBitCount))
                word &= word - 1
            }
            keys.append(key)
            if rows.count >= limit { break }
        }
        for key in keys { words[key] = nil }
        return rows
    }
}
