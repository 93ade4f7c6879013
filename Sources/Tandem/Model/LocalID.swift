import Foundation

/// An object's primary key in its store. It is generated on the device, never changes, and is unique in its model.
///
/// A generated local ID is a UUID of version 7 (RFC 9562), so later IDs sort later. An object that came from a server
/// uses its server ID as local ID.
///
/// IDs are compared byte by byte, and not with `String`'s `==`. That treats canonically equivalent texts as equal,
/// where SQLite sees two keys.
public struct LocalID: RawRepresentable, Sendable {
    /// The text of the ID.
    public let rawValue: String

    /// Creates an ID from its text.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// Creates an ID from its text.
    public init(_ rawValue: String) {
        self.rawValue = rawValue
    }
}

extension LocalID {
    /// Whether the ID is a random or time-based UUID, so that no other object has it. A UUID of version 3 or 5 is made
    /// from a name, and another device can make the same.
    package var isUnique: Bool {
        guard rawValue.utf8.count == 36, UUID(uuidString: rawValue) != nil else { return false }
        let version = rawValue.utf8[rawValue.utf8.index(rawValue.utf8.startIndex, offsetBy: 14)]
        return [1, 4, 6, 7].contains(version &- UInt8(ascii: "0"))
    }
}

/// The server's key for an object. It is `nil` in an object until the server has acknowledged it.
///
/// It is compared byte by byte, like ``LocalID``. The IDs have two types so that the compiler can distinguish them.
public struct ServerID: RawRepresentable, Sendable {
    /// The text of the ID.
    public let rawValue: String

    /// Creates an ID from its text.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// Creates an ID from its text.
    public init(_ rawValue: String) {
        self.rawValue = rawValue
    }
}

/// The common interface of ``LocalID`` and ``ServerID``: comparison, hashing and coding of the raw text, byte by byte.
///
/// Do not conform to it.
public protocol TextualID: RawRepresentable, Hashable, Comparable, Codable, CustomStringConvertible,
    ExpressibleByStringLiteral
where RawValue == String {
    /// Creates an ID from its text.
    init(_ rawValue: String)
}

extension TextualID {
    /// Returns whether two values are equal.
    public static func == (lhs: Self, rhs: Self) -> Bool {
        ScalarText.isEqual(lhs.rawValue, rhs.rawValue)
    }

    /// Returns whether a value comes before another.
    public static func < (lhs: Self, rhs: Self) -> Bool {
        ScalarText.isLess(lhs.rawValue, rhs.rawValue)
    }

    /// Hashes the value consistently with `==`.
    public func hash(into hasher: inout Hasher) {
        ScalarText.hash(rawValue, into: &hasher)
    }

    /// A textual description of the value.
    public var description: String { rawValue }

    /// Creates a value from a string literal.
    public init(stringLiteral value: String) {
        self.init(value)
    }

    /// Decodes a value.
    public init(from decoder: any Decoder) throws {
        self.init(try decoder.singleValueContainer().decode(String.self))
    }

    /// Encodes the value.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}

extension LocalID: TextualID {}
extension ServerID: TextualID {}
