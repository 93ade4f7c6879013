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
