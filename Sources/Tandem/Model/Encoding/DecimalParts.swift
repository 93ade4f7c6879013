import Foundation

/// The sign, exponent and 128-bit mantissa of a finite decimal.
///
/// `Decimal` does not expose them on Linux: `_mantissa` and its companions are internal there, and reading the digits
/// from `description` takes a microsecond or more. They are therefore read from the value's memory, whose layout is not
/// guaranteed. ``layoutIsKnown`` compares the layout of a few values with the expected one, once per process. If it
/// differs, as on Darwin or after a change in Foundation, `description` and `Decimal(string:)` do the same work slowly.
/// Stored bytes are the same either way.
struct DecimalParts: Hashable {
    var isNegative: Bool
    var exponent: Int
    /// The high and low halves of the mantissa.
    var high: UInt64
    var low: UInt64

    var isZero: Bool { high | low == 0 }

    /// Multiplies the mantissa by `factor`, adds `addend`, and returns whether the result fits.
    mutating func multiply(by factor: UInt64, adding addend: UInt64) -> Bool {
        let (carry, product) = low.multipliedFullWidth(by: factor)
        let (sum, sumOverflow) = product.addingReportingOverflow(addend)
        let (highProduct, productOverflow) = high.multipliedReportingOverflow(by: factor)
        // `carry` is at most factor - 1, so adding one does not overflow.
        let (newHigh, highOverflow) = highProduct.addingReportingOverflow(carry + (sumOverflow ? 1 : 0))
        low = sum
        high = newHigh
        return !productOverflow && !highOverflow
    }

    /// Divides the mantissa by `divisor` and returns the remainder.
    mutating func divide(by divisor: UInt64) -> UInt64 {
        let (highQuotient, highRemainder) = high.quotientAndRemainder(dividingBy: divisor)
        let (quotient, remainder) = divisor.dividingFullWidth((highRemainder, low))
        high = highQuotient
        low = quotient
        return remainder
    }
}

// MARK: - From and to Decimal

extension DecimalParts {
    /// Creates the parts of a decimal that is a number.
    init(_ decimal: Decimal) {
        self = Self.layoutIsKnown ? Self(memoryOf: decimal) : Self(descriptionOf: decimal)
    }

    /// Returns the decimal with these parts.
    ///
    /// - Precondition: The exponent is in -128...127.
    func decimal(isCompact: Bool) -> Decimal {
        precondition(Int8(exactly: exponent) != nil, "A decimal's exponent is in -128...127")
        if isZero { return Decimal() }
        return Self.layoutIsKnown ? decimalFromMemory(isCompact: isCompact) : decimalFromText()
    }

    /// Whether a `Decimal` has the memory layout that ``init(memoryOf:)`` and ``decimalFromMemory(isCompact:)`` expect.
    static let layoutIsKnown: Bool = {
        guard MemoryLayout<Decimal>.size == 20, MemoryLayout<Decimal>.alignment <= 4 else { return false }
        let probes = [
            "1", "-1", "255e127", "-3e-128", "12345.6789", "-18446744073709551615e7", "65537e-65",
            "340282366920938463463374607431768211455e-20", "-1234567890123456789012345678901234567e3",
        ]
        return probes.allSatisfy { text in
            guard let decimal = Decimal(string: text) else { return false }
            let parts = Self(memoryOf: decimal)
            return parts == Self(descriptionOf: decimal)
                && parts.exponent == decimal.exponent
                && parts.decimalFromMemory(isCompact: false) == decimal
                && parts.decimalFromMemory(isCompact: false).description == decimal.description
        }
    }()
}

// MARK: - By memory

extension DecimalParts {
    // The layout of the 20 bytes (see `Decimal.Storage` in swift-foundation):
    // - The exponent.
    // - A byte with the number of mantissa words in its upper half, then a sign bit, and an `isCompact` bit. The last
    //   bit states that the mantissa has no trailing zeros.
    // - Two unused bytes.
    // - Eight words of mantissa, the least significant first.

    init(memoryOf decimal: Decimal) {
        self = withUnsafeBytes(of: decimal) { bytes in
            let flags = bytes[1]
            var low = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: 4, as: UInt64.self))
            var high = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: 12, as: UInt64.self))
            // Words beyond the length are not part of the value.
            switch Int(flags >> 4) {
            case 8...: break
            case let length where length >= 4: high &= (1 << UInt64((length - 4) * 16)) - 1
            case let length:
                high = 0
                low &= (1 << UInt64(length * 16)) - 1
            }
            let exponent = Int(Int8(bitPattern: bytes[0]))
            return DecimalParts(isNegative: flags & 0b1000 != 0, exponent: exponent, high: high, low: low)
        }
    }

    func decimalFromMemory(isCompact: Bool) -> Decimal {
        let bits = high == 0 ? 64 - low.leadingZeroBitCount : 128 - high.leadingZeroBitCount
        let length = UInt8((bits + 15) / 16)
        var decimal = Decimal()
        withUnsafeMutableBytes(of: &decimal) { bytes in
            bytes[0] = UInt8(bitPattern: Int8(exponent))
            bytes[1] = length << 4 | (isNegative ? 0b1000 : 0) | (isCompact ? 0b0100 : 0)
            bytes.storeBytes(of: low.littleEndian, toByteOffset: 4, as: UInt64.self)
            bytes.storeBytes(of: high.littleEndian, toByteOffset: 12, as: UInt64.self)
        }
        return decimal
    }
}

// MARK: - By text

extension DecimalParts {
    /// Creates the parts of `decimal` through its public interface only.
    ///
    /// The description of a decimal has all its digits and no exponent. It does not distinguish trailing zeros from a
    /// positive exponent, so the exponent is read separately.
    init(descriptionOf decimal: Decimal) {
        self.init(isNegative: decimal.isSignMinus, exponent: decimal.exponent, high: 0, low: 0)
        let zeros = max(0, decimal.exponent)
        for byte in decimal.description.utf8.dropLast(zeros) where (0x30...0x39).contains(byte) {
            guard multiply(by: 10, adding: UInt64(byte - 0x30)) else {
                preconditionFailure("A decimal has more digits than fit 128 bits: \(decimal)")
            }
        }
    }

    func decimalFromText() -> Decimal {
        var digits: [UInt8] = []
        var rest = self
        while !rest.isZero { digits.append(UInt8(rest.divide(by: 10)) + 0x30) }
        let text = "\(isNegative ? "-" : "")\(String(decoding: digits.reversed(), as: UTF8.self))e\(exponent)"
        guard let decimal = Decimal(string: text) else {
            preconditionFailure("Foundation can't parse the decimal \(text)")
        }
        return decimal
    }
}
