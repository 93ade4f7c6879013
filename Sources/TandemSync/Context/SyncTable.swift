import Tandem

/// The side that creates the IDs of a table's objects.
public enum IdentityPolicy: Hashable, Sendable {
    /// This device: an object's server ID is its local ID. A lost response never causes a second object.
    case client
    /// The server creates the IDs.
    ///
    /// - Parameter lookUp: A text property of the server's table, by its wire name, that contains the local ID. If the
    ///   response of an insert was lost, it is looked up by this property before a retry. Without it, a lost response
    ///   can cause a second object.
    case server(lookUp: String?)
}

/// The features of a server's table.
public struct TableFeatures: Hashable, Sendable {
    /// Whether deleted items stay as tombstones, which a pull fetches.
    public var softDelete = true
    /// Whether items have versions. Without them the last write wins.
    public var versions = true
    /// Whether items have `updatedAt`. Without it there is no incremental pull.
    public var updatedAt = true

    /// Creates features that are all available.
    public init() {}
}

/// The settings of a model's table.
struct TableSettings: Sendable {
    let model: ModelDefinition
    var identity = IdentityPolicy.client
    var features = TableFeatures()
    var conflicts = ConflictRule.standard
    /// The forms in which attachments are sent, by the names of their properties in Swift.
    var attachments: [String: AttachmentForm] = [:]
    /// The app's closure that checks each operation before it is sent.
    var beforeSend: (@Sendable (OutgoingObject) async throws -> SendVerdict)?
    /// The error of a model with a property whose wire name the server uses itself.
    let nameError: SyncError?

    /// - Parameter remote: The server that the model is synced with.
    init(_ model: ModelDefinition, remote: any Remote) {
        self.model = model
        nameError = SyncError.reservedName(in: model, of: remote)
    }

    /// Returns how a server item is matched to a local object.
    func identity(of item: RemoteItem) -> IdentityRule {
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

/// A synced table of a model.
public struct SyncTable<M: Model>: Sendable {
    let context: SyncContext

    /// Sets the side that creates the IDs; this device by default.
    ///
    /// - Parameter identity: The side from now on.
    public func setIdentity(_ identity: IdentityPolicy) {
        context.change(M.self) { $0.identity = identity }
    }

    /// Sets the features of the server's table; all by default.
    ///
    /// - Parameter features: The features from now on.
    public func setFeatures(_ features: TableFeatures) {
        context.change(M.self) { $0.features = features }
    }
}
