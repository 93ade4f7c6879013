import Foundation
import Tandem

/// One item as a server has it.
public struct RemoteItem: Sendable {
    /// A member of an item: its name on the wire, and its value.
    public typealias Member = (key: String, value: JSONNode)

    /// The server's key.
    public var id: ServerID
    /// The opaque token of this state of the item. Versions have no order, and any length. `nil` where the table has
    /// none: there the last write wins.
    public var version: String?
    /// When the server created the item, where it says so.
    public var createdAt: WireTimestamp?
    /// When the server last changed the item; `nil` from a table that does not keep it.
    public var updatedAt: WireTimestamp?
    /// Whether this is what is left of a deleted item.
    public var isDeleted: Bool
    /// Everything but the above: the model's properties and those that it does not know. No name occurs twice.
    public var members: [Member]

    /// An item as an answer tells it. The members are all but those that have a place of their own here.
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

    /// The value of a member, `nil` if there is none of this name.
    ///
    /// - Complexity: O(*n*) in the number of members.
    public subscript(member name: String) -> JSONNode? {
        members.first { ScalarText.isEqual($0.key, name) }?.value
    }
}

extension RemoteItem: Equatable {
    public static func == (lhs: Self, rhs: Self) -> Bool {
        lhs.id == rhs.id && lhs.version == rhs.version && lhs.createdAt == rhs.createdAt
            && lhs.updatedAt == rhs.updatedAt && lhs.isDeleted == rhs.isDeleted
            && JSONNode.object(lhs.members) == .object(rhs.members)
    }
}

/// What a server is asked to write.
public struct OutgoingItem: Sendable {
    /// The table that the item is in.
    public var table: RemoteTableName
    /// The key of the item; for an insert the one that it shall get, `nil` where the server makes one.
    public var id: ServerID?
    /// The version that the change was made on, `nil` to write whatever the server has.
    public var version: String?
    /// All properties of the object by their wire names, as ``WireFormat`` writes them.
    public var members: [RemoteItem.Member]
    /// The wire names of those that changed. A server that merges is sent no others.
    public var changed: Set<String>
    /// The members that the model does not know, as the server last sent them. A server that replaces whole items is
    /// sent them again, or it would lose them.
    public var unknown: [RemoteItem.Member]

    /// What is to be written, or, with nothing but a table, an ID and a version, to be deleted.
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

/// What a server answered to a write.
public struct RemoteAnswer: Sendable, Equatable {
    /// The item as it is now, with whatever the server changed in it; `nil` if the answer had no body.
    public var item: RemoteItem?
    /// The version that the item has now; the answer may have one without an item.
    public var version: String?
    /// The server's clock.
    public var serverDate: Date?
    /// Whether the server was given the values too. Only an undelete can leave them behind.
    public var tookValues: Bool

    /// An answer. Without an item, the item is looked up.
    public init(
        item: RemoteItem? = nil, version: String? = nil, serverDate: Date? = nil, tookValues: Bool = true
    ) {
        self.item = item
        self.version = version
        self.serverDate = serverDate
        self.tookValues = tookValues
    }
}
