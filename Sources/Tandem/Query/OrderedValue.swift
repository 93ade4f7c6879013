import BigInt
import Foundation

/// A value whose order in the store is its order in Swift: numbers, texts, dates, UUIDs and IDs.
///
/// Texts are ordered by their Unicode scalars. `String`'s `<` has another order, because it compares canonical forms.
/// Enums do not conform: their raw values have an order, but it may differ from that of the enum.
public protocol OrderedValue: Comparable, QueryOrdered, Sendable where Ordered == Self {}

/// An ordered value or an optional ordered value. Do not conform to it.
public protocol QueryOrdered {
    /// The type of the ordered value.
    associatedtype Ordered: Comparable & Sendable
    /// Converts an ordered value to this type.
    static func __wrap(_ value: Ordered) -> Self
    /// The ordered value, or nil.
    var __unwrapped: Ordered? { get }
}

extension OrderedValue {
    /// Returns the value itself.
    public static func __wrap(_ value: Self) -> Self { value }
    /// The value itself.
    public var __unwrapped: Self? { self }
}

extension Optional: QueryOrdered where Wrapped: OrderedValue {
    /// The type of the ordered value.
    public typealias Ordered = Wrapped
    /// Wraps a value in an optional.
    public static func __wrap(_ value: Wrapped) -> Wrapped? { value }
    /// The optional itself.
    public var __unwrapped: Wrapped? { self }
}

extension Int: OrderedValue {}
extension Int8: OrderedValue {}
extension Int16: OrderedValue {}
extension Int32: OrderedValue {}
extension Int64: OrderedValue {}
extension UInt: OrderedValue {}
extension UInt8: OrderedValue {}
extension UInt16: OrderedValue {}
extension UInt32: OrderedValue {}
extension UInt64: OrderedValue {}
extension Float: OrderedValue {}
extension Double: OrderedValue {}
extension Decimal: OrderedValue {}
extension Int128: OrderedValue {}
extension UInt128: OrderedValue {}
extension BigInt: OrderedValue {}
extension BigUInt: OrderedValue {}
extension String: OrderedValue {}
extension Date: OrderedValue {}
extension UUID: OrderedValue {}
extension LocalID: OrderedValue {}
extension ServerID: OrderedValue {}
