import Foundation

/// Where a row stands in the order: by its key's bytes, then by its local ID's, as `memcmp` compares them and with a
/// prefix before what it begins.
///
/// Two words hold the beginning of both, so that most places are told apart without looking at their rows, which lie
/// all over memory.
///
/// A place does not keep its row alive: a leaf of a ``RowTree`` does, and whoever looks one up.
struct RowPlace {
    let high: UInt64
    let low: UInt64
    let row: Unmanaged<LiveRow>

    /// The words never put two rows in another order than their bytes do; what they leave equal the bytes decide.
    ///
    /// With an empty key they are 15 bytes of the local ID. Otherwise `high` is 7 bytes of the key after a one, so that
    /// the empty key comes first; then `low` is the next 8 bytes, or if there are none, how many of the 7 there were
    /// (a prefix comes first) and 7 bytes of the local ID, as the keys are then the same.
    init(_ row: LiveRow) {
        let count = row.key.count
        if count == 0 {
            high = Self.word(of: row.localID.rawValue, at: 0) >> 8
            low = Self.word(of: row.localID.rawValue, at: 7)
        } else {
            let (first, next) = row.key.withUnsafeBufferPointer { (Self.word($0, at: 0), Self.word($0, at: 7)) }
            high = first >> 8 | 1 << 56
            low =
                count > 7
                ? max(next, 8 << 56) : UInt64(count) << 56 | Self.word(of: row.localID.rawValue, at: 0) >> 8
        }
        self.row = Unmanaged.passUnretained(row)
    }

    /// A negative number if this place comes first, a positive one if the other does, zero if they are one.
    @inline(__always)
    func order(_ other: RowPlace) -> Int {
        if high != other.high { return high < other.high ? -1 : 1 }
        if low != other.low { return low < other.low ? -1 : 1 }
        if row.toOpaque() == other.row.toOpaque() { return 0 }
        return orderOfBytes(other)
    }

    /// How many bytes of the keys are known to be the same in places with the same words; `nil` if none are.
    var equalBytes: Int? { high >> 56 == 1 && low > 8 << 56 ? 15 : nil }

    /// Two words of the key from an offset on, which put no two keys in another order than their bytes do, and whether
    /// the key goes on behind them.
    func words(at offset: Int) -> (first: UInt64, next: UInt64, goesOn: Bool) {
        row._withUnsafeGuaranteedRef { row in
            row.key.withUnsafeBufferPointer {
                (Self.word($0, at: offset), Self.word($0, at: offset + 8), $0.count > offset + 16)
            }
        }
    }

    @inline(never)
    private func orderOfBytes(_ other: RowPlace) -> Int {
        row._withUnsafeGuaranteedRef { lhs in
            other.row._withUnsafeGuaranteedRef { rhs in
                let byKey = lhs.key.withUnsafeBytes { left in
                    rhs.key.withUnsafeBytes { right in
                        let common = min(left.count, right.count)
                        if common > 0 {
                            let order = memcmp(left.baseAddress!, right.baseAddress!, common)
                            if order != 0 { return Int(order) }
                        }
                        return left.count - right.count
                    }
                }
                return byKey != 0 ? byKey : UTF8Order.compare(lhs.localID.rawValue, rhs.localID.rawValue)
            }
        }
    }

    /// The 8 bytes from an offset on as a number that compares as they do; zeros stand for what is missing.
    @inline(__always)
    private static func word(_ bytes: UnsafeBufferPointer<UInt8>, at offset: Int) -> UInt64 {
        let count = bytes.count - offset
        if count >= 8 {
            return UInt64(bigEndian: UnsafeRawPointer(bytes.baseAddress! + offset).loadUnaligned(as: UInt64.self))
        }
        var word: UInt64 = 0
        var index = 0
        while index < count {
            word |= UInt64(bytes[offset + index]) << UInt64(56 - 8 * index)
            index += 1
        }
        return word
    }

    @inline(__always)
    private static func word(of text: String, at offset: Int) -> UInt64 {
        if let word = text.utf8.withContiguousStorageIfAvailable({ word($0, at: offset) }) { return word }
        // Only strings bridged from Objective-C are not contiguous.
        return Array(text.utf8).withUnsafeBufferPointer { word($0, at: offset) }
    }
}
