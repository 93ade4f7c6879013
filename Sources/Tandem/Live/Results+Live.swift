/// Watching a query: what it finds now, and what each commit changes of that.
///
/// For example:
///
/// ```swift
/// let cards = store.objects(Card.self).where { $0.shop.matches(text) }.sorted(by: \.shop)
/// let subscription = cards.changesetPublisher.on(.main).sink(receiveCompletion: { _ in }) { change in … }
/// ```
///
/// What a change costs depends on the query: see <doc:LiveQueries>. ``explain()`` says it of one.
extension Results {
    /// Publishes the objects: a collection that stays as it is while later ones come.
    public var collectionPublisher: LivePublisher<LiveCollection<M>> {
        changesetPublisher.mapRecipe { $0.results }
    }

    /// Publishes what changes: which objects left, came, changed and moved, by index and local ID, with the old values
    /// and the new collection. The first change set has all objects as insertions.
    public var changesetPublisher: LivePublisher<ChangeSet<M>> {
        listPublisher(
            RowReading(
                maker: .objects(M.self, observed: query.observedMask(in: store.schema)), section: nil,
                order: RowOrder(query.order))
        ) { unsafeDowncast($0, to: ObjectRow<M>.self).object }
    }

    /// Publishes references to the objects, for lists of a million: an object is read when it is looked at.
    ///
    /// ```swift
    /// let subscription = cards.referencesPublisher.on(.main).sink(receiveCompletion: { _ in }) { references in
    ///     let visible = try? references[first..<last].compactMap { try store.object($0) }
    /// }
    /// ```
    ///
    /// An object read later is as it is then: it may have changed, or be gone.
    public var referencesPublisher: LivePublisher<LiveCollection<Reference<M>>> {
        referenceChangesetPublisher.mapRecipe { $0.results }
    }

    /// Publishes what changes in a list of references: see ``referencesPublisher``.
    public var referenceChangesetPublisher: LivePublisher<ChangeSet<Reference<M>>> {
        listPublisher(
            RowReading(
                maker: .references(query.model, observed: query.observedMask(in: store.schema)), section: nil,
                order: RowOrder(query.order))
        ) {
            Reference(localID: $0.localID)
        }
    }

    /// Publishes the number of objects, whenever it changes.
    public var countPublisher: LivePublisher<Int> {
        LivePublisher(
            store: store,
            recipe: LiveRecipe { [query] _ in
                let part = CountPart(query)
                return LiveRecipe.Making(parts: [part]) { part.take() }
            })
    }

    /// Publishes an aggregate, whenever it changes: `publisher(of: .sum(\.points))`.
    public func publisher<Value: Sendable>(of aggregate: Aggregate<M, Value>) -> LivePublisher<Value> {
        LivePublisher(
            store: store,
            recipe: LiveRecipe { [query] store in
                let part = AggregatePart(query, aggregate)
                return LiveRecipe.Making(parts: [part]) { [path = store.path] in try part.take(path: path) }
            })
    }

    /// The same query, whose publishers tell of modifications only if one of some properties has changed. Objects that
    /// come, go or move are told of all the same.
    ///
    /// ```swift
    /// store.objects(Card.self).observing(\.shop, \.isSynced).changesetPublisher
    /// ```
    ///
    /// The properties may be those of the state: `isSynced`, `serverID`, `updatedAt`. Values of the others in the
    /// objects delivered are those of the last time that an object was told of, or later ones.
    ///
    /// - Precondition: The properties are the model's own, none behind a reference.
    public func observing<each P: PropertyExpression>(_ property: repeat KeyPath<M.Columns, each P>) -> Results {
        var columns: [ColumnPath] = []
        for path in repeat each property { columns.append(M.Columns()[keyPath: path].__column) }
        precondition(
            columns.allSatisfy(\.steps.isEmpty),
            "observing(_:) takes the model's own properties. Observe what is behind a reference by a query of its own.")
        var results = self
        results.query.observed = columns
        return results
    }

    private func listPublisher<Element: Sendable>(
        _ reading: RowReading, _ element: @escaping @Sendable (LiveRow) -> Element
    ) -> LivePublisher<ChangeSet<Element>> {
        LivePublisher(
            store: store,
            recipe: LiveRecipe { [query] store in
                let part = ListPart(LiveList(query, reading: reading, in: store.schema))
                return LiveRecipe.Making(parts: [part]) { ChangeSet(part.take(), element) }
            })
    }
}

extension ChangeSet {
    init(
        _ taken: (old: RowSlice, new: RowSlice, changes: RowChanges?),
        _ element: @escaping @Sendable (LiveRow) -> Element
    ) {
        let results = LiveCollection(taken.new, element: element)
        if let changes = taken.changes {
            self.init(previous: LiveCollection(taken.old, element: element), results: results, changes: changes)
        } else {
            self.init(initial: results)
        }
    }
}
