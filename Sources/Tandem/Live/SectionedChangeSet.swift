/// The changes of a commit in a live list with sections.
///
/// Positions are those of table views. Deletions and the old side of modifications refer to the old sections.
/// Insertions and the new side refer to the new sections. The objects of a deleted section are among the deletions, and
/// those of an inserted section among the insertions. To apply a change set, remove the deletions from the last to the
/// first. Remove the deleted sections, which are then empty. Insert the new sections without objects. Then insert the
/// insertions from the first to the last.
public struct SectionedChangeSet<Key: Sendable, Element: Sendable>: Sendable {
    /// The current sections.
    public let sections: LiveSections<Key, Element>
    /// The sections that were delivered before. It is empty if the change set is initial.
    public let previous: LiveSections<Key, Element>
    /// Whether this is the first delivery, or a later one that starts again: see ``ChangeSet/isInitial``.
    public var isInitial: Bool { changes.isInitial }

    /// The deleted sections, by their indices in the old list, ascending.
    public let deletedSections: [Int]
    /// The inserted sections, by their indices in the new list, ascending.
    public let insertedSections: [Int]
    /// The objects that were deleted or moved away.
    public let deletions: [SectionPosition]
    /// The objects that were inserted or moved here.
    public let insertions: [SectionPosition]
    /// The objects that changed without moving.
    public let modifications: [Change]
    /// The objects that moved. Each is also among the deletions and among the insertions.
    public let moves: [Change]
    /// The same change without sections, with local IDs and old values. If an object moved to the next section without
    /// passing another object, it is a modification here.
    public let changes: ChangeSet<Element>

    /// The old and the new position of an object.
    public struct Change: Hashable, Sendable {
        /// The position in the old sections.
        public let old: SectionPosition
        /// The position in the new sections.
        public let new: SectionPosition
    }

    init(
        _ sections: LiveSections<Key, Element>, previous: LiveSections<Key, Element>, changes: ChangeSet<Element>,
        length: (LiveRow) -> Int
    ) {
        self.sections = sections
        self.previous = previous
        self.changes = changes
        var deleted: [Int] = []
        var inserted: [Int] = []
        // Both are in the order of their prefixes.
        var old = 0
        var new = 0
        while old < previous.count || new < sections.count {
            let before = old < previous.count ? previous.prefix(old, length: length) : nil
            let after = new < sections.count ? sections.prefix(new, length: length) : nil
            if before == after {
                old += 1
                new += 1
            } else if let before, after.map({ before.lexicographicallyPrecedes($0) }) ?? true {
                deleted.append(old)
                old += 1
            } else {
                inserted.append(new)
                new += 1
            }
        }
        deletedSections = deleted
        insertedSections = inserted
        // An object can move to the next section without passing another one. In the flat list its position did not
        // change.
        var stayed: [ListModification] = []
        var left: [ListModification] = []
        for modification in changes.modifications {
            let before = changes.previous.rows[modification.old]
            let after = changes.results.rows[modification.new]
            if before.key.prefix(length(before)) == after.key.prefix(length(after)) {
                stayed.append(modification)
            } else {
                left.append(modification)
            }
        }
        deletions = Self.merged(changes.deletions, with: left.map(\.old)).map(previous.position)
        insertions = Self.merged(changes.insertions, with: left.map(\.new)).map(sections.position)
        modifications = stayed.map {
            Change(old: previous.position(ofElementAt: $0.old), new: sections.position(ofElementAt: $0.new))
        }
        moves = (changes.moves.map { ($0.from, $0.to) } + left.map { ($0.old, $0.new) }).sorted { $0.0 < $1.0 }.map {
            Change(old: previous.position(ofElementAt: $0.0), new: sections.position(ofElementAt: $0.1))
        }
    }

    private static func merged(_ indices: [Int], with others: [Int]) -> [Int] {
        others.isEmpty ? indices : (indices + others).sorted()
    }
}
