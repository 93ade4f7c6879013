/// A changed object with the same neighbors as before in a live list: see ``ChangeSet/modifications``.
public struct ListModification: Hashable, Sendable {
    /// Its index in ``ChangeSet/previous``. Table views reload a row by this index.
    public let old: Int
    /// Its index in ``ChangeSet/results``.
    public let new: Int
}

extension ListModification: CustomStringConvertible {
    /// The index, or both indices if they differ.
    public var description: String { old == new ? "\(new)" : "\(old)→\(new)" }
}
