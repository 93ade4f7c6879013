/// Observation of a query: its current result, and the changes of each commit.
///
/// For example:
///
/// ```swift
/// let cards = store.objects(Card.self).where { $0.shop.matches(text) }.sorted(by: \.shop)
/// let subscription = cards.changesetPublisher.on(.main).sink(receiveCompletion: { _ in }) { change in … }
/// ```
///
/// The cost of a change depends on the query: see <doc:LiveQueries>. ``explain()`` describes it for a query.
extension Results {
    /// Publishes the objects as an immutable collection, for each state of the result.
    public var collectionPublisher: LivePublisher<LiveCollection<M>> {
        changesetPublisher.mapOutput { $0.results }
    }

    /// Publishes the changes: removed, inserted, changed and moved objects, by index and local ID, with the old values
    /// and the new collection. The first change set has all objects as insertions.
    public var changesetPublisher: LivePublisher<ChangeSet<M>> {
        query.listPublisher(
            maker: .objects(query.model, observed: query.observedMask(in: store.schema)), on: store
        ) { $0.object(M.self) }
    }

    /// Publishes references to the objects, for lists of a million objects. An object is read only when it is shown.
    ///
    /// ```swift
    /// let subscription = cards.referencesPublisher.on(.main).sink(receiveCompletion: { _ in }) { references in
    ///     let visible = try? references[first..<last].compactMap { try store.object($0) }
    /// }
    /// ```
    ///
    /// An object that is read later may have changed, or may have been deleted.
    public var referencesPublisher: LivePublisher<LiveCollection<Reference<M>>> {
        referenceChangesetPublisher.mapOutput { $0.results }
    }

    /// Publishes the changes of a list of references: see ``referencesPublisher``.
    public var referenceChangesetPublisher: LivePublisher<ChangeSet<Reference<M>>> {
        query.listPublisher(
            maker: .references(query.model, observed: query.observedMask(in: store.schema)), on: store
        ) { Reference(localID: $0.localID) }
    }

    /// Publishes the number of objects, whenever it changes.
    public var countPublisher: LivePublisher<Int> { query.countPublisher(on: store) }

    /// Publishes an aggregate, whenever it changes: `publisher(of: .sum(\.points))`.
    ///
    /// - Parameter aggregate: The aggregate of the objects, such as `.count`.
    public func publisher<Value: Sendable>(of aggregate: Aggregate<M, Value>) -> LivePublisher<Value> {
        query.aggregatePublisher(aggregate.node, on: store) { [path = store.path] in
            try aggregate.value($0, column: 0, store: path)
        }
    }

    /// Returns the same query, whose publishers report modifications only if one of the given properties has changed.
    ///
    /// The publishers also report a modification of a property by which the query sorts. They still report objects that
    /// are inserted, removed or moved.
    ///
    /// ```swift
    /// store.objects(Card.self).observing(\.shop, \.isSynced).changesetPublisher
    /// ```
    ///
    /// The properties can include those of the state: `isSynced`, `serverID`, `updatedAt`. In a delivered object, the
    /// values of other properties date from the last report about this object, or are newer.
    ///
    /// - Precondition: The properties are the model's own, and not behind a reference.
    /// - Parameter property: The properties whose changes are reported.
    public func observing<each P: PropertyExpression>(_ property: repeat KeyPath<M.Columns, each P>) -> Results {
        var columns: [ColumnPath] = []
        for path in repeat each property { columns.append(M.Columns()[keyPath: path].__column) }
        precondition(
            columns.allSatisfy(\.steps.isEmpty),
            "observing(_:) takes the model's own properties. Observe a referenced model with its own query.")
        var results = self
        results.query.observed = columns
        return results
    }
}
