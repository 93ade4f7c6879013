/// The comparison for values of a unique property.
public enum Uniqueness: Sendable {
    /// Compares the values themselves. This is the default.
    case exact
    /// Compares the texts of a ``Folded(_:)`` property without regard to case: "ЛЕНТА" and "Лента" are the same. The
    /// comparison is that of ``Folding/caseKey(_:)`` in every sort language.
    case folded
}
