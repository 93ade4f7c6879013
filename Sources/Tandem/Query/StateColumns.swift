import Foundation

/// The IDs and the state of an object in a query: `$0.serverID == nil`, `\.updatedAt`.
extension ModelColumns {
    /// The primary key.
    public var localID: Property<Root, LocalID> { state("localID", codec: Codec.of(LocalID.self)) }

    /// The primary key.
    public var id: Property<Root, LocalID> { localID }

    /// The server's key, or nil until the server has acknowledged the object.
    public var serverID: Property<Root, ServerID?> { state("serverID", codec: Codec.of(ServerID?.self)) }

    /// Whether the server holds exactly the store's state.
    public var isSynced: Property<Root, Bool> { state("synced", codec: Codec.of(Bool.self)) }

    /// Whether the object is deleted. Use it with ``Results/includingDeleted()``: other queries find no deleted
    /// objects.
    public var isDeleted: Property<Root, Bool> { state("deleted", codec: Codec.of(Bool.self)) }

    /// The server's opaque concurrency token.
    public var version: Property<Root, String?> { state("version", codec: Codec.of(String?.self)) }

    /// The time at which the server created the object.
    public var createdAt: Property<Root, Date?> { state("createdAt", codec: Codec.of(Date?.self)) }

    /// The time at which the server last changed the object.
    public var updatedAt: Property<Root, Date?> { state("updatedAt", codec: Codec.of(Date?.self)) }

    private func state<Value>(_ name: String, codec: Codec<Value>) -> Property<Root, Value> {
        let column = ColumnPath.Column.state(name, isOptional: codec.isOptional, isFloating: codec.kind.isFloating)
        return Property(column: ColumnPath(Root.__definition, column: column), codec: codec)
    }
}
