import Foundation
import Tandem

/// Objects as a server holds them, for tests that need no server. They are written as a pull writes them.
extension Store {
    /// Writes a server's state of an object, as a pull does. It queues no operation.
    ///
    /// For example, a change of a synced object queues an update:
    ///
    /// ```swift
    /// let card = try store.applyServerObject(Card(shop: "Лента", barcode: "1"), serverID: "a7", version: "1")
    /// try store.write { try $0.update(card) { $0.points = 10 } }
    /// #expect(try store.operations.operation(of: card)?.kind == .update)
    /// ```
    ///
    /// A new object has its server ID as local ID, unless another object has that local ID. References may contain
    /// server IDs or local IDs. Local-only properties of a new object have their defaults, and those of an existing one
    /// do not change.
    ///
    /// If the stored object has unsent changes, it does not change. The server's state is then kept beside it until the
    /// changes are sent.
    ///
    /// Inside a write block of the store, the function joins the block's transaction.
    ///
    /// - Parameters:
    ///   - object: The server's values.
    ///   - serverID: The object's ID on the server. By default it is the value's local ID.
    ///   - version: The server's concurrency token of this state.
    ///   - createdAt: The time when the server created the object. `nil` does not change a stored time.
    ///   - updatedAt: The time when the server last changed the object.
    /// - Returns: The stored object.
    /// - Throws: `TandemError.Code.duplicateValue` if another object has its value of a `@Unique` property.
    ///   `TandemError.Code.objectDeleted` if the object is deleted in the store, and the delete is not sent yet.
    ///   Nothing is then written.
    @discardableResult
    public func applyServerObject<M: Model>(
        _ object: M, serverID: ServerID? = nil, version: String? = nil, createdAt: Date? = nil, updatedAt: Date? = nil
    ) throws -> M {
        let serverID = serverID ?? ServerID(object.localID.rawValue)
        let item = ServerItem(
            serverID: serverID, version: version, createdAt: createdAt, updatedAt: updatedAt,
            values: ModelValues.values(of: object))
        return try write { tx in
            if case .refused(let error) = try tx.sync.applyServerItem(item, in: M.__definition.table) { throw error }
            // An object that was sent, and not acknowledged yet, has no server ID.
            let stored =
                try tx.object(ofType: M.self, forServerID: serverID)
                ?? tx.object(ofType: M.self, forPrimaryKey: LocalID(serverID.rawValue))
            guard let stored else {
                throw TandemError(
                    .objectDeleted, message: "The object \(serverID) is deleted, and the delete is not sent yet.",
                    advice: "Undelete the object, or acknowledge its delete first.", store: path,
                    model: M.__definition.name)
            }
            return stored
        }
    }

    /// Writes a server's states of objects in one transaction, as a pull does. Each server ID is the value's local ID.
    /// See ``applyServerObject(_:serverID:version:createdAt:updatedAt:)``.
    ///
    /// - Parameters:
    ///   - objects: The server's values.
    ///   - version: The server's concurrency token of each object.
    ///   - createdAt: The time when the server created the objects.
    ///   - updatedAt: The time when the server last changed the objects.
    /// - Throws: The errors for a single object. None of the objects is then written.
    public func applyServerObjects<M: Model>(
        _ objects: some Sequence<M>, version: String? = nil, createdAt: Date? = nil, updatedAt: Date? = nil
    ) throws {
        try write { tx in
            let sync = tx.sync
            for object in objects {
                let item = ServerItem(
                    serverID: ServerID(object.localID.rawValue), version: version, createdAt: createdAt,
                    updatedAt: updatedAt, values: ModelValues.values(of: object))
                if case .refused(let error) = try sync.applyServerItem(item, in: M.__definition.table) { throw error }
            }
        }
    }

    /// Removes an object that a server has deleted, as the tombstone in a pull does. References to it become
    /// unresolved.
    ///
    /// For example:
    ///
    /// ```swift
    /// try store.applyServerObject(Card(shop: "Лента", barcode: "1"), serverID: "a7")
    /// #expect(try store.applyServerDelete(of: Card.self, serverID: "a7"))
    /// #expect(try store.objects(Card.self).count() == 0)
    /// ```
    ///
    /// If the object has unsent changes, it stays. The tombstone is then kept beside it until the changes are sent.
    ///
    /// - Parameters:
    ///   - model: The object's model.
    ///   - serverID: The object's ID on the server.
    /// - Returns: Whether the object was removed.
    /// - Throws: `TandemError` if the store can't be written.
    @discardableResult
    public func applyServerDelete<M: Model>(of model: M.Type, serverID: ServerID) throws -> Bool {
        try write { tx in
            let tombstone = ServerItem(serverID: serverID, isDeleted: true)
            let receipt = try tx.sync.applyServerItem(tombstone, in: M.__definition.table)
            return if case .removed = receipt { true } else { false }
        }
    }
}
