/// The purpose of a folded text.
public enum FoldedUse: Sendable {
    /// Sorting by the store's ``Store/Configuration/sortLanguage``, and search with `matches`. This is the default.
    case searched
    /// Sorting by the store's ``Store/Configuration/sortLanguage``. No search index is created.
    case sorted
}
