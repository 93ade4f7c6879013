import BigInt
import Foundation

/// A value whose order in the store is its order in Swift: numbers, texts, dates, UUIDs and IDs.
///
/// Texts are ordered by their Unicode scalars, which is not the order of `String`'s `<`: that one compares canonical
/// forms. Enums are not among them: their raw values have an order, and it need not be the one the enum has.
public protocol OrderedValue: Comparable, QueryOrdered, Sendable where Ordered == Self {}

/// An ordered value or an optional of one. Not to be conformed to.
public protocol QueryOrdered {
    associatedtype Ordered: Comparable & Sendable
    static func __wrap(_ value: Ordered) -> Self
    var __unwrapped: Ordered? { get }
}

extension OrderedValue {
    public static func __wrap(_ value: Self) -> Self { value }
    public var __unwrapped: Self? { self }
}

extension Optional: QueryOrdered where Wrapped: OrderedValue {
    public typealias Ordered = Wrapped
    public static func __wrap(_ value: Wrapped) -> Wrapped? { value }
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
