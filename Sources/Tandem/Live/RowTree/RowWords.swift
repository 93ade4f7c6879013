/// The beginning of a row's position as two words, so that most comparisons need no other memory.
///
/// The position of a row is determined by the bytes of its key, then by those of its local ID. The bytes are compared
/// like `memcmp`, prefixes first. The words never order two rows differently than their bytes do. If they are equal,
/// the bytes decide.
struct RowWords: Comparable, Sendable {
    let high: UInt64
    let low: UInt64

    /// Creates the words of a row.
    ///
    /// With an empty key, they are 15 bytes of the local ID. Otherwise `high` is a one followed by 7 bytes of the key,
    /// so that the empty key comes first. `low` is then the next 8 bytes of the key. If there are none, `low` begins
    /// with the number of the 7 bytes that exist (prefixes first). Then 7 bytes of the local ID follow, because the
    /// keys are equal if that number and `high` are.
    init(_ row: RowView) {
        let count = row.keyCount
        if count == 0 {
            high = row.wordOfID(at: 0) >> 8
            low = row.wordOfID(at: 7)
        } else {
            high = row.wordOfKey(at: 0) >> 8 | 1 << 56
            low = count > 7 ? max(row.wordOfKey(at: 7), 8 << 56) : UInt64(count) << 56 | row.wordOfID(at: 0) >> 8
        }
    }

    @inline(__always)
    static func < (left: RowWords, right: RowWords) -> Bool {
        left.high != right.high ? left.high < right.high : left.low < right.low
    }

    /// The number of the key's bytes that are equal in all rows with the same words; `nil` if it is unknown.
    var equalBytes: Int? { high >> 56 == 1 && low > 8 << 56 ? 15 : nil }
}

/// A row to search for, with its words.
struct RowProbe {
    let view: RowView
    let words: RowWords

    init(_ view: RowView) {
        self.view = view
        words = RowWords(view)
    }

    /// Returns the order of this row and another one (see ``RowView/order(_:)``).
    func order(_ other: RowProbe) -> Int {
        words != other.words ? (words < other.words ? -1 : 1) : view.order(other.view)
    }
}

extension RowView {
    /// Returns two words of the key from an offset on, and whether the key continues after them. The words never order
    /// two keys differently than their bytes do.
    func words(at offset: Int) -> (first: UInt64, next: UInt64, goesOn: Bool) {
        (wordOfKey(at: offset), wordOfKey(at: offset + 8), keyCount > offset + 16)
    }

    /// Returns the 8 bytes of the key from an offset on as a number that compares as they do. Missing bytes are zeros.
    @inline(__always)
    fileprivate func wordOfKey(at offset: Int) -> UInt64 {
        if prefix.isEmpty { return Self.word(suffix, at: offset) }
        if prefix.count >= offset + 8 { return Self.word(prefix, at: offset) }
        if prefix.count <= offset { return Self.word(suffix, at: offset - prefix.count) }
        let first = prefix.count - offset
        return Self.word(prefix, at: offset) | Self.word(suffix, at: 0) >> UInt64(8 * first)
    }

    /// Returns the 8 bytes of the local ID's text from an offset on, in the same form.
    fileprivate func wordOfID(at offset: Int) -> UInt64 {
        guard isPacked else { return Self.word(id, at: offset) }
        return withUnsafeTemporaryAllocation(byteCount: PackedUUID.textCount, alignment: 8) { text in
            PackedUUID.unpack(id.baseAddress.unsafelyUnwrapped, to: text.baseAddress.unsafelyUnwrapped)
            return Self.word(UnsafeRawBufferPointer(text), at: offset)
        }
    }

    @inline(__always)
    private static func word(_ bytes: UnsafeRawBufferPointer, at offset: Int) -> UInt64 {
        let count = bytes.count - offset
        if count >= 8 { return UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)) }
        var word: UInt64 = 0
        var index = 0
        while index < count {
            word |= UInt64(bytes[offset + index]) << UInt64(56 - 8 * index)
            index += 1
        }
        return word
    }
}
