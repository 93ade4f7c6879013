import GRDBSQLite

/// A column's value in memory. Its bytes are valid while the memory of the row is.
struct PackedColumn {
    /// SQLite's storage class.
    let type: Int32
    /// Whether the bytes are those of a ``PackedUUID``.
    let isUUID: Bool
    /// The integer, or the bits of the real number.
    let bits: UInt64
    let bytes: UnsafeRawBufferPointer

    private init(type: Int32, bits: UInt64 = 0, bytes: UnsafeRawBufferPointer? = nil, isUUID: Bool = false) {
        self.type = type
        self.isUUID = isUUID
        self.bits = bits
        self.bytes = bytes ?? UnsafeRawBufferPointer(start: nil, count: 0)
    }

    static var null: PackedColumn { PackedColumn(type: SQLITE_NULL) }

    static func integer(_ value: Int64) -> PackedColumn {
        PackedColumn(type: SQLITE_INTEGER, bits: UInt64(bitPattern: value))
    }

    static func real(bits: UInt64) -> PackedColumn { PackedColumn(type: SQLITE_FLOAT, bits: bits) }

    static func text(_ bytes: UnsafeRawBufferPointer, isUUID: Bool = false) -> PackedColumn {
        PackedColumn(type: SQLITE_TEXT, bytes: bytes, isUUID: isUUID)
    }

    static func blob(_ bytes: UnsafeRawBufferPointer) -> PackedColumn {
        PackedColumn(type: SQLITE_BLOB, bytes: bytes)
    }

    /// The integer, or 0 for another value.
    var integer: Int64 { type == SQLITE_INTEGER ? Int64(bitPattern: bits) : 0 }

    /// The number, or 0 for another value.
    var real: Double {
        switch type {
        case SQLITE_FLOAT: Double(bitPattern: bits)
        case SQLITE_INTEGER: Double(Int64(bitPattern: bits))
        default: 0
        }
    }

    /// The text, or `nil` for another value.
    var text: String? {
        guard type == SQLITE_TEXT else { return nil }
        return isUUID ? PackedUUID.text(bytes.baseAddress.unsafelyUnwrapped) : String(decoding: bytes, as: UTF8.self)
    }

    /// Returns whether two values are the same, bit by bit.
    func isSame(as other: PackedColumn) -> Bool {
        type == other.type && bits == other.bits && isUUID == other.isUUID && RowView.order(bytes, other.bytes) == 0
    }
}

/// The form of a column in a row's payload: a tag, then the value.
///
/// | tag | value |
/// |---|---|
/// | 0 | NULL |
/// | 1 + n, n = 0...8 | integer of n bytes, the lowest first |
/// | 10 | real number of 8 bytes |
/// | 11 | text of a UUID: 16 bytes (``PackedUUID``) |
/// | 12 | text with which the sort key ends: its length |
/// | 13 | text after the first byte of the sort key: its length |
/// | 14, 15 | text, blob: its length, then its bytes |
/// | 16 + n, n < 120 | text of n bytes |
/// | 136 + n, n < 120 | blob of n bytes |
///
/// Lengths are varints (see ``RowView``). A list sorted by a text has the text in its keys: it is not stored twice.
private enum PackedTag {
    static let null: UInt8 = 0
    static let integer: UInt8 = 1
    static let real: UInt8 = 10
    static let uuid: UInt8 = 11
    static let keyEnd: UInt8 = 12
    static let keyStart: UInt8 = 13
    static let longText: UInt8 = 14
    static let longBlob: UInt8 = 15
    static let text: UInt8 = 16
    static let blob: UInt8 = 136
    static let shortCount = 120
    /// The length from which a text refers to the key.
    static let leastShared = 4
}

extension RowBuffer {
    func appendNull() { append(PackedTag.null) }

    func append(integer value: Int64) {
        if value == 0 { return append(PackedTag.integer) }
        let bits = 65 - (value ^ value >> 63).leadingZeroBitCount
        let count = (bits + 7) / 8
        append(PackedTag.integer + UInt8(count))
        append(UInt64(bitPattern: value), count: count)
    }

    func append(real value: Double) {
        append(PackedTag.real)
        append(value.bitPattern, count: 8)
    }

