/// A key of the order of a query by names: a property, a direction, and the position of nils.
///
/// ```swift
/// try store.objects(named: "Card").sorted(by: [DynamicSort("points", ascending: false), "shop"])
/// ```
///
/// The order is that of ``SortKey``: a folded property sorts by its sort key, and the local ID breaks ties.
public struct DynamicSort: Hashable, Sendable {
    /// The property.
    public let path: DynamicPath
    /// Whether the values ascend.
    public let ascending: Bool
    /// Whether nils come before all values. By default they do if the values ascend.
    public let nilsFirst: Bool

    /// Creates a key.
    ///
    /// - Parameters:
    ///   - path: The property, or a property of an object that it refers to.
    ///   - ascending: Whether the values ascend.
    ///   - nilsFirst: Whether nils come before all values, or `nil` for the default.
    public init(_ path: DynamicPath, ascending: Bool = true, nilsFirst: Bool? = nil) {
        self.path = path
        self.ascending = ascending
        self.nilsFirst = nilsFirst ?? ascending
    }
}

extension DynamicSort: ExpressibleByStringLiteral {
    /// Creates an ascending key from a path.
    public init(stringLiteral value: String) { self.init(DynamicPath(value)) }
}

extension DynamicSort: CustomStringConvertible {
    /// The path, and `desc` if the values descend.
    public var description: String { ascending ? "\(path)" : "\(path) desc" }
}
