import Tandem

extension LocalReading {
    /// Goes through what is kept for a table's objects and can be received now, in the order of their server IDs.
    func forEachKeptItemWithoutOperation(in table: String, _ body: (KeptItem) throws -> Void) throws {
        var last: ServerID?
        while true {
            let items = try keptItemsWithoutOperation(in: table, after: last, limit: 500)
            for item in items { try body(item) }
            last = items.last?.serverID
            if items.count < 500 { return }
        }
    }
}

extension LocalWriting {
    /// Forgets what is kept of objects that are not here.
    func forgetKept(_ serverIDs: some Sequence<ServerID>, in table: String) throws {
        for serverID in serverIDs {
            // A tombstone of what is not here is the end of what was kept of it.
            _ = try receive(ServerItem(serverID: serverID, isDeleted: true), in: table, identity: .client)
        }
    }
}

extension LocalStore {
    /// The models that are exchanged with a server.
    var sentModels: [ModelDefinition] { models.filter { !$0.isLocalOnly } }
}
