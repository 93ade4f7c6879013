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

extension Results {
    /// Publishes the objects in sections, one for each value of a property, in the order of the values, nil first
    /// (last if descending). Within a section they have this query's order.
    ///
    /// ```swift
    /// let cards = store.objects(Card.self).sorted(by: \.shop)
    /// let publisher = cards.sectionsPublisher(by: \.category).on(.main)
    /// let subscription = publisher.sink(receiveCompletion: { _ in }) { sections in
    ///     for section in sections { print(section.key, section.count) }
    /// }
    /// ```
    public func sectionsPublisher<P: PropertyExpression>(
        by property: KeyPath<M.Columns, P>, ascending: Bool = true
    ) -> LivePublisher<LiveSections<P.Value, M>> where P.Root == M, P.Value: Sendable {
        sectionedChangesetPublisher(by: property, ascending: ascending).mapRecipe { $0.sections }
    }

    /// Publishes what changes in the objects in sections: see ``sectionsPublisher(by:ascending:)``.
    ///
    /// - Complexity: A change costs O(*s* log *n*) for *s* sections of *n* objects in all.
    public func sectionedChangesetPublisher<P: PropertyExpression>(
        by property: KeyPath<M.Columns, P>, ascending: Bool = true
    ) -> LivePublisher<SectionedChangeSet<P.Value, M>> where P.Root == M, P.Value: Sendable {
        let property = M.Columns()[keyPath: property]
        let key = SortKey.column(property.__column, ascending: ascending, nilsFirst: ascending)
        return LivePublisher(
            store: store,
            recipe: LiveRecipe { [query = query.nestedIfCut] store in
                let reading = RowReading(
                    maker: .sections(property, observed: query.observedMask(in: store.schema)),
                    section: RowOrder([key], isPrefix: true), order: RowOrder(query.order))
                let part = ListPart(LiveList(query, reading: reading, in: store.schema, section: key))
                return LiveRecipe.Making(parts: [part]) {
                    let taken = part.take()
                    let length = { (row: LiveRow) in
                        unsafeDowncast(row, to: SectionedRow<M, P.Value>.self).sectionLength
                    }
                    let value: @Sendable (LiveRow) -> P.Value = {
                        unsafeDowncast($0, to: SectionedRow<M, P.Value>.self).sectionKey
                    }
                    let element: @Sendable (LiveRow) -> M = {
                        unsafeDowncast($0, to: SectionedRow<M, P.Value>.self).object
                    }
                    return SectionedChangeSet(
                        LiveSections(taken.new, length: length, key: value, element: element),
                        previous: LiveSections(taken.old, length: length, key: value, element: element),
                        ChangeSet(taken, element), length: length)
                }
            })
    }
}
