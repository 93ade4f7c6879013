import Tandem

extension SyncContext {
    /// Checks that the store's data may be exchanged with this server, as this user. Data without an owner becomes the
    /// user's, and data without a server becomes this server's. A server without a name matches any other one, because
    /// its address may change.
    func checkOwner() async throws {
        let (owner, known) = try await store.read { (try $0.syncSetting(.user), try $0.syncSetting(.server)) }
        let name = options.serverName
        if let known, let name, known != name {
            throw SyncError(
                .otherServer, message: "The store is synced with another server, \(known), and not with \(name).",
                advice: "Give each server a store of its own, or call adopt(_:) once.")
        }
        guard owner == user || owner == nil else {
            throw SyncError(
                .otherUser, message: "The store holds another user's data.",
                advice: "Give each user a store of their own, or call adopt(_:) once.")
        }
        let (newUser, newName) = (owner == nil ? user : nil, known == nil ? name : nil)
        guard newUser != nil || newName != nil else { return }
        try await store.write { store in
            if let newUser { try store.setSyncSetting(.user, to: newUser) }
            if let newName { try store.setSyncSetting(.server, to: newName) }
        }
    }
}
