import Tandem

/// A model's table on the server, for direct reads and writes.
///
/// For example:
///
/// ```swift
/// let table = try sync.remoteTable(Card.self)
/// for try await card in table.objects(where: { $0.points > 100 }) { print(card.shop) }
/// ```
///
/// The table does not use the store or the queue, and fails without a network. In the returned objects, the local ID
/// equals the server ID. References use server IDs, and local-only properties have their defaults. To store the
/// server's objects, pull.
public struct RemoteTable<M: Model>: Sendable {
    let context: SyncContext
    let coder: ItemCoder

    init(context: SyncContext, settings: TableSettings) {
        self.context = context
        coder = context.coder(of: settings)
    }

    var remote: any Remote { context.remote }
    var name: RemoteTableName { coder.table }

    // MARK: Reading

    /// Returns the server's objects in the order of their IDs, fetched page by page on demand.
    public func objects() -> RemoteObjects<M> {
        RemoteObjects(table: self, query: PullQuery(M.self))
    }

    /// Returns the server's objects that match a filter. The limits of a pull's filter apply.
    ///
    /// - Parameter filter: Returns the condition from the model's properties: `{ $0.points > 100 }`.
    public func objects(where filter: (M.Columns) -> some PredicateExpression<M>) -> RemoteObjects<M> {
        RemoteObjects(table: self, query: PullQuery(M.self, where: filter))
    }

    /// Returns the object with a server ID; `nil` if the server has none, or has deleted it.
    ///
    /// - Parameter id: The object's key on the server.
    /// - Throws: ``SyncError`` if there was no valid response, or if the object can't be read; `CancellationError`.
    public func find(_ id: ServerID) async throws -> M? {
        guard let item = try await item(id), !item.isDeleted else { return nil }
        return try object(item)
    }

    // MARK: Writing

    /// Creates an object on the server. It gets its local ID if the client creates the IDs.
    ///
    /// - Parameter object: The values to send.
    /// - Returns: The object as the server has it now.
    /// - Throws: ``SyncError/Code/conflict`` if its ID is taken.
    @discardableResult
    public func insert(_ object: M) async throws -> M {
        let settings = try context.settings(of: M.__definition.table)
        let id = settings.identity == .client ? key(of: object) : nil
        let item = try await outgoing(object, id: id, version: nil)
        return try await whole(ask { () async throws(RemoteFailure) in try await remote.insert(item) }, id: id)
    }

    /// Writes an object to the server if the server still has the object's version. Without a version, it overwrites
    /// any version. The members that the model does not know are fetched first and sent again.
    ///
    /// - Parameter object: The values to send, with the server ID and the version of a fetched object.
    /// - Returns: The object as the server has it now.
    /// - Throws: ``SyncError/Code/conflict`` if another client has changed it; ``SyncError/Code/deletedOnServer``;
    ///   ``SyncError/Code/refused`` if there is no such object.
    @discardableResult
    public func update(_ object: M) async throws -> M {
        let id = key(of: object)
        let there = try await item(id)
        guard there?.isDeleted != true else { throw SyncError(.gone, table: name, url: coder.url) }
        let item = try await outgoing(object, id: id, version: object.version, knowing: there)
        return try await whole(ask { () async throws(RemoteFailure) in try await remote.update(item) }, id: id)
    }

    /// Deletes an object on the server if the server still has the object's version. Without a version, it deletes any
    /// version. Succeeds if the object does not exist.
    ///
    /// - Parameter object: An object with a server ID.
    /// - Throws: ``SyncError/Code/conflict`` if another client has changed it.
    public func delete(_ object: M) async throws {
        let item = OutgoingItem(table: name, id: key(of: object), version: object.version)
        do throws(RemoteFailure) {
            let response = try await remote.delete(item)
            context.pause.record(backoff: response.backoff, at: context.options.clock.now())
        } catch {
            switch error {
            case .gone, .notFound: return
            default: throw context.thrown(for: error, coder: coder)
            }
        }
    }

