import Tandem

// The data of a store belongs to one user and one server. The store records both.

extension SyncContext {
    /// The treatment of data that belongs to another user or another server.
    public enum AdoptChoice: Hashable, Sendable {
        /// Removes the data, unsent changes included. Local-only models stay.
        case purge
        /// Keeps the data and assigns it to this user. Unsent changes are sent as this user. The next pull fetches
        /// everything again. Another server is assumed to have the same objects at the same versions, as a server that
        /// moved has.
        case keep
    }

    /// The user that owns the store's data; `nil` if it was never synced for a user.
    public var owner: String? {
        get async throws { try await store.read { try $0.syncSetting(.user) } }
    }

    /// The server that the store's data belongs to, by its ``Options/serverName``; `nil` if it was never named.
    public var server: String? {
        get async throws { try await store.read { try $0.syncSetting(.server) } }
    }

    /// Assigns data that belongs to another user or another server to this context.
    ///
    /// For example:
    ///
    /// ```swift
    /// do {
    ///     try await sync.synchronize()
    /// } catch SyncError.Code.otherUser {
    ///     try await sync.adopt(.purge)
    /// }
    /// ```
    ///
    /// The change is one transaction. The method waits for uploads of this process. For uploads of another process it
    /// waits for ``Options/patience``.
    ///
    /// - Parameter choice: The treatment of the store's current data.
    /// - Throws: ``SyncError/Code/busy``; ``SyncError/Code/unknownModel`` if the store holds data of a model that it
    ///   was not opened with; `TandemError` with the code `deleteDenied` if references prevent the removal of an object
    ///   that the server never knew. Nothing is changed then.
    public func adopt(_ choice: AdoptChoice) async throws {
        let (models, user, server) = (store.sentModels, user, options.serverName)
        try await withExclusiveSync(checkingOwner: false, isExchange: false, stoppingUploads: true) {
            try await store.write { store in
                if let table = try store.exchangedTablesWithoutModel().first {
                    throw SyncError(
                        .unknownModel,
                        message: "The store holds data of the table \(table), which it was opened without.",
                        advice: "Open it with all its models, or delete this one in a migration.", table: table)
                }
                switch choice {
                case .purge: try Self.purgeAll(models, in: store)
                case .keep: for model in models { try store.removeSyncTokens(of: model.table) }
                }
                try store.setSyncSetting(.user, to: user)
                try store.setSyncSetting(.server, to: server)
                // The pending deletes of files belong to another user or another server.
                try store.forgetUnwantedFiles()
            }
        }
    }

    /// Drops all of some models' objects, within a transaction.
    private static func purgeAll(_ models: [ModelDefinition], in local: any LocalTransaction) throws {
        // Objects that the server has do not deny a removal.
        for model in models { _ = try removeAllSynced(in: model.table, where: nil, local: local) }
        // Objects of a model may deny the removal of another model's objects, so all are removed together.
        _ = try local.dropOperations(in: models.map(\.table), where: nil)
        for model in models {
            _ = try purge(
                PullQuery(table: model.table, queryID: nil), filter: nil, name: model.wireName, force: true, in: local)
        }
    }
}
