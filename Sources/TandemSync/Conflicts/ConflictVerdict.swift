import Tandem

/// The decision about a conflict.
enum ConflictVerdict: Sendable {
    /// There is nothing to decide. The local values are sent with the server's version, and no change is lost.
    case nothing
    /// The local values are sent with the server's version. These properties get the server's values.
    case ours(takingServers: Set<String>)
    /// The values to write here and send; `nil` to delete the object.
    case written([String: StorageValue]?)
    /// The object gets the server's values.
    case theirs
    /// The user must decide.
    case later(SyncError.Code, message: String)
}