    /// Restores an object that the server has deleted, with the given values.
    ///
    /// - Parameter object: The values to send, with the server ID of the deleted object.
    /// - Returns: The object as the server has it now.
    /// - Throws: ``SyncError/Code/refused`` if the server keeps no tombstone of it.
    @discardableResult
    public func undelete(_ object: M) async throws -> M {
        let id = key(of: object)
        let there = try await item(id)
        var item = try await outgoing(object, id: id, version: there?.version, knowing: there)
        let sent = item
        let response = try await ask { () async throws(RemoteFailure) in try await remote.undelete(sent) }
        guard !response.tookValues else { return try await whole(response, id: id) }
        item.version = response.item?.version ?? response.version
        let update = item
        return try await whole(ask { () async throws(RemoteFailure) in try await remote.update(update) }, id: id)
    }
}

// MARK: -

extension RemoteTable {
    private func key(of object: M) -> ServerID { object.serverID ?? ServerID(object.localID.rawValue) }

    private func item(_ id: ServerID) async throws -> RemoteItem? {
        try await ask { () async throws(RemoteFailure) in try await remote.find(name, key: .id(id)) }
    }

    private func ask<T>(_ request: () async throws(RemoteFailure) -> T) async throws -> T {
        do throws(RemoteFailure) {
            return try await request()
        } catch {
            throw context.thrown(for: error, coder: coder)
        }
    }

    /// Returns the object from a response, or requests it if the response does not contain it.
    private func whole(_ response: RemoteResponse, id: ServerID?) async throws -> M {
        context.pause.record(backoff: response.backoff, at: context.options.clock.now())
        if let item = response.item { return try object(item) }
        guard let id, let item = try await item(id) else {
            throw SyncError(
                .invalidResponse, message: "The response does not contain the stored object.",
                advice: "Report it to the server's operator.", table: name.rawValue, url: coder.url)
        }
        return try object(item)
    }

    private func outgoing(
        _ object: M, id: ServerID?, version: String?, knowing there: RemoteItem? = nil
    ) async throws -> OutgoingItem {
        let values = try await namingServerIDs(ModelValues.values(of: object))
        do throws(RequestEncodingError) {
            let members = try coder.members(of: values)
            let names = Set(members.map(\.key))
            return OutgoingItem(
                table: name, id: id, version: version, members: members, changed: names,
                unknown: there?.members.filter { !names.contains($0.key) } ?? [])
        } catch {
            throw SyncError(.notEncodable(error), table: name, url: coder.url)
        }
    }

    /// Returns values with references by server IDs, as far as these are known.
    private func namingServerIDs(_ values: [String: StorageValue]) async throws -> [String: StorageValue] {
        let references = coder.sent
        return try await context.store.read { local in
            var values = values
            for property in references {
                guard let target = property.targetModel?.table else { continue }
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

    /// Returns an item as a value of the model.
    func object(_ item: RemoteItem) throws -> M {
        let page = try PageItems.decode(item, coder: coder)
        let isMissing = M.__definition.properties.first { property in
            page.values[property.name] == nil && property.appendDefault == nil && !property.isLocalOnly
        }
        if let isMissing {
            throw SyncError(
                .invalidResponse, message: "The item \(item.id) has no value for it.",
                advice: "Give the property a default, or make it optional.", table: name.rawValue,
                url: coder.url, property: isMissing.wireName)
        }
        return try ModelValues.object(
            M.self, values: page.values, localID: LocalID(item.id.rawValue), serverID: item.id, version: item.version,
            updatedAt: item.updatedAt?.date)
    }
}

extension SyncContext {
    /// Returns a model's table on the server, for direct reads and writes.
    ///
    /// - Parameter model: The model of the objects.
    /// - Throws: ``SyncError/Code/unknownModel`` if the store was not opened with the model, or if the model is
    ///   local-only.
    public func remoteTable<M: Model>(_ model: M.Type) throws -> RemoteTable<M> {
        RemoteTable(context: self, settings: try settings(of: M.__definition.table))
    }
}
