import Tandem

/// The name of a table on the server: the model's wire name.
public struct RemoteTableName: RawRepresentable, Hashable, Sendable {
    /// The name, as the server spells it.
    public let rawValue: String

    /// Creates a name from its text.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// Creates a table's name, as the server spells it.
    public init(_ rawValue: String) {
        self.rawValue = rawValue
    }
}

extension RemoteTableName: ExpressibleByStringLiteral, CustomStringConvertible {
    /// Creates a name from a literal.
    public init(stringLiteral value: String) {
        self.init(value)
    }

    /// A text for logs and messages.
    public var description: String { rawValue }
}

/// The key for the lookup of an item.
public enum RemoteKey: Hashable, Sendable {
    /// The server's key.
    case id(ServerID)
    /// A unique text property, by its wire name.
    ///
    /// If the server assigns the IDs, the local ID in such a property finds an insert without a response.
    case property(String, value: String)
}
