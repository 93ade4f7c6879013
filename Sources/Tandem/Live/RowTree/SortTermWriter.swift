import Foundation

/// A writer that encodes the values of a sort key as bytes that compare as SQLite orders the values.
///
/// ```
/// nil first            01
/// number               40...BF, then a byte for each 7 bits that are left
/// text                 C0, bytes, 00
/// text of a folded one C0, bytes, 00 if less than its twin; C1 if equal; C2, bytes, 00 if greater
/// blob                 C4, bytes, 00
/// nil last             FE
/// ```
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
    /// Whether only the first letter of a text counts.
    private let isFirstLetter: Bool

    init(isDescending: Bool, nilsFirst: Bool, isLast: Bool, isFirstLetter: Bool = false) {
        mask = isDescending ? 0xFF : 0
        null = nilsFirst ? 0x01 : 0xFE
        self.isLast = isLast
        self.isFirstLetter = isFirstLetter
    }

    private static let firstNumber: UInt8 = 0x40
    private static let text: UInt8 = 0xC0
    private static let equalText: UInt8 = 0xC1
    private static let greaterText: UInt8 = 0xC2
    private static let blob: UInt8 = 0xC4

    @inline(__always)
    func append(_ view: ColumnView, to key: inout [UInt8]) {
        append(isFirstLetter ? view.firstLetter : view, isLast: isLast, to: &key)
    }

    /// Returns the text in a key that this writer appended, or `nil` for NULL.
    ///
    /// - Precondition: The writer is not the last of its order. The text has no U+0000, which is not restored.
    func text(_ key: ArraySlice<UInt8>) -> String? {
        guard key.count > 1 else { return nil }
        return String(decoding: key.dropFirst().dropLast().map { $0 ^ mask }, as: UTF8.self)
    }

    /// Appends a folded text: its sort key, then the text itself.
    @inline(__always)
    func append(_ view: ColumnView, twin: ColumnView, to key: inout [UInt8]) {
        append(twin, isLast: false, to: &key)
        guard case .text(let folded) = twin, case .text(let text) = view else {
            return append(view, isLast: isLast, to: &key)
        }
        let order = ColumnView.order(text, folded)
        if order == 0 { return key.append(Self.equalText ^ mask) }
        append(text, head: order < 0 ? Self.text : Self.greaterText, isLast: isLast, to: &key)
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
