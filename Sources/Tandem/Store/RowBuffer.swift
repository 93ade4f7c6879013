/// A row's values in their stored form, before they are bound to a statement.
///
/// Generated code appends a model's properties in the order of its definition. All writing goes through it: an
/// insert binds the values, an update compares them with the stored row, a bulk import appends named ones only.
///
/// It is used over and over, so that a row costs no allocation once its capacity suffices.
public final class RowBuffer {
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
    /// The bytes of texts and blobs, one after the other.
    var bytes: [UInt8] = []
    /// Why a value could not be put in its stored form.
    var failure: (any Error)?
    /// What keeps the files of attachments among the values that were never committed.
    var drafts: [AttachmentDraft] = []

    package init() {
        slots.reserveCapacity(32)
        bytes.reserveCapacity(1024)
    }

    func removeAll() {
        slots.removeAll(keepingCapacity: true)
        // One large value is not held for as long as the store is open.
        bytes.removeAll(keepingCapacity: bytes.capacity <= 1 << 20)
        failure = nil
        if !drafts.isEmpty { drafts.removeAll() }
    }

    public func appendNull() {
        slots.append(Slot(tag: .null, bits: 0, count: 0))
    }

    public func append(integer: Int64) {
        slots.append(Slot(tag: .integer, bits: UInt64(bitPattern: integer), count: 0))
    }

    public func append(real: Double) {
        slots.append(Slot(tag: .real, bits: real.bitPattern, count: 0))
    }

    public func append(text: String) {
        let start = bytes.count
        var text = text
        text.withUTF8 { bytes.append(contentsOf: $0) }
        slots.append(Slot(tag: .text, bits: UInt64(start), count: bytes.count - start))
    }

    public func append(blob: some Sequence<UInt8>) {
        let start = bytes.count
        bytes.append(contentsOf: blob)
        slots.append(Slot(tag: .blob, bits: UInt64(start), count: bytes.count - start))
    }

    /// Appends a text, or a blob, whose bytes a function appends.
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

    /// The value at an index, as a value of its own.
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
}

/// Appending a property. One overload for each family of types, chosen by the compiler from the property's type:
/// enums and `Codable` values need not conform to anything of Tandem's.
extension RowBuffer {
    @inlinable public func append<T: PropertyValue>(_ value: T, _ type: T.Type) {
        value.__append(to: self)
    }

    @inlinable public func append<T: PropertyValue>(_ value: T?, _ type: T?.Type) {
        if let value { value.__append(to: self) } else { appendNull() }
    }

    @inlinable public func append<T: RawRepresentable & Sendable>(_ value: T, _ type: T.Type)
    where T.RawValue: PropertyValue {
        value.rawValue.__append(to: self)
    }

    @inlinable public func append<T: RawRepresentable & Sendable>(_ value: T?, _ type: T?.Type)
    where T.RawValue: PropertyValue {
        if let value { value.rawValue.__append(to: self) } else { appendNull() }
    }

    @_disfavoredOverload
    public func append<T: Codable & Sendable>(_ value: T, _ type: T.Type) {
        append(codable: value)
    }

    @_disfavoredOverload
    public func append<T: Codable & Sendable>(_ value: T?, _ type: T?.Type) {
        if let value { append(codable: value) } else { appendNull() }
    }

    /// Appends any value as JSON. If it can't be encoded, ``failure`` says so, and the row is not written.
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
