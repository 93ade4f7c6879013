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
/// A model's values are plain values, safe on every thread. A value does not change when the store does: read it
/// again, or observe it.
///
/// ## Topics
/// ### Identity
/// - ``localID``
/// - ``serverID``
/// ### How it stands with the server
/// - ``isSynced``
/// - ``isDeleted``
/// - ``version``
/// - ``createdAt``
/// - ``updatedAt``
public protocol Model: Identifiable, Hashable, Sendable, Codable where ID == LocalID {
    /// The model's properties as queries name them: `$0.shop` in `where`, `\.shop` in `sorted(by:)`.
    associatedtype Columns: ModelColumns where Columns.Root == Self

    /// Written by `@Model`: the names, types and attributes of the model's properties.
    static var __definition: ModelDefinition { get }

    /// Written by `@Model`: the IDs and the state of this value.
    var __state: ObjectState { get set }

    /// Written by `@Model`: reads the properties from a row, in the order of the definition.
    init(__row row: RowReader) throws

    /// Written by `@Model`: appends the properties to a row, in the order of the definition.
    func __append(to row: RowBuffer)
}

/// The properties of a model as queries name them. Written by `@Model`.
public protocol ModelColumns: Sendable {
    associatedtype Root: Model
    init()
}

extension Model {
    /// The primary key: made on the device, or taken from the server ID of an object that came from a server.
    /// It never changes.
    public var localID: LocalID { __state.localID }

    /// The local ID.
    public var id: LocalID { __state.localID }

    /// The server's key, `nil` until the server has acknowledged the object.
    public var serverID: ServerID? { __state.serverID }

    /// Whether the server holds exactly what the store held when this value was read: no operation pending,
    /// no file to upload, and a server ID.
    public var isSynced: Bool { __state.isSynced }

    /// Whether the object is deleted here and the server has not acknowledged it yet.
    public var isDeleted: Bool { __state.isDeleted }

    /// The server's opaque concurrency token for what was last received.
    public var version: String? { __state.version }

    /// When the server created the object, by the server's clock; `nil` until it has spoken.
    public var createdAt: Date? { __state.createdAt }

    /// When the server last changed the object, by the server's clock; `nil` until it has spoken.
    public var updatedAt: Date? { __state.updatedAt }

    /// A reference to this object, to be kept in another one.
    public var reference: Reference<Self> { Reference(self) }

    /// This object with a local ID chosen by the app: for data that brings its own keys.
    ///
    /// The ID must be unique among the model's objects; inserting a second one with it throws. The copy is a new
    /// object that no server knows.
    public func identified(by localID: LocalID) -> Self {
        var copy = self
        copy.__state = ObjectState(localID: localID)
        return copy
    }
}
