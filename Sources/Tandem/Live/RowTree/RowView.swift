import Foundation

/// A view of a row in the memory of a ``RowNode``, or of a ``RowBuffer`` until its next change.
///
/// A row is a record of bytes:
///
/// ```
/// length of the key without the common prefix   varint
/// kind of the local ID                          varint: bit 0 if it is packed (see PackedUUID), bit 1 if the payload
///                                               is in an object of its own, then the length
/// rowid                                         varint, zigzag
/// key without the common prefix
/// local ID
/// payload, or a reference to a RowPayload
/// ```
///
/// A varint has seven bits in each byte, the lowest first. The eighth bit is set in all bytes except the last.
struct RowView {
    /// The record of the row.
    let record: UnsafeRawBufferPointer
    /// The bytes of the key that the rows of a node have in common.
    let prefix: UnsafeRawBufferPointer
    /// The rest of the key.
    let suffix: UnsafeRawBufferPointer
    /// The bytes of the local ID, which are packed if it is a UUID.
    let id: UnsafeRawBufferPointer
    let isPacked: Bool
    let rowID: Int64
    /// The maker's data about the row: see ``RowMaker``.
    let payload: UnsafeRawBufferPointer
    /// The object that contains the payload, if it is a long one.
    let box: Unmanaged<RowPayload>?

    private static let packedFlag: UInt64 = 1
    private static let boxedFlag: UInt64 = 2
    /// The flag in the first byte of the kind.
    static let boxedBit: UInt8 = 2

    /// Creates a view of a record.
    @inline(__always)
    init(_ record: UnsafeRawBufferPointer, prefix: UnsafeRawBufferPointer) {
        self.record = record
        var next = record.baseAddress.unsafelyUnwrapped
        let end = next + record.count
        let keyCount = Int(truncatingIfNeeded: Self.varint(&next))
        let kind = Self.varint(&next)
        let number = Self.varint(&next)
        rowID = Int64(bitPattern: number >> 1) ^ -Int64(bitPattern: number & 1)
        isPacked = kind & Self.packedFlag != 0
        self.prefix = prefix
        suffix = UnsafeRawBufferPointer(start: next, count: keyCount)
        next += keyCount
        id = UnsafeRawBufferPointer(start: next, count: Int(truncatingIfNeeded: kind >> 2))
        next += id.count
        if kind & Self.boxedFlag == 0 {
            box = nil
            payload = UnsafeRawBufferPointer(start: next, count: end - next)
        } else {
            let box = Unmanaged<RowPayload>.fromOpaque(next.loadUnaligned(as: UnsafeRawPointer.self))
            self.box = box
            payload = box._withUnsafeGuaranteedRef { $0.bytes }
        }
    }

    /// The number of bytes of the key.
    var keyCount: Int { prefix.count + suffix.count }

    /// The whole key.
    var key: [UInt8] {
        [UInt8](unsafeUninitializedCapacity: keyCount) { key, count in
            copyKey(to: UnsafeMutableRawBufferPointer(key))
            count = keyCount
        }
    }

    func copyKey(to key: UnsafeMutableRawBufferPointer) {
        key.copyMemory(from: prefix)
        UnsafeMutableRawBufferPointer(rebasing: key[prefix.count...]).copyMemory(from: suffix)
    }

    /// The local ID as text.
    var localID: LocalID {
        LocalID(
            isPacked ? PackedUUID.text(id.baseAddress.unsafelyUnwrapped) : String(decoding: id, as: UTF8.self))
    }

    // MARK: Comparing

    /// Compares this row with another one by key and local ID.
    ///
    /// Returns a negative number if this row comes first, and a positive number if the other does. Rows with the same
    /// key and local ID give zero.
    func order(_ other: RowView) -> Int {
        let order = orderOfKeys(other)
        return order != 0 ? order : orderOfIDs(other)
    }

    /// Returns whether two rows have the same local ID.
    func hasID(of other: RowView) -> Bool {
        isPacked == other.isPacked && id.count == other.id.count && Self.order(id, other.id) == 0
    }

    /// Returns whether two rows have the same key, rowid, local ID and payload.
    func isIdentical(to other: RowView) -> Bool {
        rowID == other.rowID && payload.count == other.payload.count && hasID(of: other)
            && orderOfKeys(other) == 0 && hasPayload(of: other)
    }

    /// Returns whether two rows have the same payload.
    func hasPayload(of other: RowView) -> Bool {
        if let box, let other = other.box, box.toOpaque() == other.toOpaque() { return true }
        return payload.count == other.payload.count && Self.order(payload, other.payload) == 0
    }

    func orderOfKeys(_ other: RowView) -> Int {
        if prefix.count == other.prefix.count {
            if prefix.baseAddress != other.prefix.baseAddress {
                let order = Self.order(prefix, other.prefix)
                if order != 0 { return order }
            }
            return Self.order(suffix, other.suffix)
        }
        return prefix.count < other.prefix.count
            ? Self.order(prefix, rest: suffix, toLonger: other.prefix, rest: other.suffix)
            : -Self.order(other.prefix, rest: other.suffix, toLonger: prefix, rest: suffix)
    }

