/// An encoding of NaNs as the bytes of their bits.
///
/// SQLite stores a NaN as NULL, and so would lose it. The store keeps a NaN as a blob of these bytes instead. The
/// payload and the sign survive, and the length distinguishes `Float` from `Double`.
///
/// ```swift
/// var bytes: [UInt8] = []
/// NaNStorage.append(Double.nan, to: &bytes)  // 7f f8 00 00 00 00 00 00
/// ```
///
/// A `Float` is never widened: the conversion to `Double` turns a signaling NaN into a quiet one.
enum NaNStorage {
    /// Appends the 8 bytes of `value`'s bit pattern, the most significant first.
    ///
    /// - Precondition: `value` is not a number.
    static func append(_ value: Double, to out: inout [UInt8]) {
        precondition(value.isNaN, "NaNStorage is for values that are not numbers")
        withUnsafeBytes(of: value.bitPattern.bigEndian) { out.append(contentsOf: $0) }
    }

    /// Appends the 4 bytes of `value`'s bit pattern, the most significant first.
    ///
    /// - Precondition: `value` is not a number.
    static func append(_ value: Float, to out: inout [UInt8]) {
        precondition(value.isNaN, "NaNStorage is for values that are not numbers")
        withUnsafeBytes(of: value.bitPattern.bigEndian) { out.append(contentsOf: $0) }
    }

    /// Returns the NaN that 8 bytes encode.
    ///
    /// - Throws: ``InvalidEncoding`` unless there are 8 bytes, and they are the bits of a NaN. A number is rejected
    ///   too: it belongs in a REAL, where comparisons include it.
    static func decodeDouble(_ bytes: UnsafeRawBufferPointer) throws -> Double {
        let value = Double(bitPattern: try bits(bytes, type: "Double"))
        guard value.isNaN else {
            throw InvalidEncoding("Double", code: .outOfRange, problem: "the bits are those of a number")
        }
        return value
    }

    /// Returns the NaN that 4 bytes encode.
    ///
    /// - Throws: ``InvalidEncoding`` unless there are 4 bytes, and they are the bits of a NaN.
    static func decodeFloat(_ bytes: UnsafeRawBufferPointer) throws -> Float {
        let value = Float(bitPattern: try bits(bytes, type: "Float"))
        guard value.isNaN else {
            throw InvalidEncoding("Float", code: .outOfRange, problem: "the bits are those of a number")
        }
        return value
    }

    private static func bits<Bits: FixedWidthInteger>(_ bytes: UnsafeRawBufferPointer, type: String) throws -> Bits {
        let size = MemoryLayout<Bits>.size
        guard bytes.count >= size else {
            throw InvalidEncoding(type, code: .truncated, problem: "there are \(bytes.count) bytes in place of \(size)")
        }
        guard bytes.count == size else {
            throw InvalidEncoding(
                type, code: .trailingBytes, problem: "there are \(bytes.count) bytes in place of \(size)", at: size)
        }
        return Bits(bigEndian: bytes.loadUnaligned(as: Bits.self))
    }
}
