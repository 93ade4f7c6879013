/// The comparison for values of a unique property.
public enum Uniqueness: Sendable {
    /// Compares the values themselves. This is the default.
    case exact
    /// Compares the sort keys of a ``Folded(_:)`` property: "ЛЕНТА" and "Лента" are the same.
    case folded
}
