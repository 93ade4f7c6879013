import Tandem

/// A table's name as the server knows it: the model's wire name.
public struct RemoteTableName: RawRepresentable, Hashable, Sendable {
    /// The name, as the server spells it.
    public let rawValue: String

    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// A table by its name, as the server spells it.
    public init(_ rawValue: String) {
        self.rawValue = rawValue
    }
}

extension RemoteTableName: ExpressibleByStringLiteral, CustomStringConvertible {
    public init(stringLiteral value: String) {
        self.init(value)
    }

    public var description: String { rawValue }
}

/// What one item is looked up by.
public enum RemoteKey: Hashable, Sendable {
    /// The server's key.
    case id(ServerID)
    /// A text property, by its wire name, that no two items have alike: where the server assigns the IDs, a lost insert
    /// is found by the local ID in such a property.
    case property(String, String)
}
