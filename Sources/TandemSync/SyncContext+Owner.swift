import Tandem

// A store's data is one user's, and of one server. Which it is stands in the store.

extension SyncContext {
    /// What becomes of data that is another user's, or of another server.
    public enum AdoptChoice: Hashable, Sendable {
        /// It goes, unsent changes too. Local-only models stay.
        case purge
        /// It stays, and is this user's from now on: what has not been sent is sent as theirs, and everything is fetched
        /// anew by the next pull. Another server is thought to have the same objects at the same versions, as one has
        /// that has moved.
        case keep
    }

    /// Whose data the store holds; `nil` if it was never synced for anybody.
    public var owner: String? {
        get async throws { try await store.read { try $0.syncSetting(.user) } }
    }

    /// The server that the store's data is of, as its remote names itself; `nil` if it was never synced.
    public var server: String? {
        get async throws { try await store.read { try $0.syncSetting(.remote) } }
    }

    /// Says what becomes of data that is another user's, or of another server: from now on it is this context's.
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
    /// All of it is one transaction.
    ///
    /// - Throws: ``SyncError/Code/busy``; ``SyncError/Code/unknownModel`` if the store holds data of a model that it was
    ///   not opened with; `TandemError` with the code `deleteDenied` if an object that the server never knew can't go,
    ///   because of what refers to it. Nothing is changed then.
    public func adopt(_ choice: AdoptChoice) async throws {
        let (models, user) = (store.sentModels, user)
        try await exclusively(checkingOwner: false, isExchange: false) {
            try await store.write { store in
                if let table = try store.exchangedTablesWithoutModel().first {
                    throw SyncError(
                        .unknownModel, "The store holds data of the table \(table), which it was opened without.",
                        advice: "Open it with all its models, or delete this one in a migration.", table: table)
                }
                switch choice {
                case .purge: try Self.purgeAll(models, in: store)
                case .keep: for model in models { try store.removeSyncTokens(of: model.table) }
                }
                try store.setSyncSetting(.user, user)
                try store.setSyncSetting(.remote, nil)
                // What waits to be deleted is another user's, or on another server.
                try (store as? any FileForgetting)?.forgetUnwantedFiles()
            }
        }
    }

    /// Drops all of some models' objects, within a transaction.
    private static func purgeAll(_ models: [ModelDefinition], in local: any LocalWriting) throws {
        // What the server has does not deny that anything goes.
        for model in models { _ = try removeAllSynced(in: model.table, where: nil, local) }
        // Those of one model may deny that those of another go: together they go.
        _ = try local.dropOperations(in: models.map(\.table), where: nil)
        for model in models {
            _ = try purge(PullQuery(table: model.table, queryID: nil), nil, model.wireName, force: true, in: local)
        }
    }

    /// Checks that the store's data may be exchanged with this server, as this user. Data of nobody becomes the user's.
    func checkOwner() async throws {
        let (owner, address) = try await store.read { store in
            (try store.syncSetting(.user), try store.syncSetting(.remote))
        }
        if let address, let here = remote.address, address != here {
            throw SyncError(
                .otherServer, "The store is synced with another server, \(address).",
                advice: "Give each server a store of its own, or call adopt(_:) once.", url: here)
        }
        guard owner != user else { return }
        guard owner == nil, let user else {
            throw SyncError(
                .otherUser, "The store holds another user's data.",
                advice: "Give each user a store of their own, or call adopt(_:) once.")
        }
        try await store.write { try $0.setSyncSetting(.user, user) }
    }
}

/// A server that the store is told of when it has answered for the first time: before anything of it is stored, and
/// not before, so that an address mistyped is forgotten.
struct NotedRemote: Remote {
    let remote: any Remote
    let store: any LocalStore

    var format: WireFormat { remote.format }
    var address: String? { remote.address }

    func url(of table: RemoteTableName) -> String? { remote.url(of: table) }

    func page(_ request: PageRequest) async throws(RemoteFailure) -> RemotePage {
        try await noted(remote.page(request))
    }

    func find(_ table: RemoteTableName, _ key: RemoteKey) async throws(RemoteFailure) -> RemoteItem? {
        try await noted(remote.find(table, key))
    }

    func insert(_ item: OutgoingItem) async throws(RemoteFailure) -> RemoteAnswer {
        try await noted(remote.insert(item))
    }

    func update(_ item: OutgoingItem) async throws(RemoteFailure) -> RemoteAnswer {
        try await noted(remote.update(item))
    }

    func delete(_ item: OutgoingItem) async throws(RemoteFailure) -> RemoteAnswer {
        try await noted(remote.delete(item))
    }

    func undelete(_ item: OutgoingItem) async throws(RemoteFailure) -> RemoteAnswer {
        try await noted(remote.undelete(item))
    }

    private func noted<Answer>(_ answer: Answer) async -> Answer {
        guard let address = remote.address else { return answer }
        do {
            let known = try await store.read { try $0.syncSetting(.remote) }
            if known == nil { try await store.write { try $0.setSyncSetting(.remote, address) } }
        } catch {
            // A store that can't be read or written says so when the answer is stored.
        }
        return answer
    }
}
