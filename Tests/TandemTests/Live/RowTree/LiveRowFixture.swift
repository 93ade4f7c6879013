import TandemTesting

@testable import Tandem

/// Rows for tests of the live engine's structures. A row shows its row ID and a number, so that a replaced row looks
/// different.
final class NumberedRow: LiveRow, @unchecked Sendable {
    let number: Int

    init(_ number: Int, rowID: Int64, key: [UInt8], localID: LocalID) {
        self.number = number
        super.init(rowID: rowID, key: key, localID: localID)
    }
}

extension LiveRow {
    /// Compares rows by the engine's order in the simplest form.
    static func isBefore(_ lhs: LiveRow, _ rhs: LiveRow) -> Bool {
        if lhs.key != rhs.key { return lhs.key.lexicographicallyPrecedes(rhs.key) }
        return lhs.localID.rawValue.utf8.lexicographicallyPrecedes(rhs.localID.rawValue.utf8)
    }
}

/// Returns whether two sequences have identical rows.
func areSame(_ lhs: some Sequence<LiveRow>, _ rhs: some Sequence<LiveRow>) -> Bool {
    lhs.elementsEqual(rhs, by: ===)
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

    /// Returns a local ID that no other row of this factory has.
    mutating func newID() -> LocalID {
        made += 1
        let number = String(made, radix: 36)
        return LocalID(Self.beginnings[below(Self.beginnings.count)] + (made % 3 == 0 ? "\0\(number)" : "~\(number)"))
    }

    mutating func row(rowID: Int64, localID: LocalID? = nil, key: [UInt8]? = nil) -> LiveRow {
        let id = localID ?? newID()
        made += 1
        return NumberedRow(made, rowID: rowID, key: key ?? self.key(), localID: id)
    }

    /// Makes rows with row numbers from 1 in the engine's order.
    mutating func rows(_ count: Int) -> [LiveRow] {
        (0..<count).map { row(rowID: Int64($0 + 1)) }.sorted(by: LiveRow.isBefore)
    }
}