    /// Compares two keys in two pieces each. The first piece of the first key is shorter than that of the second.
    private static func order(
        _ first: UnsafeRawBufferPointer, rest: UnsafeRawBufferPointer, toLonger other: UnsafeRawBufferPointer,
        rest otherRest: UnsafeRawBufferPointer
    ) -> Int {
        let start = order(first, UnsafeRawBufferPointer(rebasing: other[..<first.count]))
        if start != 0 { return start }
        let overlap = UnsafeRawBufferPointer(rebasing: other[first.count...])
        guard rest.count > overlap.count else {
            let order = order(rest, overlap)
            return order != 0 ? order : -otherRest.count
        }
        let middle = order(UnsafeRawBufferPointer(rebasing: rest[..<overlap.count]), overlap)
        return middle != 0 ? middle : order(UnsafeRawBufferPointer(rebasing: rest[overlap.count...]), otherRest)
    }

    private func orderOfIDs(_ other: RowView) -> Int {
        if isPacked == other.isPacked { return Self.order(id, other.id) }
        return withUnsafeTemporaryAllocation(byteCount: PackedUUID.textCount, alignment: 1) { text in
            let start = text.baseAddress.unsafelyUnwrapped
            PackedUUID.unpack((isPacked ? id : other.id).baseAddress.unsafelyUnwrapped, to: start)
            let unpacked = UnsafeRawBufferPointer(text)
            return isPacked ? Self.order(unpacked, other.id) : Self.order(id, unpacked)
        }
    }

    /// Compares bytes like `memcmp`. A prefix comes first.
    @inline(__always)
    static func order(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Int {
        if let start = left.baseAddress, let other = right.baseAddress {
            let order = memcmp(start, other, min(left.count, right.count))
            if order != 0 { return Int(order) }
        }
        return left.count - right.count
    }

    // MARK: Writing

    /// The number of bytes of the record of this row after a common prefix of a given length.
    func recordCount(withoutPrefix count: Int) -> Int {
        if prefix.count == count { return record.count }
        let rest = keyCount - count
        let head = Self.varintCount(UInt64(rest)) + Self.varintCount(kind) + Self.varintCount(number)
        return head + rest + id.count + (box == nil ? payload.count : MemoryLayout<UnsafeRawPointer>.size)
    }

    /// Writes the record of this row after a common prefix of a given length, and returns its end. The record is then
    /// another reference to the payload's object, which the caller retains.
    func write(to record: UnsafeMutableRawPointer, withoutPrefix count: Int) -> UnsafeMutableRawPointer {
        if prefix.count == count { return Self.write(self.record, to: record) }
        var next = Self.write(UInt64(keyCount - count), to: record)
        next = Self.write(kind, to: next)
        next = Self.write(number, to: next)
        let shared = max(0, prefix.count - count)
        next = Self.write(UnsafeRawBufferPointer(rebasing: prefix[(prefix.count - shared)...]), to: next)
        next = Self.write(UnsafeRawBufferPointer(rebasing: suffix[max(0, count - prefix.count)...]), to: next)
        next = Self.write(id, to: next)
        guard let box else { return Self.write(payload, to: next) }
        next.storeBytes(of: UnsafeRawPointer(box.toOpaque()), as: UnsafeRawPointer.self)
        return next + MemoryLayout<UnsafeRawPointer>.size
    }

    private var number: UInt64 { Self.zigzag(rowID) }
    private var kind: UInt64 { Self.kind(idCount: id.count, isPacked: isPacked, isBoxed: box != nil) }

    static func kind(idCount: Int, isPacked: Bool, isBoxed: Bool) -> UInt64 {
        UInt64(idCount) << 2 | (isBoxed ? boxedFlag : 0) | (isPacked ? packedFlag : 0)
    }

    static func zigzag(_ number: Int64) -> UInt64 {
        UInt64(bitPattern: number << 1) ^ UInt64(bitPattern: number >> 63)
    }

    @inline(__always)
    static func write(_ bytes: UnsafeRawBufferPointer, to target: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer {
        if let start = bytes.baseAddress { target.copyMemory(from: start, byteCount: bytes.count) }
        return target + bytes.count
    }

    // MARK: Varints

    @inline(__always)
    static func varint(_ next: inout UnsafeRawPointer) -> UInt64 {
        let first = next.load(as: UInt8.self)
        next += 1
        if first < 0x80 { return UInt64(first) }
        var value = UInt64(first & 0x7F)
        var shift: UInt64 = 7
        while true {
            let byte = next.load(as: UInt8.self)
            next += 1
            value |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 { return value }
            shift += 7
        }
    }

    @inline(__always)
    static func varintCount(_ value: UInt64) -> Int {
        value < 0x80 ? 1 : (70 - value.leadingZeroBitCount) / 7
    }

    @inline(__always)
    static func write(_ value: UInt64, to target: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer {
        var (next, value) = (target, value)
        while value >= 0x80 {
            next.storeBytes(of: UInt8(truncatingIfNeeded: value) | 0x80, as: UInt8.self)
            next += 1
            value >>= 7
        }
        next.storeBytes(of: UInt8(truncatingIfNeeded: value), as: UInt8.self)
        return next + 1
    }
}
