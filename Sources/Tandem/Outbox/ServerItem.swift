import Foundation

/// The server's state of one object, decoded for its model.
public struct ServerItem: Sendable {
    /// The object's key on the server.
    public var serverID: ServerID
    /// The server's concurrency token, or `nil` if the table has none.
    public var version: String?
    /// The time at which the server created the object.
    public var createdAt: Date?
    /// The time of the last change on the server.
    public var updatedAt: Date?
    /// Whether the item is a tombstone.
    public var isDeleted: Bool
    /// The values by the properties' names in Swift, in their stored form, with references by server IDs. A missing
    /// property is unknown.
    public var values: [String: StorageValue]
    /// The members that the model does not know, as the remote writes them, or `nil` if there are none.
    public var extras: [UInt8]?
    /// The whole item in a form that the remote can read again, even after a change of the model. It is encoded at each
    /// access, because most items never need it.
    public var source: [UInt8] {
        get { makeSource() }
        set { makeSource = { newValue } }
    }
    private var makeSource: @Sendable () -> [UInt8]
    /// The reason why the item can't be read for the model, or `nil` if it can. An unreadable item is kept aside, and
    /// its ``values`` are meaningless.
    public var unreadable: TandemError?
    /// Whether the item was read from a ``KeptItem``, and not from a response. A newer one may have been kept since.
    public var wasKept = false
    /// Whether an undelete restored the object on a server that does not store values of deleted objects. The server's
    /// values are then not a change, and all local values must still be sent.
    public var wasUndeleted = false

    /// Creates an item.
    public init(
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

/// The outcome of a response for its operation.
public enum AnswerOutcome: Hashable, Sendable {
    /// The operation is done. The object is synced, or waits for the upload of files.
    case done
    /// The sent changes are done. Later changes wait to be sent, on the new version.
    case stillPending
    /// The operation is done, but the server's values clash with another object's unique value here. See
    /// ``KeptItem/Reason/refused``.
    case refusedHere
    /// The attempt is no longer under way. Nothing was changed.
    case stale
}
