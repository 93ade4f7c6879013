import BigInt
import Foundation

/// An exact sum of decimals, with a mantissa of any size. `Decimal`'s own sum drops digits after the 38th.
struct DecimalTotal {
    private var mantissa = BigInt()
    private var exponent = 0
    private(set) var isNaN = false

    mutating func add(_ value: Decimal) { add(value, isNegated: false) }

    mutating func subtract(_ value: Decimal) { add(value, isNegated: true) }

    private mutating func add(_ value: Decimal, isNegated: Bool) {
        guard !value.isNaN else {
            isNaN = true
            return
        }
        let parts = DecimalParts(value)
        if parts.isZero { return }
        var addend = BigInt(
            sign: parts.isNegative != isNegated ? .minus : .plus,
            magnitude: BigUInt(words: [
                UInt(parts.low), UInt(parts.high),
            ]))
        if parts.exponent < exponent {
            mantissa *= BigInt(10).power(exponent - parts.exponent)
            exponent = parts.exponent
        } else if parts.exponent > exponent {
            addend *= BigInt(10).power(parts.exponent - exponent)
        }
        mantissa += addend
    }

    /// The sum in its stored form, or NULL if a decimal can't represent it exactly.
    var storageValue: StorageValue {
        guard let value = isNaN ? .nan : decimal else { return .null }
        return Codec.of(Decimal.self).storageValue(value)
    }

    private var decimal: Decimal? {
        var magnitude = mantissa.magnitude
        var exponent = exponent
        if magnitude.isZero { return Decimal() }
        while magnitude.bitWidth > 128 || exponent < -128 {
            let (quotient, remainder) = magnitude.quotientAndRemainder(dividingBy: 10)
            guard remainder.isZero else { return nil }
            magnitude = quotient
            exponent += 1
        }
        while exponent > 127 {
            magnitude *= 10
            exponent -= 1
            guard magnitude.bitWidth <= 128 else { return nil }
        }
        let words = Array(magnitude.words)
        let parts = DecimalParts(
            isNegative: mantissa.sign == .minus, exponent: exponent, high: words.count > 1 ? UInt64(words[1]) : 0,
            low: UInt64(words[0]))
        return parts.decimal(isCompact: false)
    }
}
