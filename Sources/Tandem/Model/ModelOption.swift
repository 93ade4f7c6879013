/// An option for a whole model in ``Model(_:table:wireName:renamedFrom:indexes:)``.
public enum ModelOption: Sendable {
    /// The model is stored, queried and observed, but never sent: its changes create no operations.
    case localOnly
}

/// An index over several properties, by their names: `.index("shop", "points")`, `.unique("person", "card")`.
public struct ModelIndex: Sendable {
    /// Returns an index that speeds up filters and sorts that begin with these properties.
    ///
    /// - Parameter properties: The names of the properties in Swift, the most significant first.
    public static func index(_ properties: String...) -> ModelIndex { ModelIndex() }
    /// Returns a unique index: no two live objects may have the same values in all of these properties.
    ///
    /// - Parameter properties: The names of the properties in Swift, the most significant first.
    public static func unique(_ properties: String...) -> ModelIndex { ModelIndex() }
}
