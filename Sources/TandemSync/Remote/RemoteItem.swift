import Foundation
import Tandem

/// An item of a server.
public struct RemoteItem: Sendable {
    /// A member of an item: its name on the wire, and its value.
    public typealias Member = (key: String, value: JSONNode)

    /// The server's key.
    public var id: ServerID
    /// The opaque token of this state of the item. Versions have no order, and any length. `nil` if the table has none:
    /// the last write then wins.
    public var version: String?
    /// The time when the server created the item, if known.
    public var createdAt: WireTimestamp?
    /// The time of the server's last change of the item; `nil` if the table does not keep it.
    public var updatedAt: WireTimestamp?
    /// Whether this is the tombstone of a deleted item.
    public var isDeleted: Bool
    /// All other members: the model's properties and unknown ones. No name occurs twice.
    public var members: [Member]

    /// Creates an item from a response. `members` excludes those that are parameters of their own.
    ///
    /// - Parameters:
    ///   - id: The item's key on the server.
    ///   - version: The item's version, if the table has versions.
    ///   - createdAt: The time when the item was created, if the server has sent it.
    ///   - updatedAt: The time of the last change, if the server has sent it.
    ///   - isDeleted: Whether the item is a tombstone.
    ///   - members: The values, by their wire names.
    public init(
        id: ServerID, version: String? = nil, createdAt: WireTimestamp? = nil, updatedAt: WireTimestamp? = nil,
        isDeleted: Bool = false, members: [Member] = []
    ) {
        self.id = id
        self.version = version
        self.createdAt = createdAt
        self.updatedAt = updatedAt
        self.isDeleted = isDeleted
        self.members = members
    }

    /// Returns the value of a member; `nil` if there is no member of this name.
    ///
    /// - Complexity: O(*n*) in the number of members.
    public subscript(member name: String) -> JSONNode? {
        members.first { ScalarText.isEqual($0.key, name) }?.value
    }

    /// Returns whether a look-up of a key may find the item.
    package func matches(_ key: RemoteKey) -> Bool {
        switch key {
        case .id(let id): self.id == id
        case .property(let name, let value): self[member: name] == .text(value)
        }
    }
}

extension [RemoteItem] {
    /// Decodes the items of a list, in which no ID may occur twice.
    ///
    /// - Parameters:
    ///   - nodes: The elements of the list.
    ///   - repeated: The failure if two items have the same ID.
    ///   - decode: Decodes an item.
    package init(
        _ nodes: [JSONNode], repeated: @autoclosure () -> RemoteFailure,
        decode: (JSONNode) throws(RemoteFailure) -> RemoteItem
    ) throws(RemoteFailure) {
        self = []
        reserveCapacity(nodes.count)
        var ids = Set<ServerID>(minimumCapacity: nodes.count)
        for node in nodes {
            let item = try decode(node)
            guard ids.insert(item.id).inserted else { throw repeated() }
            append(item)
        }
    }
}

extension RemoteItem: Equatable {
    /// Returns whether two values are equal.
    public static func == (lhs: Self, rhs: Self) -> Bool {
        lhs.id == rhs.id && lhs.version == rhs.version && lhs.createdAt == rhs.createdAt
            && lhs.updatedAt == rhs.updatedAt && lhs.isDeleted == rhs.isDeleted
            && JSONNode.object(lhs.members) == .object(rhs.members)
    }
}

/// An item to write to a server.
public struct OutgoingItem: Sendable {
    /// The table of the item.
    public var table: RemoteTableName
    /// The key of the item. For an insert: the key to assign, or `nil` if the server creates it.
    public var id: ServerID?
    /// The version that the change is based on; `nil` to overwrite any version.
    public var version: String?
    /// All properties of the object by their wire names, as ``WireFormat`` writes them.
    public var members: [RemoteItem.Member]
    /// The wire names of the changed members. A server that merges receives only these.
    public var changed: Set<String>
    /// The members that the model does not know, as the server last sent them. A server that replaces whole items
    /// receives them again, because it would otherwise lose them.
    public var unknown: [RemoteItem.Member]

    /// Creates an item to write, or with only a table, an ID and a version, an item to delete.
    ///
    /// - Parameters:
    ///   - table: The item's table.
    ///   - id: The item's key on the server; `nil` if the server creates it.
    ///   - version: The version that the server must still have; `nil` for any.
    ///   - members: All values, by their wire names.
    ///   - changed: The wire names of the changed members.
    ///   - unknown: The members that the server has sent and the model does not have.
    public init(
        table: RemoteTableName, id: ServerID?, version: String? = nil, members: [RemoteItem.Member] = [],
        changed: Set<String> = [], unknown: [RemoteItem.Member] = []
    ) {
        self.table = table
        self.id = id
        self.version = version
        self.members = members
        self.changed = changed
        self.unknown = unknown
    }
}

/// The response to a write.
public struct RemoteResponse: Sendable, Equatable {
    /// The current item, including the server's own changes; `nil` if the response had no body.
    public var item: RemoteItem?
    /// The current version of the item. The response may have a version without an item.
    public var version: String?
    /// The server's clock.
    public var serverDate: Date?
    /// Whether the server has received the values. Only an undelete can omit them.
    public var tookValues: Bool
    /// The time for which the server asks clients to send no further requests of their own accord; `nil` without one.
    public var backoff: Duration?

    /// Creates a response. Without an item, the caller looks the item up.
    ///
    /// - Parameters:
    ///   - item: The item as the server has it now, if the response had it.
    ///   - version: The item's version, if the response had it.
    ///   - serverDate: The server's clock, if the response had it.
    ///   - tookValues: Whether the server has applied the values of the request.
    ///   - backoff: The requested pause of clients, if any.
    public init(
        item: RemoteItem? = nil, version: String? = nil, serverDate: Date? = nil, tookValues: Bool = true,
        backoff: Duration? = nil
    ) {
        self.item = item
        self.version = version
        self.serverDate = serverDate
        self.tookValues = tookValues
        self.backoff = backoff
    }
}
