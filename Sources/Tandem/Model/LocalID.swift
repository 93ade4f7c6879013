import Foundation

/// An object's primary key in its store: made on the device, never changed, never shared by two objects of a model.
///
/// A local ID made here is a UUID of version 7 (RFC 9562), so that IDs made later sort later. An object that came
/// from a server takes its server ID as local ID.
///
/// IDs are compared byte by byte. `String`'s own `==` is not used: it takes canonically equivalent spellings
/// for one, where SQLite sees two keys.
public struct LocalID: RawRepresentable, Sendable {
    public let rawValue: String

    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    public init(_ rawValue: String) {
        self.rawValue = rawValue
    }
}

/// The key that a server knows an object by. `nil` in an object until the server has acknowledged it.
///
/// Compared byte by byte, like ``LocalID``. The two are types of their own so that the compiler tells them apart.
public struct ServerID: RawRepresentable, Sendable {
    public let rawValue: String

    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    public init(_ rawValue: String) {
        self.rawValue = rawValue
    }
}

/// What ``LocalID`` and ``ServerID`` share: comparison, hashing and coding of the raw text, byte by byte.
///
/// Not to be conformed to.
public protocol TextualID: RawRepresentable, Hashable, Comparable, Codable, CustomStringConvertible,
    ExpressibleByStringLiteral
where RawValue == String {
    init(_ rawValue: String)
}

extension TextualID {
    public static func == (lhs: Self, rhs: Self) -> Bool {
        ScalarText.isEqual(lhs.rawValue, rhs.rawValue)
    }

    public static func < (lhs: Self, rhs: Self) -> Bool {
        ScalarText.isLess(lhs.rawValue, rhs.rawValue)
    }

    public func hash(into hasher: inout Hasher) {
        ScalarText.hash(rawValue, into: &hasher)
    }

    public var description: String { rawValue }

    public init(stringLiteral value: String) {
        self.init(value)
    }

    public init(from decoder: any Decoder) throws {
        self.init(try decoder.singleValueContainer().decode(String.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}

extension LocalID: TextualID {}
extension ServerID: TextualID {}
