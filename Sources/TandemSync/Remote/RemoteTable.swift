import Tandem

/// A model's table on the server, read and written directly.
///
/// For example:
///
/// ```swift
/// let table = try sync.remoteTable(Card.self)
/// for try await card in table.objects(where: { $0.points > 100 }) { print(card.shop) }
/// ```
///
/// Nothing of it is in the store, nothing waits to be sent, and without a network it fails. What it returns are values
/// whose local ID is the server's; references in them name objects by the server's IDs, and properties that are never
/// sent have their defaults. To keep what the server has, pull.
public struct RemoteTable<M: Model>: Sendable {
    let context: SyncContext
    let forms: ItemForms

    init(context: SyncContext, settings: TableSettings) {
        self.context = context
        forms = context.forms(of: settings)
    }

    var remote: any Remote { context.remote }
    var name: RemoteTableName { forms.table }

    // MARK: Reading

    /// The server's objects, fetched page by page as they are asked for, in the order of their IDs.
    public func objects() -> RemoteObjects<M> {
        RemoteObjects(table: self, query: PullQuery(M.self))
    }

    /// Those of the server's objects for which a filter holds. It may ask what a pull's filter may.
    public func objects(where filter: (M.Columns) -> some PredicateExpression<M>) -> RemoteObjects<M> {
        RemoteObjects(table: self, query: PullQuery(M.self, where: filter))
    }

    /// The object with a server ID; `nil` if the server has none, or has deleted it.
    public func find(_ id: ServerID) async throws -> M? {
        guard let item = try await item(id), !item.isDeleted else { return nil }
        return try object(item)
    }

    // MARK: Writing

    /// Creates an object on the server, under its local ID where the IDs are made here.
    ///
    /// - Returns: It as the server has it now.
    /// - Throws: ``SyncError/Code/conflict`` if its ID is taken.
    @discardableResult
    public func insert(_ object: M) async throws -> M {
        let settings = try context.settings(of: M.__definition.table)
        let id = settings.identity == .client ? key(of: object) : nil
        let item = try await outgoing(object, id, version: nil)
        return try await whole(ask { () async throws(RemoteFailure) in try await remote.insert(item) }, id)
    }

    /// Writes an object to the server, if that still has the version that the object was read with; whatever it has, if
    /// the object has no version. The members that the model does not know are asked for first, and sent along.
    ///
    /// - Returns: It as the server has it now.
    /// - Throws: ``SyncError/Code/conflict`` if somebody else has changed it; ``SyncError/Code/deletedOnServer``;
    ///   ``SyncError/Code/refused`` if there is no such object.
    @discardableResult
    public func update(_ object: M) async throws -> M {
        let id = key(of: object)
        let there = try await item(id)
        guard there?.isDeleted != true else { throw SyncError(.gone, table: name, url: forms.url) }
        let item = try await outgoing(object, id, version: object.version, knowing: there)
        return try await whole(ask { () async throws(RemoteFailure) in try await remote.update(item) }, id)
    }

    /// Deletes an object on the server, if that still has the version that the object was read with; whatever it has, if
    /// the object has no version. One that is gone is deleted.
    ///
    /// - Throws: ``SyncError/Code/conflict`` if somebody else has changed it.
    public func delete(_ object: M) async throws {
        let item = OutgoingItem(table: name, id: key(of: object), version: object.version)
        do throws(RemoteFailure) {
            _ = try await remote.delete(item)
        } catch {
            switch error {
            case .gone, .notFound: return
            default: throw context.thrown(for: error, forms)
            }
        }
    }

    /// Brings an object back that the server has deleted, with the values given.
    ///
    /// - Returns: It as the server has it now.
    /// - Throws: ``SyncError/Code/refused`` if the server keeps nothing of it.
    @discardableResult
    public func undelete(_ object: M) async throws -> M {
        let id = key(of: object)
        let there = try await item(id)
        var item = try await outgoing(object, id, version: there?.version, knowing: there)
        let sent = item
        let answer = try await ask { () async throws(RemoteFailure) in try await remote.undelete(sent) }
        guard !answer.tookValues else { return try await whole(answer, id) }
        item.version = answer.item?.version ?? answer.version
        let update = item
        return try await whole(ask { () async throws(RemoteFailure) in try await remote.update(update) }, id)
    }
}

