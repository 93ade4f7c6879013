/// A changed object of a live list that kept its neighbors: see ``ChangeSet/modifications``.
public struct ListModification: Hashable, Sendable {
    /// Its index in ``ChangeSet/previous``. Table views reload a row by this index.
    public let old: Int
    /// Its index in ``ChangeSet/results``.
    public let new: Int
}

/// A changed object of a live list whose position changed: see ``ChangeSet/moves``.
public struct ListMove: Hashable, Sendable {
    /// Its index in ``ChangeSet/previous``, which is also among the deletions.
    public let from: Int
    /// Its index in ``ChangeSet/results``, which is also among the insertions.
    public let to: Int
}

extension ListModification: CustomStringConvertible {
    /// The index, or both indices if they differ.
    public var description: String { old == new ? "\(new)" : "\(old)→\(new)" }
}

extension ListMove: CustomStringConvertible {
    /// Both indices.
    public var description: String { "\(from)→\(to)" }
}
