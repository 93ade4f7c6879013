/// The user's choice for a property of a conflict: see ``SyncContext/resolve(_:choosing:)``.
public enum PropertyChoice: String, Hashable, Sendable, CaseIterable {
    /// The value in ``Conflict/local``.
    case local
    /// The value in ``Conflict/server``.
    case server
    /// The value in ``Conflict/base``.
    case base
}
