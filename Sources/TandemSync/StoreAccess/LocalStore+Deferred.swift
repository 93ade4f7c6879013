import Tandem

extension LocalReadTransaction {
    /// Calls a closure for each deferred item of a table that can be received now.
    ///
    /// The items are in the order of their server IDs.
    func forEachDeferredItemWithoutOperation(in table: String, body: (DeferredItem) throws -> Void) throws {
        var last: ServerID?
        while true {
            let items = try deferredItemsWithoutOperation(in: table, after: last, limit: 500)
            for item in items { try body(item) }
            last = items.last?.serverID
            if items.count < 500 { return }
        }
    }
}

extension LocalTransaction {
    /// Removes deferred items without an object.
    func removeDeferred(_ serverIDs: some Sequence<ServerID>, in table: String) throws {
        for serverID in serverIDs {
            // A tombstone without an object removes the deferred item.
            _ = try applyServerItem(ServerItem(serverID: serverID, isDeleted: true), in: table, identity: .client)
        }
    }
}

extension LocalStore {
    /// The models that are exchanged with a server.
    var sentModels: [ModelDefinition] { models.filter { !$0.isLocalOnly } }
}
