/// A write to a server, as part of a batch.
public struct RemoteRequest: Sendable {
    /// The kind of a write. Each kind is a method of ``Remote``.
    public enum Kind: Sendable {
        /// ``Remote/insert(_:)``.
        case insert
        /// ``Remote/update(_:)``.
        case update
        /// ``Remote/delete(_:)``.
        case delete
        /// ``Remote/undelete(_:)``.
        case undelete
    }

    /// The kind of the write.
    public var kind: Kind
    /// The item to write.
    public var item: OutgoingItem

    /// Creates a write.
    ///
    /// - Parameters:
    ///   - kind: The kind of the write.
    ///   - item: The item to write.
    public init(_ kind: Kind, item: OutgoingItem) {
        self.kind = kind
        self.item = item
    }
}
