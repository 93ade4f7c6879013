import Foundation

/// The position of a row in the order: the bytes of its key, then those of its local ID, compared like `memcmp`,
/// prefixes first.
///
/// Two words contain the beginning of both, so that most comparisons don't access the rows, which are scattered in
/// memory.
///
/// A key does not keep its row alive. A leaf of a ``RowTree`` does, and so must a caller that searches for a key.
struct RowKey {
    let high: UInt64
    let low: UInt64
    let row: Unmanaged<LiveRow>

    /// Creates the words. They never order two rows differently than their bytes do. If they are equal, the bytes
    /// decide.
    ///
    /// With an empty key, they are 15 bytes of the local ID. Otherwise `high` is a one followed by 7 bytes of the key,
    /// so that the empty key comes first. `low` is then the next 8 bytes of the key. If there are none, `low` is the
    /// number of the 7 bytes that exist (prefixes first), and 7 bytes of the local ID, because the keys are then equal.
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

    /// Returns a negative number if this key comes first, a positive number if the other does, and zero if they are
    /// equal.
    @inline(__always)
    func order(_ other: RowKey) -> Int {
        if high != other.high { return high < other.high ? -1 : 1 }
        if low != other.low { return low < other.low ? -1 : 1 }
        if row.toOpaque() == other.row.toOpaque() { return 0 }
        return orderOfBytes(other)
    }

    /// The number of the key's bytes that are equal in all keys with the same words, or `nil` if that is unknown.
    var equalBytes: Int? { high >> 56 == 1 && low > 8 << 56 ? 15 : nil }

    /// Returns two words of the key from an offset on, and whether the key continues after them. The words never order
    /// two keys differently than their bytes do.
    func words(at offset: Int) -> (first: UInt64, next: UInt64, goesOn: Bool) {
        row._withUnsafeGuaranteedRef { row in
            row.key.withUnsafeBufferPointer {
                (Self.word($0, at: offset), Self.word($0, at: offset + 8), $0.count > offset + 16)
            }
        }
    }

    @inline(never)
    private func orderOfBytes(_ other: RowKey) -> Int {
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

    /// Returns the 8 bytes from an offset on as a number that compares as they do. Missing bytes are zeros.
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
