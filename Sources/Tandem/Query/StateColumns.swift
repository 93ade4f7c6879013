import Foundation

/// The IDs and the state of an object in a query: `$0.serverID == nil`, `\.updatedAt`.
extension ModelColumns {
    /// The primary key.
    public var localID: Property<Root, LocalID> {
        Property(
            column: .localID(of: Root.__definition),
            encode: { .text($0.rawValue) }, read: { LocalID(try $0.text($1)) })
    }

    /// The primary key.
    public var id: Property<Root, LocalID> { localID }

    /// The server's key, or nil until the server has acknowledged the object.
    public var serverID: Property<Root, ServerID?> {
        Property(
            column: ColumnPath(Root.__definition, column: .state("serverID", isOptional: true, isFloating: false)),
            encode: { $0.map { .text($0.rawValue) } ?? .null },
            read: { $0.isNull($1) ? nil : ServerID(try $0.text($1)) })
    }

    /// Whether the server holds exactly the store's state.
    public var isSynced: Property<Root, Bool> { flag("synced") }

    /// Whether the object is deleted. Use it with ``Results/includingDeleted()``: other queries find no deleted
    /// objects.
    public var isDeleted: Property<Root, Bool> { flag("deleted") }

    /// The server's opaque concurrency token.
    public var version: Property<Root, String?> {
        let codec = Codec.of(String?.self)
        return Property(
            column: ColumnPath(Root.__definition, column: .state("version", isOptional: true, isFloating: false)),
            encode: { codec.storageValue($0) }, read: codec.read)
    }

    /// The time at which the server created the object.
    public var createdAt: Property<Root, Date?> { date("createdAt") }

    /// The time at which the server last changed the object.
    public var updatedAt: Property<Root, Date?> { date("updatedAt") }

    private func flag(_ name: String) -> Property<Root, Bool> {
        Property(
            column: ColumnPath(Root.__definition, column: .state(name, isOptional: false, isFloating: false)),
            encode: { .integer($0 ? 1 : 0) }, read: { $0.integer($1) != 0 })
    }

    private func date(_ name: String) -> Property<Root, Date?> {
        let codec = Codec.of(Date?.self)
        return Property(
            column: ColumnPath(Root.__definition, column: .state(name, isOptional: true, isFloating: true)),
            encode: { codec.storageValue($0) }, read: codec.read)
    }
}
