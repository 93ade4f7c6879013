import Foundation

/// A value as SQLite stores it: one of its five storage classes.
///
/// How each property type is written is described in <doc:StorageFormat>.
public enum StorageValue: Hashable, Sendable {
    case null
    case integer(Int64)
    case real(Double)
    case text(String)
    case blob([UInt8])

    /// Compares as SQLite's `IS` would if it told 0.0 from -0.0, and NaN payloads apart: bit by bit.
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

/// Values for parameters of SQL, as one writes them: `[1, 2.5, "text", true, .null]`.
///
/// Not by `nil`: a test of an optional storage value against nil would then compare it with NULL.
extension StorageValue: ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral, ExpressibleByStringLiteral,
    ExpressibleByBooleanLiteral
{
    public init(integerLiteral value: Int64) { self = .integer(value) }
    public init(floatLiteral value: Double) { self = .real(value) }
    public init(stringLiteral value: String) { self = .text(value) }
    public init(booleanLiteral value: Bool) { self = .integer(value ? 1 : 0) }
}
