import BigInt

/// An encoding of integers of any size as bytes whose order is the integers' order.
///
/// SQLite compares blobs with `memcmp`, and puts a prefix before a longer blob. With this encoding, an index on a
/// column of big integers is sorted by value. Comparisons in SQL have their usual meaning:
///
/// ```swift
/// var bytes: [UInt8] = []
/// OrderedBigInt.append(BigInt(-256), to: &bytes)  // 7d fe ff
/// let value = try bytes.withUnsafeBytes(OrderedBigInt.decode)
/// ```
///
/// ## Format
///
/// | value | bytes |
/// |---|---|
/// | zero | `80` |
/// | positive, magnitude of n = 1...119 bytes | `80 + n`, magnitude |
/// | positive, magnitude of n >= 120 bytes | `f8`, n in 4 bytes, magnitude |
/// | negative | the encoding of its magnitude, every bit inverted |
///
/// The magnitude and its length are big-endian, and the magnitude has no leading zero byte.
///
/// ## Why the order is right
///
/// Among positive values, a longer minimal magnitude is a greater number. The header sorts by length (`81`...`f7`, then
/// `f8` followed by the length), and magnitudes of equal length sort as bytes. Zero's `80` is below all of them.
///
/// The header determines the total length, so no encoding is a prefix of another one. Two different encodings therefore
/// differ in some byte that both have, and that byte decides. Inverting it reverses the order, as negative values
/// require. If prefixes were possible, inversion would not reverse "the shorter is less". Headers of negative values
/// are `07`...`7e`, below zero's.
///
/// No encoding begins with the bytes `00`...`06` and `f9`...`ff`, which are reserved for future forms.
enum OrderedBigInt {
    /// The header of zero, and the base to which the length is added.
    private static let zero: UInt8 = 0x80

    /// The header for magnitudes whose length does not fit the header.
    private static let long: UInt8 = 0xF8

    private static let firstLongLength = 0x78

    /// Appends the encoding of `value`.
    ///
    /// - Complexity: O(*n*) in the number of bytes.
    /// - Precondition: The magnitude is shorter than 4 GiB. SQLite's limit for a row is lower.
    static func append(_ value: BigInt, to out: inout [UInt8]) {
        appendMagnitude(value.magnitude, inverted: value.sign == .minus, to: &out)
    }

    /// Appends the encoding of `value`, which equals its encoding as a `BigInt`.
    static func append(_ value: BigUInt, to out: inout [UInt8]) {
        appendMagnitude(value, inverted: false, to: &out)
    }

    /// Returns the integer that `bytes` encode.
    ///
    /// - Complexity: O(*n*) in the number of bytes.
    /// - Throws: ``InvalidEncoding`` unless `bytes` are exactly the result of `append(_:to:)` for some integer.
    static func decode(_ bytes: UnsafeRawBufferPointer) throws -> BigInt {
        let header = try Header(bytes, type: "BigInt")
        if header.length <= 8 {
            let magnitude = smallMagnitude(bytes, header: header)
            // `init(integerLiteral:)` is BigInt's only initializer from an integer that is compiled for a concrete
            // type. The generic ones are not specialized in other modules.
            if magnitude <= UInt64(Int64.max) {
                let value = Int64(magnitude)
                return header.mask == 0 ? BigInt(integerLiteral: value) : BigInt(integerLiteral: -value)
            }
            return BigInt(sign: header.mask == 0 ? .plus : .minus, magnitude: BigUInt(integerLiteral: magnitude))
        }
        return BigInt(sign: header.mask == 0 ? .plus : .minus, magnitude: BigUInt(words: words(bytes, header: header)))
    }

    /// Returns the integer that `bytes` encode, if it is not negative.
    ///
    /// - Throws: ``InvalidEncoding`` if the bytes are not an encoding, or encode a negative integer (with the code
    ///   ``InvalidEncoding/Code/outOfRange``).
    static func decodeUnsigned(_ bytes: UnsafeRawBufferPointer) throws -> BigUInt {
        let header = try Header(bytes, type: "BigUInt")
        guard header.mask == 0 else {
            throw InvalidEncoding("BigUInt", code: .outOfRange, problem: "the value is negative")
        }
        if header.length <= 8 {
            return BigUInt(integerLiteral: smallMagnitude(bytes, header: header))
        }
        return BigUInt(words: words(bytes, header: header))
    }
}

// MARK: - Encoding

extension OrderedBigInt {
    private static func appendMagnitude(_ magnitude: BigUInt, inverted: Bool, to out: inout [UInt8]) {
        let words = magnitude.words
        var count = words.count
        // BigUInt does not guarantee the absence of leading zero words. A wrong order on disk would be too costly.
        while count > 0, words[count - 1] == 0 { count -= 1 }

        guard count > 0 else {
            // BigInt allows a negative zero. Here zero has a single encoding.
            out.append(zero)
            return
        }
        let mask: UInt8 = inverted ? 0xFF : 0
        let top = words[count - 1]
        if count == 1 {
            appendSmall(UInt64(top), mask: mask, to: &out)
            return
        }

        let topLength = byteCount(top)
        let length = topLength + (count - 1) * MemoryLayout<UInt>.size
        if length < firstLongLength {
            out.append((zero + UInt8(length)) ^ mask)
        } else {
            guard let written = UInt32(exactly: length) else {
                preconditionFailure("An integer of \(length) bytes is too long to be stored")
            }
            out.append(long ^ mask)
            appendBytes(UInt64(written), count: 4, mask: mask, to: &out)
        }
        appendBytes(UInt64(top), count: topLength, mask: mask, to: &out)
        let wordMask: UInt = inverted ? .max : 0
        for index in stride(from: count - 2, through: 0, by: -1) {
            withUnsafeBytes(of: (words[index] ^ wordMask).bigEndian) { out.append(contentsOf: $0) }
        }
    }

