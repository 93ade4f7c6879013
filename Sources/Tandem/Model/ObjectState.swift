import Foundation

/// Tandem's data about an object besides its properties: its two IDs, and its state of synchronization.
///
/// `@Model` adds it to each model as a stored property. Apps read it through ``Model``'s properties, such as
/// ``Model/localID`` and ``Model/isSynced``. Only Tandem writes it.
public struct ObjectState: Hashable, Sendable {
    /// The primary key.
    public internal(set) var localID: LocalID

    /// The server's key, or `nil` until the server has acknowledged the object.
    public internal(set) var serverID: ServerID?

    /// The server's opaque concurrency token (ETag) of the version that was last received.
    public internal(set) var version: String?

    /// The time at which the server created the object, by the server's clock.
    public internal(set) var createdAt: Date?

    /// The time at which the server last changed the object, by the server's clock.
    public internal(set) var updatedAt: Date?

    /// The table's rowid, or 0 if the value was not read from a store. It is a hint that saves a look-up.
    var rowID: Int64 = 0

    /// Whether the server holds exactly the state that the store held when the value was read.
    public internal(set) var isSynced = false
    /// Whether the object is deleted locally, and the server has not acknowledged it yet.
    public internal(set) var isDeleted = false

    /// Creates the state of a new object, with a new local ID and no server data.
    public init() {
        localID = LocalIDGenerator.makeID()
    }

    init(localID: LocalID) {
        self.localID = localID
    }

    /// Compares two states. The row hint does not affect the result.
    public static func == (lhs: Self, rhs: Self) -> Bool {
        lhs.localID == rhs.localID && lhs.serverID == rhs.serverID && lhs.isSynced == rhs.isSynced
            && lhs.isDeleted == rhs.isDeleted
            && ScalarText.isEqual(lhs.version, rhs.version)
            && lhs.createdAt == rhs.createdAt && lhs.updatedAt == rhs.updatedAt
    }

    /// Hashes the local ID.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(localID)
    }
}
