/// What a commit has changed in a live list with sections.
///
/// Positions are those of table views: deletions and the old side of modifications in the old sections, insertions and
/// the new side in the new ones. The objects of a section that goes are among the deletions, those of one that comes
/// among the insertions. Applying it: take out the deletions, last first; take out the deleted sections, which are
/// empty then; put in the inserted sections, empty; put in the insertions, first first.
public struct SectionedChangeSet<Key: Sendable, Element: Sendable>: Sendable {
    /// The sections now.
    public let sections: LiveSections<Key, Element>
    /// The sections delivered before; none if this is initial.
    public let previous: LiveSections<Key, Element>
    /// Whether this is the first delivery, or one that tells anew: see ``ChangeSet/isInitial``.
    public var isInitial: Bool { changes.isInitial }

    /// The sections that went, by their places in the old list, ascending.
    public let deletedSections: [Int]
    /// The sections that came, by their places in the new list, ascending.
    public let insertedSections: [Int]
    /// The objects that went or moved away.
    public let deletions: [SectionPosition]
    /// The objects that came or moved here.
    public let insertions: [SectionPosition]
    /// The objects that changed where they are.
    public let modifications: [Change]
    /// The objects that moved: each is also one of the deletions and one of the insertions.
    public let moves: [Change]
    /// The same change without sections, with local IDs and old values. An object that went to the next section without
    /// passing another object is a modification here.
    public let changes: ChangeSet<Element>

    /// Where an object was, and where it is.
    public struct Change: Hashable, Sendable {
        public let old: SectionPosition
        public let new: SectionPosition
    }

    init(
        _ sections: LiveSections<Key, Element>, previous: LiveSections<Key, Element>, _ changes: ChangeSet<Element>,
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
            let before = old < previous.count ? previous.prefix(old, length) : nil
            let after = new < sections.count ? sections.prefix(new, length) : nil
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
        // An object can go to the next section without passing another one: in the list it has stayed where it was.
        var stayed: [ChangeSet<Element>.Modification] = []
        var left: [ChangeSet<Element>.Modification] = []
        for modification in changes.modifications {
            let before = changes.previous.rows[modification.old]
            let after = changes.results.rows[modification.new]
            if before.key.prefix(length(before)) == after.key.prefix(length(after)) {
                stayed.append(modification)
            } else {
                left.append(modification)
            }
        }
        deletions = Self.merged(changes.deletions, left.map(\.old)).map(previous.position)
        insertions = Self.merged(changes.insertions, left.map(\.new)).map(sections.position)
        modifications = stayed.map {
            Change(old: previous.position(ofElementAt: $0.old), new: sections.position(ofElementAt: $0.new))
        }
        moves = (changes.moves.map { ($0.from, $0.to) } + left.map { ($0.old, $0.new) }).sorted { $0.0 < $1.0 }.map {
            Change(old: previous.position(ofElementAt: $0.0), new: sections.position(ofElementAt: $0.1))
        }
    }

    private static func merged(_ indices: [Int], _ others: [Int]) -> [Int] {
        others.isEmpty ? indices : (indices + others).sorted()
    }
}
