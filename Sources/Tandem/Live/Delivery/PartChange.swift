/// A change that a commit makes to a part of a subscription: see ``LivePart``.
enum PartChange: Sendable {
    /// A row's new state, or `nil` if the row is not (or never was) in the part.
    ///
    /// - Parameter isSilent: Whether only unobserved properties changed.
    case row(id: Int64, row: LiveRow?, isSilent: Bool)
    /// An increase or decrease of the number of rows.
    case count(Int)
    /// A value that was removed from an aggregate, and a value that was added to it.
    case value(old: StorageValue?, new: StorageValue?)
}
