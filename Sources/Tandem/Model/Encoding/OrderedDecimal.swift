import Foundation

/// An encoding of decimals as bytes whose order is the decimals' order.
///
/// Equal decimals have equal bytes, whatever their number of trailing zeros. A unique index and a comparison in SQL
/// therefore agree with `==`:
///
/// ```swift
/// var bytes: [UInt8] = []
/// OrderedDecimal.append(Decimal(string: "12.50")!, to: &bytes)  // 81 81 19 64
/// let price = try bytes.withUnsafeBytes(OrderedDecimal.decode)  // 12.5
/// ```
///
/// The number of trailing zeros is not kept. `Decimal` itself drops them when it parses and computes.
///
/// ## Format
///
/// | value | bytes |
/// |---|---|
/// | zero | `80` |
/// | positive | `8100` + 128 + the exponent of its first digit, in 2 bytes; digits |
/// | negative | the encoding of its magnitude, every bit inverted |
/// | not a number | `ff` |
///
/// The exponent of the first digit is 0 for 1...9.99, 1 for 10...99.9, and so on. It is in -128...165.
///
/// The digits begin with the first nonzero digit and end with the last. They are stored in pairs, with a zero to fill
/// the last pair. A pair with the value p is the byte 2p + 1 if another pair follows, and 2p if not.
///
/// ## Why the order is right
///
/// Of two positive numbers, the number whose first digit has the greater exponent is greater. With equal exponents, the
/// digits decide in lexicographic order. A pair is odd if more follow, so 12 sorts before 12.01, whose first pairs are
/// equal. Only the last byte is even, so no encoding is a prefix of another. Inverting all bits therefore reverses the
/// order exactly (see ``OrderedBigInt``).
///
/// A decimal that is not a number sorts after all numbers. Foundation's `<` puts it before them. A query for numbers
/// only can exclude either end of the order. Users of SQL expect such a decimal at this end.
enum OrderedDecimal {
    private static let zero: UInt8 = 0x80
    private static let notANumber: UInt8 = 0xFF

    /// The base of a positive decimal's header. The header is this number plus the exponent of the first digit.
    private static let headerBase = 0x8100 + 128

    private static let exponents = -128...165

    /// 2^128 has 39 digits.
    private static let maximumDigits = 39

    /// Appends the encoding of `value`.
    static func append(_ value: Decimal, to out: inout [UInt8]) {
        guard !value.isNaN else {
            out.append(notANumber)
            return
        }
        let parts = DecimalParts(value)
        guard !parts.isZero else {
            out.append(zero)
            return
        }
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: maximumDigits + 1) { buffer in
            let digits = writeDigits(of: parts, to: buffer)
            let exponent = parts.exponent + digits.count - 1
            let mask: UInt8 = parts.isNegative ? 0xFF : 0
            let header = headerBase + exponent
            out.append(UInt8(truncatingIfNeeded: header >> 8) ^ mask)
            out.append(UInt8(truncatingIfNeeded: header) ^ mask)

            var end = digits.endIndex
            while digits[end - 1] == 0 { end -= 1 }
            var index = digits.startIndex
            while index < end {
                let pair = digits[index] * 10 + (index + 1 < end ? digits[index + 1] : 0)
                index += 2
                out.append((pair * 2 + (index < end ? 1 : 0)) ^ mask)
            }
        }
    }

    /// Returns the decimal that `bytes` encode.
    ///
    /// - Throws: ``InvalidEncoding`` unless `bytes` are exactly the result of `append(_:to:)` for some decimal. If
    ///   digits and exponent are valid but don't fit a `Decimal`, the code is ``InvalidEncoding/Code/outOfRange``.
    static func decode(_ bytes: UnsafeRawBufferPointer) throws -> Decimal {
        guard let first = bytes.first else {
            throw InvalidEncoding("Decimal", code: .truncated, problem: "there are no bytes", at: 0)
        }
        if first == zero || first == notANumber {
            guard bytes.count == 1 else {
                throw InvalidEncoding(
                    "Decimal", code: .trailingBytes, problem: "bytes follow a value of one byte", at: 1)
            }
            return first == zero ? Decimal() : Decimal.nan
        }
        let mask: UInt8 = first < zero ? 0xFF : 0
        guard bytes.count >= 3 else {
            throw InvalidEncoding("Decimal", code: .truncated, problem: "the digits are missing", at: bytes.count)
        }
        let firstExponent = (Int(first ^ mask) << 8 | Int(bytes[1] ^ mask)) - headerBase
        guard exponents.contains(firstExponent) else {
            throw InvalidEncoding(
                "Decimal", code: .malformed, problem: "no decimal has the exponent \(firstExponent)", at: 0)
        }

        var parts = DecimalParts(isNegative: mask != 0, exponent: 0, high: 0, low: 0)
        let digitCount = try readDigits(bytes, mask: mask, into: &parts)
        parts.exponent = firstExponent - (digitCount - 1)

        // 1e128 is a valid decimal, with the mantissa 10 and the exponent 127.
        let isCompact = parts.exponent <= 127
        while parts.exponent > 127 {
            guard parts.multiply(by: 10, adding: 0) else {
                throw InvalidEncoding("Decimal", code: .outOfRange, problem: "the value is too large")
            }
            parts.exponent -= 1
        }
        guard parts.exponent >= -128 else {
            throw InvalidEncoding(
                "Decimal", code: .outOfRange, problem: "the digits go too far below the decimal point")
        }
        return parts.decimal(isCompact: isCompact)
    }
}