    /// Appends a text.
    ///
    /// - Parameter mayPack: Whether the column is read as a text only, and never as bytes.
    func append(text: UnsafeRawBufferPointer, key: UnsafeRawBufferPointer, mayPack: Bool) {
        if text.count >= PackedTag.leastShared, text.count < key.count {
            let end = UnsafeRawBufferPointer(rebasing: key[(key.count - text.count)...])
            if RowView.order(end, text) == 0 { return append(PackedTag.keyEnd, reference: text.count) }
            let start = UnsafeRawBufferPointer(rebasing: key[1...text.count])
            if RowView.order(start, text) == 0 { return append(PackedTag.keyStart, reference: text.count) }
        }
        if mayPack, append(tag: PackedTag.uuid, packing: text) { return }
        append(text, short: PackedTag.text, long: PackedTag.longText)
    }

    func append(blob: UnsafeRawBufferPointer) {
        append(blob, short: PackedTag.blob, long: PackedTag.longBlob)
    }

    private func append(_ tag: UInt8, reference count: Int) {
        append(tag)
        append(varint: UInt64(count))
    }

    private func append(_ bytes: UnsafeRawBufferPointer, short: UInt8, long: UInt8) {
        if bytes.count < PackedTag.shortCount {
            append(short + UInt8(bytes.count))
        } else {
            append(long, reference: bytes.count)
        }
        append(bytes)
    }
}

extension RowView {
    /// Calls a function with the first columns of the row: rowid, local ID, and those of the payload.
    func withColumns<T>(_ count: Int, _ body: (UnsafePointer<PackedColumn>) throws -> T) rethrows -> T {
        try withUnsafeTemporaryAllocation(byteCount: max(1, keyCount), alignment: 1) { memory in
            copyKey(to: memory)
            let key = UnsafeRawBufferPointer(rebasing: memory[..<keyCount])
            return try withUnsafeTemporaryAllocation(of: PackedColumn.self, capacity: count) { columns in
                let first = columns.baseAddress.unsafelyUnwrapped
                first.initialize(to: .integer(rowID))
                (first + 1).initialize(to: .text(id, isUUID: isPacked))
                var next = payload.baseAddress.unsafelyUnwrapped
                for index in 2..<count { (first + index).initialize(to: Self.column(&next, key: key)) }
                return try body(first)
            }
        }
    }

    @inline(__always)
    private static func column(_ next: inout UnsafeRawPointer, key: UnsafeRawBufferPointer) -> PackedColumn {
        func bytes(_ count: Int) -> UnsafeRawBufferPointer {
            defer { next += count }
            return UnsafeRawBufferPointer(start: next, count: count)
        }
        let tag = next.load(as: UInt8.self)
        next += 1
        switch tag {
        case PackedTag.null: return .null
        case PackedTag.integer..<PackedTag.real: return .integer(integer(bytes(Int(tag - PackedTag.integer))))
        case PackedTag.real: return .real(bits: UInt64(littleEndian: bytes(8).loadUnaligned(as: UInt64.self)))
        case PackedTag.uuid: return .text(bytes(PackedUUID.packedCount), isUUID: true)
        case PackedTag.keyEnd: return .text(UnsafeRawBufferPointer(rebasing: key.suffix(Int(varint(&next)))))
        case PackedTag.keyStart: return .text(UnsafeRawBufferPointer(rebasing: key[1...Int(varint(&next))]))
        case PackedTag.longText: return .text(bytes(Int(varint(&next))))
        case PackedTag.longBlob: return .blob(bytes(Int(varint(&next))))
        case PackedTag.text..<PackedTag.blob: return .text(bytes(Int(tag - PackedTag.text)))
        default: return .blob(bytes(Int(tag - PackedTag.blob)))
        }
    }

    @inline(__always)
    private static func integer(_ bytes: UnsafeRawBufferPointer) -> Int64 {
        if bytes.isEmpty { return 0 }
        var value: UInt64 = 0
        for index in bytes.indices { value |= UInt64(bytes[index]) << UInt64(8 * index) }
        let unused = Int64(64 - 8 * bytes.count)
        return (Int64(bitPattern: value) << unused) >> unused
    }

    /// Returns whether two rows with the same key have the same values in the columns of a mask.
    ///
    /// - Parameter count: The number of columns that are compared.
    func isSame(as other: RowView, observed: ColumnMask, count: Int) -> Bool {
        if hasPayload(of: other) { return true }
        return withColumns(count) { columns in
            other.withColumns(count) { others in
                (2..<count).allSatisfy {
                    observed & (1 << UInt64(min(63, $0))) == 0 || columns[$0].isSame(as: others[$0])
                }
            }
        }
    }
}
