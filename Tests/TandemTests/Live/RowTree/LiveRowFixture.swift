import TandemTesting

@testable import Tandem

extension LiveRow {
    /// Makes a row with a number as its payload, so that a replaced row looks different.
    ///
    /// - Parameter padding: The number of further bytes of the payload.
    init(number: Int, rowID: Int64, key: [UInt8], localID: LocalID, padding: Int = 0) {
        let payload = withUnsafeBytes(of: number.littleEndian) { Array($0) }
        self.init(
            rowID: rowID, key: key, localID: localID, payload: payload + Array(repeating: 0x5A, count: padding))
    }

    /// Compares rows by the engine's order in the simplest form.
    static func isBefore(_ lhs: LiveRow, _ rhs: LiveRow) -> Bool {
        if lhs.key != rhs.key { return lhs.key.lexicographicallyPrecedes(rhs.key) }
        return lhs.localID.rawValue.utf8.lexicographicallyPrecedes(rhs.localID.rawValue.utf8)
    }
}

/// Returns whether both rows have the same bytes, or neither exists.
func === (lhs: LiveRow?, rhs: LiveRow?) -> Bool {
    guard let lhs, let rhs else { return lhs == nil && rhs == nil }
    return lhs.isIdentical(to: rhs)
}

/// Returns whether two sequences have identical rows.
func areSame(_ lhs: some Sequence<LiveRow>, _ rhs: some Sequence<LiveRow>) -> Bool {
    lhs.elementsEqual(rhs) { $0.isIdentical(to: $1) }
}

extension RowBuffer {
    /// Creates a buffer with copies of rows.
    convenience init(_ rows: [LiveRow]) {
        self.init()
        for row in rows {
            append(rowID: row.rowID, key: row.key, localID: row.localID, payload: row.withView { Array($0.payload) })
        }
    }
}

extension RowTree {
    /// Creates a tree from rows in order.
    init(sorted rows: [LiveRow]) {
        guard let tree = RowTree(RowBuffer(rows), sorted: Array(rows.indices)) else {
            preconditionFailure("Two rows have the same key and local ID.")
        }
        self = tree
    }

    /// Sorts rows into the order of the tree.
    static func sort(_ rows: inout [LiveRow]) {
        rows = withExtendedLifetime(rows) { unsorted in
            RowSorting.sorted(unsorted.count) { unsorted[$0].view }.map { unsorted[$0] }
        }
    }

    /// Inserts a row, and returns its position, or `nil` if a row with its key and local ID exists.
    @discardableResult
    mutating func insert(_ row: LiveRow) -> Int? {
        apply(removed: [], inserted: [row]) ? rank(of: row) : nil
    }

    /// Removes the row with the same key and local ID.
    ///
    /// - Returns: The row's position, or `nil` if it does not exist.
    @discardableResult
    mutating func remove(_ row: LiveRow) -> Int? {
        let rank = rank(of: row)
        return apply(removed: [row], inserted: []) ? rank : nil
    }

    /// Replaces the row with the same key and local ID.
    ///
    /// - Returns: The row's position, or `nil` if it does not exist.
    @discardableResult
    mutating func replace(_ row: LiveRow) -> Int? {
        apply(removed: [row], inserted: [row]) ? rank(of: row) : nil
    }
}

/// Makes rows whose keys and IDs are as similar as possible.
struct RowFactory {
    var random: SeededGenerator
    private var made = 0
    /// The letters of keys. Few letters and short keys give many equal keys and many common prefixes.
    var letters: [UInt8]
    var longestKey: Int

    init(_ random: SeededGenerator, letters: [UInt8] = [0, 1, 0x61, 0xD0, 0xFF], longestKey: Int = 4) {
        self.random = random
        self.letters = letters
        self.longestKey = longestKey
    }

    static let beginnings = [
        "", "\0", "a", "a\0", "é", "e\u{301}", "стол", "столик", "\u{FFFF}", "\u{10000}", "👩‍👩‍👧", "0193a1b2-c3d4-7",
        "0193a1b2-c3d4-7000",
    ]

    mutating func below(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }

    mutating func key() -> [UInt8] {
        (0..<below(longestKey + 1)).map { _ in letters[below(letters.count)] }
    }

    /// Returns a local ID that no other row of this factory has. Some are UUIDs, which are packed.
    mutating func newID() -> LocalID {
        made += 1
        if made % 4 == 0 {
            let digits = "0193a1b2c3d47000" + String(UInt64(made) | 1 << 60, radix: 16)
            return LocalID(
                [0..<8, 8..<12, 12..<16, 16..<20, 20..<32].map { String(Array(digits)[$0]) }.joined(separator: "-"))
        }
        let number = String(made, radix: 36)
        return LocalID(Self.beginnings[below(Self.beginnings.count)] + (made % 3 == 0 ? "\0\(number)" : "~\(number)"))
    }

    mutating func row(rowID: Int64, localID: LocalID? = nil, key: [UInt8]? = nil) -> LiveRow {
        let id = localID ?? newID()
        made += 1
        // Some payloads are so long that they are in an object of their own.
        return LiveRow(
            number: made, rowID: rowID, key: key ?? self.key(), localID: id,
            padding: made % 9 == 0 ? RowPayload.longestInline : made % 5)
    }

    /// Makes rows with row numbers from 1 in the engine's order.
    mutating func rows(_ count: Int) -> [LiveRow] {
        (0..<count).map { row(rowID: Int64($0 + 1)) }.sorted(by: LiveRow.isBefore)
    }
}
