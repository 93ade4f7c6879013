/// A row's values in their stored form, before they are bound to a statement.
///
/// Generated code appends a model's properties in the order of its definition. All writing uses it. An insert binds the
/// values. An update compares them with the stored row. A bulk import appends only named values.
///
/// It is reused, so that a row needs no allocation once the capacity is sufficient.
public final class RowEncoder {
    enum Tag: UInt8 {
        case null
        case integer
        case real
        case text
        case blob
    }

    struct Slot {
        var tag: Tag
        /// The integer, the bits of the real number, or the offset of the first byte.
        var bits: UInt64
        /// The number of bytes.
        var count: Int
    }

    var slots: [Slot] = []
    /// The bytes of texts and blobs, in sequence.
    var bytes: [UInt8] = []
    /// The error for a value that could not be encoded.
    var failure: (any Error)?
    /// Objects that retain uncommitted files of attachments among the values: see ``Attachment/retainer``.
    var retainers: [any AnyObject & Sendable] = []

    /// - Parameters:
    ///   - slots: The number of values for which to reserve memory.
    ///   - byteCount: The number of bytes to reserve for texts and blobs.
    package init(slots: Int = 32, bytes byteCount: Int = 1024) {
        self.slots.reserveCapacity(slots)
        bytes.reserveCapacity(byteCount)
    }

    func removeAll() {
        slots.removeAll(keepingCapacity: true)
        // A single large value must not occupy memory for as long as the store is open.
        bytes.removeAll(keepingCapacity: bytes.capacity <= 1 << 20)
        failure = nil
        if !retainers.isEmpty { retainers.removeAll() }
    }

    /// Appends NULL.
    public func appendNull() {
        slots.append(Slot(tag: .null, bits: 0, count: 0))
    }

    /// Appends an integer.
    public func append(integer: Int64) {
        slots.append(Slot(tag: .integer, bits: UInt64(bitPattern: integer), count: 0))
    }

    /// Appends a floating-point number.
    public func append(real: Double) {
        slots.append(Slot(tag: .real, bits: real.bitPattern, count: 0))
    }

    /// Appends a text.
    public func append(text: String) {
        let start = bytes.count
        var text = text
        text.withUTF8 { bytes.append(contentsOf: $0) }
        slots.append(Slot(tag: .text, bits: UInt64(start), count: bytes.count - start))
    }

    /// Appends a blob.
    public func append(blob: some Sequence<UInt8>) {
        let start = bytes.count
        bytes.append(contentsOf: blob)
        slots.append(Slot(tag: .blob, bits: UInt64(start), count: bytes.count - start))
    }

    /// Appends a text or a blob whose bytes a function writes.
    func append(_ tag: Tag, bytes write: (inout [UInt8]) -> Void) {
        let start = bytes.count
        write(&bytes)
        slots.append(Slot(tag: tag, bits: UInt64(start), count: bytes.count - start))
    }

    func append(_ value: StorageValue) {
        switch value {
        case .null: appendNull()
        case .integer(let value): append(integer: value)
        case .real(let value): append(real: value)
        case .text(let value): append(text: value)
        case .blob(let value): append(blob: value)
        }
    }

    /// The number of values.
    package var slotCount: Int { slots.count }

    /// Returns a copy of the value at an index.
    package func value(at index: Int) -> StorageValue {
        let slot = slots[index]
        switch slot.tag {
        case .null: return .null
        case .integer: return .integer(Int64(bitPattern: slot.bits))
        case .real: return .real(Double(bitPattern: slot.bits))
        case .text: return .text(String(decoding: bytes[Int(slot.bits)..<Int(slot.bits) + slot.count], as: UTF8.self))
        case .blob: return .blob(Array(bytes[Int(slot.bits)..<Int(slot.bits) + slot.count]))
        }
    }

    /// Replaces a value with the value that a function appends.
    func replace(_ index: Int, append: (RowEncoder) -> Void) {
        let count = slots.count
        append(self)
        slots[index] = slots[count]
        slots.removeLast(slots.count - count)
    }

    /// Calls a block with the bytes of a text or blob, which are valid inside the block.
    func withBytes<T>(of index: Int, _ body: (UnsafeBufferPointer<UInt8>) throws -> T) rethrows -> T {
        let slot = slots[index]
        return try bytes.withUnsafeBufferPointer {
            try body(UnsafeBufferPointer(rebasing: $0[Int(slot.bits)..<Int(slot.bits) + slot.count]))
        }
    }

    func isNull(_ index: Int) -> Bool { slots[index].tag == .null }

    /// Returns the text at an index, or `nil` if it is NULL.
    func text(_ index: Int) -> String? {
        isNull(index) ? nil : withBytes(of: index) { String(decoding: $0, as: UTF8.self) }
    }
}

/// Functions that append a property. There is an overload for each family of types, and the compiler selects it from
/// the property's type. Enums and `Codable` values need not conform to a protocol of Tandem.
extension RowEncoder {
    /// Appends a stored type.
    @inlinable public func append<T: PropertyValue>(_ value: T, as type: T.Type) {
        value.__append(to: self)
    }

    /// Appends an optional stored type.
    @inlinable public func append<T: PropertyValue>(_ value: T?, as type: T?.Type) {
        if let value { value.__append(to: self) } else { appendNull() }
    }

    /// Appends a type with a stored raw value.
    @inlinable public func append<T: RawRepresentable & Sendable>(_ value: T, as type: T.Type)
    where T.RawValue: PropertyValue {
        value.rawValue.__append(to: self)
    }

    /// Appends an optional type with a stored raw value.
    @inlinable public func append<T: RawRepresentable & Sendable>(_ value: T?, as type: T?.Type)
    where T.RawValue: PropertyValue {
        if let value { value.rawValue.__append(to: self) } else { appendNull() }
    }

    /// Appends a `Codable` value as JSON.
    @_disfavoredOverload
    public func append<T: Codable & Sendable>(_ value: T, as type: T.Type) {
        append(codable: value)
    }

    /// Appends an optional `Codable` value as JSON.
    @_disfavoredOverload
    public func append<T: Codable & Sendable>(_ value: T?, as type: T?.Type) {
        if let value { append(codable: value) } else { appendNull() }
    }

    /// Appends any value as JSON. If it can't be encoded, ``failure`` is set, and the row is not written.
    func append(codable value: some Encodable) {
        do {
            let data = try CodableStorage.encode(value)
            append(.text) { $0.append(contentsOf: data) }
        } catch {
            failure = error
            appendNull()
        }
    }
}
