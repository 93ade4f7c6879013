import Foundation

/// A server's state of one object, decoded for its model.
package struct ServerItem: Sendable {
    /// The object's ID on the server.
    package var serverID: ServerID
    /// The server's concurrency token; `nil` if the table has none.
    package var version: String?
    /// The time when the server created the object.
    package var createdAt: Date?
    /// The time of the last change on the server.
    package var updatedAt: Date?
    /// Whether it is a tombstone.
    package var isDeleted: Bool
    /// The server's values by the properties' names in Swift, in stored form, with references by server IDs. A missing
    /// value is unknown.
    package var values: [String: StorageValue]
    /// The members that the model does not know, as the remote writes them; `nil` if there are none.
    package var extras: [UInt8]?
    /// The whole item in the remote's format. The remote can decode it even after the model has changed. Each access
    /// encodes it, because most items never need it.
    package var source: [UInt8] {
        get { makeSource() }
        set { makeSource = { newValue } }
    }
    private var makeSource: @Sendable () -> [UInt8]
    /// The reason why the item can't be decoded for the model, or `nil` if it can. The item is then deferred, and its
    /// ``values`` have no meaning.
    package var unreadable: TandemError?
    /// Whether it was read from a ``DeferredItem``, and not from a response. A newer one may have been deferred since.
    package var wasDeferred = false
    /// Whether an undelete restored the object on a server that keeps no values of deleted objects. The item's values
    /// are then not a remote change, and all local values must still be sent.
    package var wasUndeleted = false

    /// Creates an item.
    package init(
        serverID: ServerID, version: String? = nil, createdAt: Date? = nil, updatedAt: Date? = nil,
        isDeleted: Bool = false, values: [String: StorageValue] = [:], extras: [UInt8]? = nil,
        source: @autoclosure @escaping @Sendable () -> [UInt8] = []
    ) {
        self.serverID = serverID
        self.version = version
        self.createdAt = createdAt
        self.updatedAt = updatedAt
        self.isDeleted = isDeleted
        self.values = values
        self.extras = extras
        makeSource = source
    }

    /// Returns the values of the synced properties, by their positions in the model.
    func values(in table: TableLayout) -> [(property: Int, value: StorageValue)] {
        table.definition.properties.enumerated().compactMap { index, property in
            guard !property.isLocalOnly, let value = values[property.name] else { return nil }
            return (index, value)
        }
    }
}

/// The result of applying a response to its operation.
package enum ResponseOutcome: Hashable, Sendable {
    /// The operation is done. The object is synced, or waits for uploads of its files.
    case done
    /// The sent changes are done. Later changes wait to be sent, on the new version.
    case stillPending
    /// The operation is done, but the server's values clash with another object's unique value here. See
    /// ``DeferredItem/Reason/refused``.
    case refusedHere
    /// The attempt is no longer under way. Nothing was changed.
    case stale
}
