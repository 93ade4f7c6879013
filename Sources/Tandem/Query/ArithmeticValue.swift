import BigInt
import Foundation

/// A number that assignments can compute with: `$0.points + 10`. Do not conform to it.
///
/// Integers, `Float`, `Double`, `Decimal`, `BigInt`, `BigUInt` and optionals of these conform. If an operand is nil,
/// the result is nil.
public protocol ArithmeticValue: Sendable {
    /// Adds two values. Throws if the sum does not fit the type.
    static func __sum(_ lhs: Self, _ rhs: Self) throws -> Self
    /// Subtracts a value from another one. Throws if the difference does not fit the type.
    static func __difference(_ lhs: Self, _ rhs: Self) throws -> Self
    /// Multiplies two values. Throws if the product does not fit the type.
    static func __product(_ lhs: Self, _ rhs: Self) throws -> Self
}

/// An error thrown if the result of an arithmetic operation does not fit its type.
struct ArithmeticOverflow: Error {}

extension ArithmeticValue where Self: FixedWidthInteger {
    /// Adds two values. Throws if the sum does not fit the type.
    public static func __sum(_ lhs: Self, _ rhs: Self) throws -> Self {
        try checked(lhs.addingReportingOverflow(rhs))
    }

    /// Subtracts a value from another one. Throws if the difference does not fit the type.
    public static func __difference(_ lhs: Self, _ rhs: Self) throws -> Self {
        try checked(lhs.subtractingReportingOverflow(rhs))
    }

    /// Multiplies two values. Throws if the product does not fit the type.
    public static func __product(_ lhs: Self, _ rhs: Self) throws -> Self {
        try checked(lhs.multipliedReportingOverflow(by: rhs))
    }

    private static func checked(_ result: (partialValue: Self, overflow: Bool)) throws -> Self {
        if result.overflow { throw ArithmeticOverflow() }
        return result.partialValue
    }
}

extension Int: ArithmeticValue {}
extension Int8: ArithmeticValue {}
extension Int16: ArithmeticValue {}
extension Int32: ArithmeticValue {}
extension Int64: ArithmeticValue {}
extension Int128: ArithmeticValue {}
extension UInt: ArithmeticValue {}
extension UInt8: ArithmeticValue {}
extension UInt16: ArithmeticValue {}
extension UInt32: ArithmeticValue {}
extension UInt64: ArithmeticValue {}
extension UInt128: ArithmeticValue {}

extension ArithmeticValue where Self: Numeric {
    /// Adds two values.
    public static func __sum(_ lhs: Self, _ rhs: Self) throws -> Self { lhs + rhs }
    /// Subtracts a value from another one.
    public static func __difference(_ lhs: Self, _ rhs: Self) throws -> Self { lhs - rhs }
    /// Multiplies two values.
    public static func __product(_ lhs: Self, _ rhs: Self) throws -> Self { lhs * rhs }
}

extension Float: ArithmeticValue {}
extension Double: ArithmeticValue {}
extension Decimal: ArithmeticValue {}
extension BigInt: ArithmeticValue {}

extension BigUInt: ArithmeticValue {
    /// Subtracts a value from another one. Throws if the difference is negative.
    public static func __difference(_ lhs: Self, _ rhs: Self) throws -> Self {
        if lhs < rhs { throw ArithmeticOverflow() }
        return lhs - rhs
    }
}

extension Optional: ArithmeticValue where Wrapped: ArithmeticValue {
    /// Adds two values. The sum is nil if one of them is nil.
    public static func __sum(_ lhs: Self, _ rhs: Self) throws -> Self {
        guard let lhs, let rhs else { return nil }
        return try Wrapped.__sum(lhs, rhs)
    }

    /// Subtracts a value from another one. The difference is nil if one of them is nil.
    public static func __difference(_ lhs: Self, _ rhs: Self) throws -> Self {
        guard let lhs, let rhs else { return nil }
        return try Wrapped.__difference(lhs, rhs)
    }

    /// Multiplies two values. The product is nil if one of them is nil.
    public static func __product(_ lhs: Self, _ rhs: Self) throws -> Self {
        guard let lhs, let rhs else { return nil }
        return try Wrapped.__product(lhs, rhs)
    }
}