// MARK: -

extension RemoteTable {
    private func key(of object: M) -> ServerID { object.serverID ?? ServerID(object.localID.rawValue) }

    private func item(_ id: ServerID) async throws -> RemoteItem? {
        try await ask { () async throws(RemoteFailure) in try await remote.find(name, .id(id)) }
    }

    private func ask<T>(_ request: () async throws(RemoteFailure) -> T) async throws -> T {
        do throws(RemoteFailure) {
            return try await request()
        } catch {
            throw context.thrown(for: error, forms)
        }
    }

    /// What an answer says the object is now; it is asked for if the answer does not say so.
    private func whole(_ answer: RemoteAnswer, _ id: ServerID?) async throws -> M {
        if let item = answer.item { return try object(item) }
        guard let id, let item = try await item(id) else {
            throw SyncError(
                .badAnswer, "The server does not say what it has made of the object.",
                advice: "Report it to the server's operator.", table: name.rawValue, url: forms.url)
        }
        return try object(item)
    }

    private func outgoing(
        _ object: M, _ id: ServerID?, version: String?, knowing there: RemoteItem? = nil
    ) async throws -> OutgoingItem {
        let values = try await namingServerIDs(ModelValues.values(of: object))
        do throws(Unsendable) {
            let members = try forms.members(of: values)
            let names = Set(members.map(\.key))
            return OutgoingItem(
                table: name, id: id, version: version, members: members, changed: names,
                unknown: there?.members.filter { !names.contains($0.key) } ?? [])
        } catch {
            throw SyncError(.unsendable(error), table: name, url: forms.url)
        }
    }

    /// Values in which references name objects as the server does, as far as it knows them.
    private func namingServerIDs(_ values: [String: StorageValue]) async throws -> [String: StorageValue] {
        let references = forms.sent
        return try await context.store.read { local in
            var values = values
            for property in references {
                guard let target = property.targetTable else { continue }
                switch (property.kind, values[property.name]) {
                case (.reference, .text(let id)?):
                    let known = try local.serverID(of: LocalID(id), in: target)
                    values[property.name] = .text(known?.rawValue ?? id)
                case (.references, let list?):
                    guard case .array(let nodes) = try property.node(of: list) else { continue }
                    values[property.name] = ModelValues.list(
                        try nodes.compactMap { node in
                            guard case .text(let id) = node else { return nil }
                            let known = try local.serverID(of: LocalID(id), in: target)
                            return LocalID(known?.rawValue ?? id)
                        })
                default: continue
                }
            }
            return values
        }
    }

    /// An item as a value of the model.
    func object(_ item: RemoteItem) throws -> M {
        let page = try PageItems.stored(item, forms)
        let isMissing = M.__definition.properties.first { property in
            page.values[property.name] == nil && property.appendDefault == nil && !property.isLocalOnly
        }
        if let isMissing {
            throw SyncError(
                .badAnswer, "The item \(item.id) has no value for it.",
                advice: "Give the property a default, or make it optional.", table: name.rawValue,
                url: forms.url, property: isMissing.wireName)
        }
        return try ModelValues.object(
            M.self, page.values, localID: LocalID(item.id.rawValue), serverID: item.id, version: item.version,
            updatedAt: item.updatedAt?.date)
    }
}

extension SyncContext {
    /// A model's table on the server, to be read and written directly.
    ///
    /// - Throws: ``SyncError/Code/unknownModel`` if the store was not opened with the model, or it is never sent.
    public func remoteTable<M: Model>(_ model: M.Type) throws -> RemoteTable<M> {
        RemoteTable(context: self, settings: try settings(of: M.__definition.table))
    }
}
