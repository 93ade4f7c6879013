import Foundation

/// A value of one of SQLite's five storage classes.
///
/// <doc:StorageFormat> describes how each property type is stored.
public enum StorageValue: Hashable, Sendable {
    /// SQL's NULL.
    case null
    /// A 64-bit integer.
    case integer(Int64)
    /// A floating-point number.
    case real(Double)
    /// A text.
    case text(String)
    /// A sequence of bytes.
    case blob([UInt8])

    /// Compares bit by bit. Unlike SQLite's `IS`, this distinguishes 0.0 from -0.0, and NaN payloads from each other.
    public static func == (lhs: Self, rhs: Self) -> Bool {
        switch (lhs, rhs) {
        case (.null, .null): true
        case (.integer(let a), .integer(let b)): a == b
        case (.real(let a), .real(let b)): a.bitPattern == b.bitPattern
        case (.text(let a), .text(let b)): ScalarText.isEqual(a, b)
        case (.blob(let a), .blob(let b)): a == b
        default: false
        }
    }

    /// Hashes the value consistently with `==`.
    public func hash(into hasher: inout Hasher) {
        switch self {
        case .null: hasher.combine(0)
        case .integer(let value): hasher.combine(value)
        case .real(let value): hasher.combine(value.bitPattern)
        case .text(let value): ScalarText.hash(value, into: &hasher)
        case .blob(let value): hasher.combine(value)
        }
    }
}

/// Literals for SQL parameters: `[1, 2.5, "text", true, .null]`.
///
/// A `nil` literal is not supported. Comparing an optional storage value with nil would then compare it with NULL.
extension StorageValue: ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral, ExpressibleByStringLiteral,
    ExpressibleByBooleanLiteral
{
    /// Creates a value from an integer literal.
    public init(integerLiteral value: Int64) { self = .integer(value) }
    /// Creates a value from a floating-point literal.
    public init(floatLiteral value: Double) { self = .real(value) }
    /// Creates a value from a string literal.
    public init(stringLiteral value: String) { self = .text(value) }
    /// Creates a value from a Boolean literal.
    public init(booleanLiteral value: Bool) { self = .integer(value ? 1 : 0) }
}
