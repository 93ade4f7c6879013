import Tandem

/// Who makes the IDs of a table's objects.
public enum IdentityPolicy: Hashable, Sendable {
    /// This side does: an object's server ID is its local ID. A lost answer never makes a second object.
    case client
    /// The server does.
    ///
    /// - Parameter lookUp: A text property of the server's table, by its wire name, that carries the local ID there: an
    ///   insert whose answer was lost is looked up by it before it is sent again. Without one a lost answer can make a
    ///   second object.
    case server(lookUp: String?)
}

/// What a server's table keeps.
public struct TableFeatures: Hashable, Sendable {
    /// Whether deleted items stay as tombstones, which a pull fetches.
    public var softDelete = true
    /// Whether items have versions. Without them the last write wins.
    public var versions = true
    /// Whether items have `updatedAt`. Without it there is no incremental pull.
    public var updatedAt = true

    /// All of it.
    public init() {}
}

/// What a context was told of a model's table.
struct TableSettings: Sendable {
    let model: ModelDefinition
    var identity = IdentityPolicy.client
    var features = TableFeatures()
    var conflicts = ConflictRule.standard
    /// The forms in which attachments are sent, by the names of their properties in Swift.
    var attachments: [String: AttachmentForm] = [:]
    /// The app's look at each operation before it is sent.
    var beforeSend: (@Sendable (OutgoingObject) async throws -> SendVerdict)?

    init(_ model: ModelDefinition) {
        self.model = model
    }

    /// How an item that comes from the server is known again.
    func identity(of item: RemoteItem) -> ServerIdentity {
        switch identity {
        case .client: .client
        case .server(let lookUp):
            if let lookUp, case .text(let text)? = item[member: lookUp] {
                .server(localID: LocalID(text))
            } else {
                .server(localID: nil)
            }
        }
    }
}

/// A model's table, to be synced.
public struct SyncTable<M: Model>: Sendable {
    let context: SyncContext

    /// Says who makes the IDs; this side, if not said.
    public func setIdentity(_ identity: IdentityPolicy) {
        context.change(M.self) { $0.identity = identity }
    }

    /// Says what the server's table keeps; all of it, if not said.
    public func setFeatures(_ features: TableFeatures) {
        context.change(M.self) { $0.features = features }
    }
}
