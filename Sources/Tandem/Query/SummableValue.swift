import BigInt
import Foundation

/// A number that can be summed: `sum(of: \.points)`.
///
/// | type | sum | average |
/// | --- | --- | --- |
/// | integers narrower than 64 bits, `Int` | `Int` | `Double` |
/// | `Int64`, `UInt`, `UInt64` | the type itself | `Double` |
/// | `BigInt`, `BigUInt` | the type itself | `Double` |
/// | `Float`, `Double` | `Double` | `Double` |
/// | `Decimal` | `Decimal` | `Decimal` |
///
/// Do not conform to it.
public protocol SummableValue: OrderedValue, QuerySummable {}

/// A summable value or an optional summable value. Do not conform to it.
public protocol QuerySummable {
    /// The type of the sum.
    associatedtype Sum: Sendable
    /// The type of the average.
    associatedtype Average: Sendable
    /// The functions that sum the values.
    static var __sums: Sums<Sum, Average> { get }
}

/// The functions that sum the values of a type.
public struct Sums<Sum, Average>: Sendable {
    enum Total {
        case integer(BigInt)
        case real(Double)
        case decimal(Decimal)
    }

    let kind: ExactSum.Kind
    /// Converts the total to the sum's type. Returns `nil` if it does not fit.
    let sum: @Sendable (Total) -> Sum?
    let average: @Sendable (Total, Int) -> Average?

    /// Reads the result of an ``ExactSum``. Returns `nil` if it overflowed.
    func total(_ row: RowDecoder, column: Int32) throws -> Total? {
        switch row.type(column) {
        case StorageClass.null: return nil
        case StorageClass.text:
            throw InvalidStoredValue(column: column, reason: try row.text(column))
        default:
            switch kind {
            case .integer, .bigInt: return .integer(try BigInt.__read(row, column: column))
            case .real: return .real(try Double.__read(row, column: column))
            case .decimal: return .decimal(try Decimal.__read(row, column: column))
            }
        }
    }
}

extension Sums where Average == Double {
    fileprivate static func integers(
        _ kind: ExactSum.Kind = .integer, sum: @escaping @Sendable (BigInt) -> Sum?
    ) -> Self {
        Sums(
            kind: kind, sum: { if case .integer(let total) = $0 { sum(total) } else { nil } },
            average: { total, count in
                guard case .integer(let total) = total else { return nil }
                let (quotient, remainder) = total.quotientAndRemainder(dividingBy: BigInt(count))
                return Double(quotient) + Double(remainder) / Double(count)
            })
    }
}

extension Sums where Sum == Double, Average == Double {
    fileprivate static var reals: Self {
        Sums(
            kind: .real, sum: { if case .real(let total) = $0 { total } else { nil } },
            average: { if case .real(let total) = $0 { total / Double($1) } else { nil } })
    }
}

extension Optional: QuerySummable where Wrapped: SummableValue {
    /// The functions that sum the values.
    public static var __sums: Sums<Wrapped.Sum, Wrapped.Average> { Wrapped.__sums }
}

extension SummableValue where Self: FixedWidthInteger {
    /// The functions that sum the values.
    public static var __sums: Sums<Self, Double> { .integers(bitWidth > 64 ? .bigInt : .integer) { Self(exactly: $0) } }
}

extension Int: SummableValue {}
extension Int64: SummableValue {}
extension UInt: SummableValue {}
extension UInt64: SummableValue {}
extension Int128: SummableValue {}
extension UInt128: SummableValue {}
extension Int8: SummableValue {
    /// The functions that sum the values.
    public static var __sums: Sums<Int, Double> { .integers { Int(exactly: $0) } }
}
extension Int16: SummableValue {
    /// The functions that sum the values.
    public static var __sums: Sums<Int, Double> { .integers { Int(exactly: $0) } }
}
extension Int32: SummableValue {
    /// The functions that sum the values.
    public static var __sums: Sums<Int, Double> { .integers { Int(exactly: $0) } }
}
extension UInt8: SummableValue {
    /// The functions that sum the values.
    public static var __sums: Sums<Int, Double> { .integers { Int(exactly: $0) } }
}
extension UInt16: SummableValue {
    /// The functions that sum the values.
    public static var __sums: Sums<Int, Double> { .integers { Int(exactly: $0) } }
}
extension UInt32: SummableValue {
    /// The functions that sum the values.
    public static var __sums: Sums<Int, Double> { .integers { Int(exactly: $0) } }
}
extension BigInt: SummableValue {
    /// The functions that sum the values.
    public static var __sums: Sums<BigInt, Double> { .integers(.bigInt) { $0 } }
}
extension BigUInt: SummableValue {
    /// The functions that sum the values.
    public static var __sums: Sums<BigUInt, Double> { .integers(.bigInt) { BigUInt(exactly: $0) } }
}
extension Double: SummableValue {
    /// The functions that sum the values.
    public static var __sums: Sums<Double, Double> { .reals }
}
extension Float: SummableValue {
    /// The functions that sum the values.
    public static var __sums: Sums<Double, Double> { .reals }
}
extension Decimal: SummableValue {
    /// The functions that sum the values.
    public static var __sums: Sums<Decimal, Decimal> {
        Sums(
            kind: .decimal, sum: { if case .decimal(let total) = $0 { total } else { nil } },
            average: { if case .decimal(let total) = $0 { total / Decimal($1) } else { nil } })
    }
}
