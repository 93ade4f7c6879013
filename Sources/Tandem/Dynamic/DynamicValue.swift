import BigInt
import Foundation

/// A property's value in an object without a Swift type: see ``DynamicObject``.
///
/// For example:
///
/// ```swift
/// let card = try store.objects(named: "Card").first()
/// if case .string(let shop)? = card?["shop"] { print(shop) }
/// try store.write { try $0.update("Card", localID: id, values: ["points": 120, "note": .null]) }
/// ```
///
/// A value that is read has the case of its property's kind. A value that is given, to a query or to a write, may also
/// have a related case: an integer for a decimal, a text in ISO 8601 for a date, a text for a UUID.
public enum DynamicValue: Hashable, Sendable {
    /// Nil.
    case null
    /// A Boolean.
    case bool(Bool)
    /// An integer that fits 64 bits.
    case integer(Int64)
    /// An integer of any size: a `BigInt`, a `BigUInt`, or a `UInt64`.
    case bigInt(BigInt)
    /// A floating-point number.
    case double(Double)
    /// A decimal number.
    case decimal(Decimal)
    /// A text.
    case string(String)
    /// A sequence of bytes.
    case data(Data)
    /// A date.
    case date(Date)
    /// A UUID.
    case uuid(UUID)
    /// A URL.
    case url(URL)
    /// The local ID of the target of a reference.
    case reference(LocalID)
    /// The local IDs that a list of references names.
    case references([LocalID])
    /// The description of a file.
    case attachment(Attachment)
    /// The descriptions of several files.
    case attachments([Attachment])
    /// A collection or a `Codable` value, as JSON text.
    case json(String)
    /// A stored value that does not have its property's kind. Another program may have written it.
    case unreadable(StorageValue)

    /// Compares as the store does: texts by their Unicode scalars, and numbers by their bits.
    public static func == (lhs: Self, rhs: Self) -> Bool {
        switch (lhs, rhs) {
        case (.null, .null): true
        case (.bool(let lhs), .bool(let rhs)): lhs == rhs
        case (.integer(let lhs), .integer(let rhs)): lhs == rhs
        case (.bigInt(let lhs), .bigInt(let rhs)): lhs == rhs
        case (.double(let lhs), .double(let rhs)): lhs.bitPattern == rhs.bitPattern
        case (.decimal(let lhs), .decimal(let rhs)): lhs == rhs
        case (.string(let lhs), .string(let rhs)), (.json(let lhs), .json(let rhs)): ScalarText.isEqual(lhs, rhs)
        case (.data(let lhs), .data(let rhs)): lhs == rhs
        case (.date(let lhs), .date(let rhs)): __same(lhs, rhs)
        case (.uuid(let lhs), .uuid(let rhs)): lhs == rhs
        case (.url(let lhs), .url(let rhs)): lhs == rhs
        case (.reference(let lhs), .reference(let rhs)): lhs == rhs
        case (.references(let lhs), .references(let rhs)): lhs == rhs
        case (.attachment(let lhs), .attachment(let rhs)): lhs == rhs
        case (.attachments(let lhs), .attachments(let rhs)): lhs == rhs
        case (.unreadable(let lhs), .unreadable(let rhs)): lhs == rhs
        default: false
        }
    }

    /// Hashes the value consistently with `==`.
    public func hash(into hasher: inout Hasher) {
        switch self {
        case .null: hasher.combine(0)
        case .bool(let value): hasher.combine(value)
        case .integer(let value): hasher.combine(value)
        case .bigInt(let value): hasher.combine(value)
        case .double(let value): hasher.combine(value.bitPattern)
        case .decimal(let value): hasher.combine(value)
        case .string(let value), .json(let value): ScalarText.hash(value, into: &hasher)
        case .data(let value): hasher.combine(value)
        case .date(let value): hasher.combine(value.timeIntervalSinceReferenceDate.bitPattern)
        case .uuid(let value): hasher.combine(value)
        case .url(let value): hasher.combine(value)
        case .reference(let value): hasher.combine(value)
        case .references(let value): hasher.combine(value)
        case .attachment(let value): hasher.combine(value)
        case .attachments(let value): hasher.combine(value)
        case .unreadable(let value): hasher.combine(value)
        }
    }
}

extension DynamicValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByBooleanLiteral
{
    /// Creates a text.
    public init(stringLiteral value: String) { self = .string(value) }
    /// Creates an integer.
    public init(integerLiteral value: Int64) { self = .integer(value) }
    /// Creates a floating-point number.
    public init(floatLiteral value: Double) { self = .double(value) }
    /// Creates a Boolean.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
}

extension DynamicValue: CustomStringConvertible {
    /// The value as a person would write it: a date in ISO 8601 with milliseconds, bytes in base64, nil as `nil`. A
    /// date beyond the years 1 to 9999 is the number of seconds since 2001.
    public var description: String {
        switch self {
        case .null: "nil"
        case .bool(let value): "\(value)"
        case .integer(let value): "\(value)"
        case .bigInt(let value): "\(value)"
        case .double(let value): "\(value)"
        case .decimal(let value): "\(value)"
        case .string(let value), .json(let value): value
        case .data(let value): value.base64EncodedString()
        case .date(let value): value.isoText
        case .uuid(let value): value.uuidString
        case .url(let value): value.absoluteString
        case .reference(let value): value.rawValue
        case .references(let value): value.map(\.rawValue).joined(separator: ", ")
        case .attachment(let value): value.description
        case .attachments(let value): value.map(\.description).joined(separator: ", ")
        case .unreadable(let value): "unreadable: \(value)"
        }
    }
}

extension DynamicValue {
    /// Whether the value is nil.
    public var isNull: Bool { if case .null = self { true } else { false } }

    /// The kind of the value, for messages.
    var kindName: String {
        switch self {
        case .null: "nil"
        case .bool: "a Boolean"
        case .integer, .bigInt: "an integer"
        case .double, .decimal: "a number"
        case .string: "a text"
        case .data: "bytes"
        case .date: "a date"
        case .uuid: "a UUID"
        case .url: "a URL"
        case .reference: "a reference"
        case .references: "a list of references"
        case .attachment: "an attachment"
        case .attachments: "a list of attachments"
        case .json: "JSON"
        case .unreadable: "an unreadable value"
        }
    }

    /// The value as a JSON node, from which every property reads its type.
    ///
    /// It is `nil` for text of JSON and for unreadable values.
    var node: JSONNode? {
        switch self {
        case .null: return .null
        case .bool(let value): return .bool(value)
        case .integer(let value): return .integer(value)
        case .bigInt(let value): return value.__json
        case .double(let value): return .real(value)
        case .decimal(let value): return value.__json
        case .string(let value): return .text(value)
        case .data(let value): return value.__json
        case .date(let value): return value.__json
        case .uuid(let value): return value.__json
        case .url(let value): return value.__json
        case .reference(let value): return .text(value.rawValue)
        case .references(let value): return .array(value.map { .text($0.rawValue) })
        case .attachment(let value): return value.__json
        case .attachments(let value): return value.__json
        case .json, .unreadable: return nil
        }
    }
}

extension Date {
    /// The seconds of the years that have four digits in ISO 8601, since 2001.
    private static let datedSeconds = -63_113_904_000.0..<252_423_993_600.0

    /// The date in ISO 8601. Foundation traps on NaN, and on some dates of distant years.
    fileprivate var isoText: String {
        let seconds = timeIntervalSinceReferenceDate
        guard Self.datedSeconds.contains(seconds) else { return "\(seconds)" }
        return formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    }
}
