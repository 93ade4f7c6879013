/// The purpose of a folded text.
public enum FoldedUse: Sendable {
    /// Sorting without regard to case, and search with `matches`. This is the default.
    case searched
    /// Sorting without regard to case. No search index is created.
    case sorted
}
