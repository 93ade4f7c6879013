import Foundation

/// An object that a store keeps: a struct marked with `@Model`.
///
/// For example:
///
/// ```swift
/// @Model struct Card {
///     @Folded var shop: String
///     @Indexed var barcode: String
///     var points: BigInt = 0
///     @LocalOnly var isPinned = false
///     var owner: Reference<Person>?
/// }
/// ```
///
/// Models are plain values, safe on every thread. A value does not change when the store does: read the object again,
/// or observe it.
///
/// ## Topics
/// ### Identity
/// - ``localID``
/// - ``serverID``
/// ### Synchronization
/// - ``isSynced``
/// - ``isDeleted``
/// - ``version``
/// - ``createdAt``
/// - ``updatedAt``
public protocol Model: Identifiable, Hashable, Sendable, Codable where ID == LocalID {
    /// The model's properties for queries: `$0.shop` in `where`, `\.shop` in `sorted(by:)`.
    associatedtype Columns: ModelColumns where Columns.Root == Self

    /// The names, types and attributes of the model's properties. `@Model` generates it.
    static var __definition: ModelDefinition { get }

    /// The IDs and the state of this value. `@Model` generates it.
    var __state: ObjectState { get set }

    /// Reads the properties from a row, in the order of the definition. `@Model` generates it.
    init(__row row: RowDecoder) throws

    /// Appends the properties to a row, in the order of the definition. `@Model` generates it.
    func __append(to row: RowEncoder)
}

/// The properties of a model for queries. `@Model` generates it.
public protocol ModelColumns: Sendable {
    /// The model with these properties.
    associatedtype Root: Model
    /// Creates the properties of the model.
    init()
}

extension Model {
    /// The primary key. It is generated on the device, or equals the server ID if the object came from a server. It
    /// never changes.
    public var localID: LocalID { __state.localID }

    /// The local ID.
    public var id: LocalID { __state.localID }

    /// The server's key, or `nil` until the server has acknowledged the object.
    public var serverID: ServerID? { __state.serverID }

    /// Whether the server held exactly the store's state when this value was read: no operation pending, no file to
    /// upload, and a server ID.
    public var isSynced: Bool { __state.isSynced }

    /// Whether the object is deleted locally, and the server has not acknowledged it yet.
    public var isDeleted: Bool { __state.isDeleted }

    /// The server's opaque concurrency token of the version that was last received.
    public var version: String? { __state.version }

    /// The time at which the server created the object, by the server's clock, or `nil` if it is unknown.
    public var createdAt: Date? { __state.createdAt }

    /// The time at which the server last changed the object, by the server's clock, or `nil` if it is unknown.
    public var updatedAt: Date? { __state.updatedAt }

    /// A reference to this object, to store in another object.
    public var reference: Reference<Self> { Reference(self) }

    /// Returns a copy of this object with a local ID chosen by the app.
    ///
    /// Use it for data that has its own keys.
    ///
    /// The ID must be unique among the model's objects: inserting a second object with the same ID throws an error. The
    /// copy is a new object that no server has stored.
    ///
    /// - Parameter localID: The local ID of the copy.
    public func identified(by localID: LocalID) -> Self {
        var copy = self
        copy.__state = ObjectState(localID: localID)
        return copy
    }
}
