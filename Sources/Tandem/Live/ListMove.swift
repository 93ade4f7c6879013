/// A changed object with another position in a live list: see ``ChangeSet/moves``.
public struct ListMove: Hashable, Sendable {
    /// Its index in ``ChangeSet/previous``, which is also among the deletions.
    public let from: Int
    /// Its index in ``ChangeSet/results``, which is also among the insertions.
    public let to: Int
}

extension ListMove: CustomStringConvertible {
    /// Both indices.
    public var description: String { "\(from)→\(to)" }
}