// MARK: - Digits

extension OrderedDecimal {
    /// Writes the mantissa's digits, the most significant first, to the end of `buffer`. Returns the written part.
    private static func writeDigits(
        of parts: DecimalParts,
        to buffer: UnsafeMutableBufferPointer<UInt8>
    ) -> Slice<UnsafeMutableBufferPointer<UInt8>> {
        // Dividing 128 bits is slow, so divide once for 18 digits.
        let chunkDigits = 18
        let chunk: UInt64 = 1_000_000_000_000_000_000

        var start = buffer.endIndex
        var parts = parts
        while parts.high > 0 {
            var rest = parts.divide(by: chunk)
            for _ in 0..<chunkDigits {
                start -= 1
                buffer.initializeElement(at: start, to: UInt8(truncatingIfNeeded: rest % 10))
                rest /= 10
            }
        }
        while parts.low > 0 {
            start -= 1
            buffer.initializeElement(at: start, to: UInt8(truncatingIfNeeded: parts.low % 10))
            parts.low /= 10
        }
        return buffer[start...]
    }

    /// Reads the pairs of digits after the header into the mantissa. Returns the number of digits.
    private static func readDigits(
        _ bytes: UnsafeRawBufferPointer,
        mask: UInt8,
        into parts: inout DecimalParts
    ) throws -> Int {
        var digitCount = 0
        var index = 2
        while index < bytes.count {
            let byte = bytes[index] ^ mask
            let pair = UInt64(byte / 2)
            guard pair <= 99 else {
                throw InvalidEncoding(
                    "Decimal", code: .malformed, problem: "a pair of digits has the value \(pair)", at: index)
            }
            guard index > 2 || pair >= 10 else {
                throw InvalidEncoding("Decimal", code: .notCanonical, problem: "the first digit is zero", at: index)
            }
            index += 1

            let isLast = byte & 1 == 0
            guard !isLast || pair > 0 else {
                throw InvalidEncoding(
                    "Decimal", code: .notCanonical, problem: "the last digits are zero", at: index - 1)
            }
            let hasOneDigit = isLast && pair % 10 == 0
            let fits =
                hasOneDigit
                ? parts.multiply(by: 10, adding: pair / 10)
                : parts.multiply(by: 100, adding: pair)
            guard fits else {
                throw InvalidEncoding("Decimal", code: .outOfRange, problem: "there are too many digits", at: index - 1)
            }
            digitCount += hasOneDigit ? 1 : 2
            if isLast {
                guard index == bytes.count else {
                    throw InvalidEncoding(
                        "Decimal", code: .trailingBytes, problem: "bytes follow the last digits", at: index)
                }
                return digitCount
            }
        }
        throw InvalidEncoding("Decimal", code: .truncated, problem: "the last digits are missing", at: index)
    }
}
