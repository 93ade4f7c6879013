import Foundation

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

    static var null: PackedColumn { PackedColumn(type: StorageClass.null) }

    static func integer(_ value: Int64) -> PackedColumn {
        PackedColumn(type: StorageClass.integer, bits: UInt64(bitPattern: value))
    }

    static func real(bits: UInt64) -> PackedColumn { PackedColumn(type: StorageClass.real, bits: bits) }

    static func text(_ bytes: UnsafeRawBufferPointer, isUUID: Bool = false) -> PackedColumn {
        PackedColumn(type: StorageClass.text, bytes: bytes, isUUID: isUUID)
    }

    static func blob(_ bytes: UnsafeRawBufferPointer) -> PackedColumn {
        PackedColumn(type: StorageClass.blob, bytes: bytes)
    }

    /// The integer, or 0 for another value.
    var integer: Int64 { type == StorageClass.integer ? Int64(bitPattern: bits) : 0 }

    /// The number, or 0 for another value.
    var real: Double {
        switch type {
        case StorageClass.real: Double(bitPattern: bits)
        case StorageClass.integer: Double(Int64(bitPattern: bits))
        default: 0
        }
    }

    /// The text, or `nil` for another value.
    var text: String? {
        guard type == StorageClass.text else { return nil }
        return isUUID ? PackedUUID.text(bytes.baseAddress.unsafelyUnwrapped) : String(decoding: bytes, as: UTF8.self)
    }

    /// Returns whether two values are the same, bit by bit.
    func isSame(as other: PackedColumn) -> Bool {
        type == other.type && bits == other.bits && isUUID == other.isUUID && bytes.count == other.bytes.count
            && (bytes.isEmpty || memcmp(bytes.baseAddress!, other.bytes.baseAddress!, bytes.count) == 0)
    }
}
