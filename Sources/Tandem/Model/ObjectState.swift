import Foundation

/// What Tandem keeps about an object beside its properties: its two IDs, and how it stands with the server.
///
/// `@Model` adds one to each model as a stored property. Apps read it through ``Model``'s properties
/// (``Model/localID``, ``Model/isSynced`` and so on); what is in it is Tandem's to set.
public struct ObjectState: Hashable, Sendable {
    /// The primary key.
    public internal(set) var localID: LocalID

    /// The server's key, `nil` until the server has acknowledged the object.
    public internal(set) var serverID: ServerID?

    /// The server's opaque concurrency token (ETag) for what was last received.
    public internal(set) var version: String?

    /// When the server created the object, by the server's clock.
    public internal(set) var createdAt: Date?

    /// When the server last changed the object, by the server's clock.
    public internal(set) var updatedAt: Date?

    /// The row in the table, 0 for a value that was not read from a store: a hint that saves a look-up.
    var rowID: Int64 = 0

    public internal(set) var isSynced = false
    public internal(set) var isDeleted = false

    /// The state of a new object: a local ID of its own, and nothing from a server.
    public init() {
        localID = LocalIDGenerator.makeID()
    }

    init(localID: LocalID) {
        self.localID = localID
    }

    /// The row hint does not make two values differ.
    public static func == (lhs: Self, rhs: Self) -> Bool {
        lhs.localID == rhs.localID && lhs.serverID == rhs.serverID && lhs.isSynced == rhs.isSynced
            && lhs.isDeleted == rhs.isDeleted
            && ScalarText.isEqual(lhs.version, rhs.version)
            && lhs.createdAt == rhs.createdAt && lhs.updatedAt == rhs.updatedAt
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(localID)
    }
}
