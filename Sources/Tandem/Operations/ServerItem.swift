import Foundation

/// What a server has said of one object, read for the model that it belongs to.
package struct ServerItem: Sendable {
    /// The server's key of the object.
    package var serverID: ServerID
    /// The server's concurrency token; `nil` if the table has none.
    package var version: String?
    /// When the server made the object.
    package var createdAt: Date?
    /// When the server changed it last.
    package var updatedAt: Date?
    /// Whether it is a tombstone.
    package var isDeleted: Bool
    /// What the server holds, by the properties' names in Swift, in their stored form, with references by server IDs.
    /// What it does not name is not known.
    package var values: [String: StorageValue]
    /// The members that the model does not know, as the remote writes them; `nil` if there are none.
    package var extras: [UInt8]?
    /// The whole of it, as the remote can read it again, also when the model has changed since. It is written each time
    /// that it is asked for: of most items nobody does.
    package var source: [UInt8] {
        get { makeSource() }
        set { makeSource = { newValue } }
    }
    private var makeSource: @Sendable () -> [UInt8]
    /// Why it can't be read for the model, `nil` if it can: it is then deferred, and its ``values`` mean nothing.
    package var unreadable: TandemError?
    /// Whether it was read from a ``DeferredItem``, and not from an answer: a newer one may have been deferred since.
    package var wasDeferred = false
    /// Whether an undelete has brought it back from a server that keeps no values of what it deletes: what it holds is
    /// nobody's change, and all that is here has still to follow.
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

/// What became of an operation when its answer came.
package enum ResponseOutcome: Hashable, Sendable {
    /// It is done, and the object synced, or left to files that wait to be uploaded.
    case done
    /// The sent changes are done. Later changes wait to be sent, on the new version.
    case stillPending
    /// The operation is done, but the server's values clash with another object's unique value here. See
    /// ``DeferredItem/Reason/refused``.
    case refusedHere
    /// The attempt is no longer under way. Nothing was changed.
    case stale
}