    @inline(__always)
    private static func appendSmall(_ magnitude: UInt64, mask: UInt8, to out: inout [UInt8]) {
        let length = byteCount(magnitude)
        out.append((zero + UInt8(length)) ^ mask)
        appendBytes(magnitude, count: length, mask: mask, to: &out)
    }

    /// Appends the `count` low bytes of `value`, the most significant first.
    @inline(__always)
    private static func appendBytes(_ value: UInt64, count: Int, mask: UInt8, to out: inout [UInt8]) {
        var shift = count * 8
        while shift > 0 {
            shift -= 8
            out.append(UInt8(truncatingIfNeeded: value >> UInt64(shift)) ^ mask)
        }
    }

    @inline(__always)
    private static func byteCount<Word: FixedWidthInteger>(_ word: Word) -> Int {
        (Word.bitWidth - word.leadingZeroBitCount + 7) / 8
    }
}

// MARK: - Decoding

extension OrderedBigInt {
    /// The part of an encoding that locates the magnitude, checked against the number of available bytes.
    ///
    /// All errors are found here, before memory is allocated, so a false length costs nothing.
    private struct Header {
        /// The mask for XOR with the bytes: `ff` for negative values.
        let mask: UInt8
        /// The offset of the magnitude.
        let start: Int
        /// The length of the magnitude.
        let length: Int

        init(_ bytes: UnsafeRawBufferPointer, type: String) throws {
            guard let first = bytes.first else {
                throw InvalidEncoding(type, code: .truncated, problem: "there are no bytes", at: 0)
            }
            mask = first < zero ? 0xFF : 0
            let header = first ^ mask
            if header < long {
                start = 1
                length = Int(header - zero)
            } else if header == long {
                start = 5
                guard bytes.count >= start else {
                    throw InvalidEncoding(type, code: .truncated, problem: "the length is cut off", at: bytes.count)
                }
                var written: UInt32 = 0
                for index in 1..<5 { written = written << 8 | UInt32(bytes[index] ^ mask) }
                guard let length = Int(exactly: written) else {
                    throw InvalidEncoding(
                        type, code: .outOfRange, problem: "the length does not fit this machine's memory", at: 1)
                }
                guard length >= firstLongLength else {
                    throw InvalidEncoding(
                        type, code: .notCanonical, problem: "the long form has a short length, \(length)", at: 1)
                }
                self.length = length
            } else {
                throw InvalidEncoding(
                    type, code: .malformed, problem: "no encoding begins with the byte \(first)", at: 0)
            }

            let available = bytes.count - start
            guard available >= length else {
                throw InvalidEncoding(
                    type, code: .truncated, problem: "\(length) bytes are announced, \(available) are there")
            }
            guard available == length else {
                throw InvalidEncoding(
                    type, code: .trailingBytes, problem: "bytes follow the \(length) announced", at: start + length)
            }
            // A negative zero would be the byte 7f. Reject it: it would be a second zero.
            guard length > 0 || mask == 0 else {
                throw InvalidEncoding(type, code: .notCanonical, problem: "zero is negative", at: 0)
            }
            guard length == 0 || bytes[start] != mask else {
                throw InvalidEncoding(
                    type, code: .notCanonical, problem: "the magnitude begins with a zero byte", at: start)
            }
        }
    }

    /// Returns a magnitude of at most 8 bytes.
    @inline(__always)
    private static func smallMagnitude(_ bytes: UnsafeRawBufferPointer, header: Header) -> UInt64 {
        var magnitude: UInt64 = 0
        for index in header.start..<header.start + header.length {
            magnitude = magnitude << 8 | UInt64(bytes[index] ^ header.mask)
        }
        return magnitude
    }

    /// Returns the magnitude's words, the least significant first, as `BigUInt` expects them.
    private static func words(_ bytes: UnsafeRawBufferPointer, header: Header) -> [UInt] {
        let size = MemoryLayout<UInt>.size
        let (full, rest) = header.length.quotientAndRemainder(dividingBy: size)
        let count = full + (rest > 0 ? 1 : 0)
        let mask: UInt = header.mask == 0 ? 0 : .max
        return [UInt](unsafeUninitializedCapacity: count) { words, initialized in
            var end = bytes.count
            for index in 0..<full {
                end -= size
                words[index] = UInt(bigEndian: bytes.loadUnaligned(fromByteOffset: end, as: UInt.self)) ^ mask
            }
            if rest > 0 {
                var top: UInt = 0
                for index in header.start..<end { top = top << 8 | UInt(bytes[index] ^ header.mask) }
                words[full] = top
            }
            initialized = count
        }
    }
}
