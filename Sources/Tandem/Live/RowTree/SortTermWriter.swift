import Foundation

/// A writer that encodes the values of a sort key as bytes that compare as SQLite orders the values.
///
/// ```
/// nil first  01
/// number     40...BF, then a byte for each 7 bits that are left
/// text       C0, bytes, 00
/// blob       C4, bytes, 00
/// nil last   FE
/// ```
///
/// A folded text is its sort key, which is a blob. In a section's key, the text itself follows. A first letter is the
/// sort key of the letter, then the letter.
///
/// Texts and blobs keep their bytes, except that 00 becomes 00 FF. No value begins with 00 or FF, so the byte after a
/// 00 distinguishes an escape from the end. The last text of the whole key needs neither escapes nor an end. In a
/// descending key, all bytes except those of nil are inverted.
///
/// A number is encoded as the bits of its `Double`, in a form that compares as numbers do. An integer that is not a
/// `Double` is encoded as the next lower one and the distance to it. In each byte except the first, the lowest bit
/// states whether another byte follows. Trailing zeros are omitted, so most numbers take two to four bytes.
struct SortTermWriter: Sendable {
    /// FF if descending, else 00.
    private let mask: UInt8
    private let null: UInt8
    /// Whether no other key's bytes follow.
    private let isLast: Bool
    /// The collation of the first letter, if only that counts of a text.
    private let letters: Collation?

    init(isDescending: Bool, nilsFirst: Bool, isLast: Bool, letters: Collation? = nil) {
        mask = isDescending ? 0xFF : 0
        null = nilsFirst ? 0x01 : 0xFE
        self.isLast = isLast
        self.letters = letters
    }

    private static let firstNumber: UInt8 = 0x40
    private static let text: UInt8 = 0xC0
    private static let blob: UInt8 = 0xC4

    @inline(__always)
    func append(_ view: ColumnView, to key: inout [UInt8]) {
        if let letters, case .text(let bytes) = view {
            appendLetter(letters.firstLetter(of: String(decoding: bytes, as: UTF8.self)), by: letters, to: &key)
        } else {
            append(view, isLast: isLast, to: &key)
        }
    }

    private func appendLetter(_ letter: String, by collation: Collation, to key: inout [UInt8]) {
        collation.key(for: letter).withUnsafeBufferPointer { append($0, head: Self.blob, isLast: false, to: &key) }
        var letter = letter
        letter.withUTF8 { append($0, head: Self.text, isLast: isLast, to: &key) }
    }

    /// Returns the letter in a key that this writer appended, or `nil` for NULL.
    ///
    /// - Precondition: The writer is not the last of its order, and writes first letters.
    func letter(_ key: ArraySlice<UInt8>) -> String? {
        guard key.count > 1 else { return nil }
        // The sort key ends at a 00 without FF after it. The letter follows its head.
        var index = key.startIndex + 1
        _ = Self.skipValue(key, mask: mask, index: &index)
        index += 1
        return String(decoding: Self.skipValue(key, mask: mask, index: &index), as: UTF8.self)
    }

    /// Returns the bytes of a text or blob without its escapes, and moves the index behind the value's end.
    private static func skipValue(_ key: ArraySlice<UInt8>, mask: UInt8, index: inout Int) -> [UInt8] {
        var bytes: [UInt8] = []
        while index < key.endIndex {
            let byte = key[index] ^ mask
            index += 1
            if byte == 0 {
                guard index < key.endIndex, key[index] ^ mask == 0xFF else { break }
                index += 1
            }
            bytes.append(byte)
        }
        return bytes
    }

    /// Appends a folded text: its sort key, then the text itself.
    @inline(__always)
    func append(_ view: ColumnView, twin: ColumnView, to key: inout [UInt8]) {
        append(twin, isLast: false, to: &key)
        append(view, isLast: isLast, to: &key)
    }

    /// Appends whether a predicate holds. Rows for which it holds come first.
    func append(holds: Bool, to key: inout [UInt8]) {
        key.append(holds ? 0x01 : 0xFE)
    }

    @inline(__always)
    private func append(_ view: ColumnView, isLast: Bool, to key: inout [UInt8]) {
        switch view {
        case .null: key.append(null)
        case .integer(let value): append(value, to: &key)
        case .real(let value): append(Self.ordered(value), distance: 0, to: &key)
        case .text(let bytes): append(bytes, head: Self.text, isLast: isLast, to: &key)
        case .blob(let bytes): append(bytes, head: Self.blob, isLast: isLast, to: &key)
        }
    }

    // MARK: Numbers

    private func append(_ value: Int64, to key: inout [UInt8]) {
        var floor = Double(value)
        if floor >= 0x1p63 || Int64(floor) > value { floor = floor.nextDown }
        append(Self.ordered(floor), distance: UInt64(value - Int64(floor)), to: &key)
    }

    /// Returns bits that compare as the numbers do. Both zeros have the same bits.
    private static func ordered(_ value: Double) -> UInt64 {
        let bits = (value == 0 ? 0 : value).bitPattern
        return bits >> 63 == 0 ? bits | 1 << 63 : ~bits
    }

    /// - Parameter distance: Less than 1024, the distance between doubles at the ends of `Int64`.
    private func append(_ bits: UInt64, distance: UInt64, to key: inout [UInt8]) {
        key.append((Self.firstNumber + UInt8(truncatingIfNeeded: bits >> 57)) ^ mask)
        // Write the other 57 bits and the 10 bits of the distance, seven at a time. The first of them fit 64 bits.
        var rest = bits << 7 | distance >> 3
        var byte = UInt8(truncatingIfNeeded: rest >> 57) << 1
        rest = rest << 7 | (distance & 7) << 4
        while rest != 0 {
            key.append((byte | 1) ^ mask)
            byte = UInt8(truncatingIfNeeded: rest >> 57) << 1
            rest <<= 7
        }
        key.append(byte ^ mask)
    }

    // MARK: Texts and blobs

    private func append(_ bytes: UnsafeBufferPointer<UInt8>, head: UInt8, isLast: Bool, to key: inout [UInt8]) {
        key.append(head ^ mask)
        if mask == 0 {
            if isLast { return key.append(contentsOf: bytes) }
            appendEscaped(bytes, to: &key)
            key.append(0)
        } else {
            appendInverted(bytes, to: &key)
            key.append(0xFF)
            // A longer text comes before its prefix. The end of this text must be greater than any continuation of the
            // longer one, including an escape.
            if isLast { key.append(0xFF) }
        }
    }

    private func appendEscaped(_ bytes: UnsafeBufferPointer<UInt8>, to key: inout [UInt8]) {
        guard let start = bytes.baseAddress else { return }
        var rest = bytes
        while let zero = memchr(rest.baseAddress ?? start, 0, rest.count) {
            let count = UnsafePointer(zero.assumingMemoryBound(to: UInt8.self)) - (rest.baseAddress ?? start) + 1
            key.append(contentsOf: UnsafeBufferPointer(rebasing: rest[..<count]))
            key.append(0xFF)
            rest = UnsafeBufferPointer(rebasing: rest[count...])
        }
        key.append(contentsOf: rest)
    }

    private func appendInverted(_ bytes: UnsafeBufferPointer<UInt8>, to key: inout [UInt8]) {
        key.reserveCapacity(key.count + bytes.count + 2)
        for byte in bytes {
            key.append(~byte)
            if byte == 0 { key.append(0) }
        }
    }
}
