/// Observation of a query by names: its current result, and the changes of each commit. The publishers are those of
/// ``Results``.
extension DynamicResults {
    /// Publishes the objects as an immutable collection, for each state of the result.
    public var collectionPublisher: LivePublisher<LiveCollection<DynamicObject>> {
        changesetPublisher.mapOutput { $0.results }
    }

    /// Publishes the changes: removed, inserted, changed and moved objects, by index and local ID.
    public var changesetPublisher: LivePublisher<ChangeSet<DynamicObject>> {
        let model = model
        return query.listPublisher(
            maker: .objects(model, observed: query.observedMask(in: store.schema)), on: store
        ) { $0.dynamicObject(model) }
    }

    /// Publishes the changes of a list of local IDs, for lists of a million objects. An object is read only when it is
    /// shown.
    public var localIDChangesetPublisher: LivePublisher<ChangeSet<LocalID>> {
        query.listPublisher(
            maker: .references(model, observed: query.observedMask(in: store.schema)), on: store
        ) { $0.localID }
    }

    /// Publishes the number of objects, whenever it changes.
    public var countPublisher: LivePublisher<Int> { query.countPublisher(on: store) }
}

extension LiveRow {
    /// Decodes the object of a row that ``RowMaker/objects(_:observed:)`` made.
    fileprivate func dynamicObject(_ model: ModelDefinition) -> DynamicObject {
        read(columns: model.selectWidth) { try DynamicObject(model, row: $0) }
    }
}
