import Foundation
import Tandem

/// The format of values on a remote's wire.
///
/// | property | on the wire |
/// |---|---|
/// | `Bool` | `true`, `false` |
/// | integers | a number up to 2^53, from there on a string |
/// | `Double`, `Float` | the shortest number; NaN and infinity can't be sent |
/// | `BigInt`, `BigUInt`, `Decimal` | a string |
/// | `String`, `URL`, `UUID` (in lower case) | a string |
/// | `Data` | a string of Base64 |
/// | `Date` | a string, see ``WireTimestamp``, at ``fractionDigits`` |
/// | collections, `Codable` values, lists of references | JSON where ``nestedJSON``, else a string of JSON |
/// | an attachment | an object of its ID, name, type, size, SHA-256 and URL, where ``nestedJSON``, else a string of
/// JSON; |
/// | | a string of the file's URL where the server has named it so, or ``AttachmentForm/urlText`` is set |
/// | a reference | the server ID, as a string |
/// | nil | `null` |
///
/// The elements of a collection have the format of single values. The decoder accepts both forms, and numbers as
/// strings. It never rounds silently. A number inside a `Codable` value must fit `Int64` or `Double`; the decoder
/// refuses any other.
public struct WireFormat: Hashable, Sendable {
    /// The number of fractional digits of seconds that the server keeps.
    public var fractionDigits: Int
    /// Whether the server accepts arrays and objects as values.
    public var nestedJSON: Bool

    /// Creates a format. The defaults, milliseconds and plain values, fit both dialects of Datasync.
    ///
    /// - Parameters:
    ///   - fractionDigits: The number of digits after the second in times, 0 to 9.
    ///   - nestedJSON: Whether objects and lists are sent as JSON. Otherwise they are sent as texts that contain JSON.
    public init(fractionDigits: Int = 3, nestedJSON: Bool = false) {
        self.fractionDigits = fractionDigits
        self.nestedJSON = nestedJSON
    }

    /// The greatest integer that is sent as a number. Every server and every `Double` represents integers up to this
    /// limit.
    public static let greatestNumber: Int64 = 1 << 53

    /// The maximum number of digits of a number in a response.
    public static let maximumDigits = 10_000
}

/// A value from a server that does not have the property's type.
public struct UnreadableValue: Error, Hashable, Sendable, CustomStringConvertible {
    /// The property's wire name.
    public let member: String
    /// A description of the problem, as one sentence, without the value.
    public let message: String

    /// Creates the error of a value with the wrong type. The message must not contain the value.
    ///
    /// - Parameters:
    ///   - member: The wire name of the value.
    ///   - message: The problem, as a sentence.
    public init(member: String, message: String) {
        self.member = member
        self.message = message
    }

    /// A text for logs and messages.
    public var description: String { "\(member): \(message)" }
}

// MARK: - Writing

extension WireFormat {
    /// Encodes a stored value.
    ///
    /// A reference is encoded unchanged: the caller has replaced the local ID with the server ID.
    ///
    /// - Parameters:
    ///   - value: The stored value.
    ///   - property: The property of the value.
    /// - Throws: ``RequestEncodingError`` if the wire can't represent it.
    public func node(of value: StorageValue, for property: PropertyDefinition) throws(RequestEncodingError) -> JSONNode
    {
        try node(of: value, for: property, as: .object)
    }

    /// Encodes a stored value.
    ///
    /// - Parameter form: The form of attachments.
    func node(
        of value: StorageValue, for property: PropertyDefinition, as form: AttachmentForm
    ) throws(RequestEncodingError) -> JSONNode {
        let node: JSONNode
        do {
            node = try property.node(of: value)
        } catch {
            throw RequestEncodingError(
                .value, message: "The stored value can't be read: \(error)", member: property.wireName)
        }
        if case .null = node { return .null }
        do throws(WireElement.Problem) {
            if form == .urlText {
                let texts = try WireAttachment.urlTexts(node)
                if case .array = texts { return try whole(texts) }
                return texts
            }
            switch property.kind {
            case .collection(let name):
                guard let shape = CollectionShape(name) else {
                    throw WireElement.Problem("\(name) is not a known collection.")
                }
                return try whole(
                    shape.map(node) { node, kind throws(WireElement.Problem) in try write(node, as: kind) })
            case .json, .references: return try whole(node)
            case .attachment:
                let written = try write(node, as: .attachment)
                if case .text = written { return written }
                return try whole(written)
            default: return try write(node, as: property.kind)
            }
        } catch {
            throw RequestEncodingError(.value, message: error.message, member: property.wireName)
        }
    }

    private func write(_ node: JSONNode, as kind: PropertyKind) throws(WireElement.Problem) -> JSONNode {
        try WireElement.write(node, as: kind, fractionDigits: fractionDigits)
    }

    /// Returns a collection as JSON, or as a single string.
    private func whole(_ node: JSONNode) throws(WireElement.Problem) -> JSONNode {
        switch node {
        case .array where nestedJSON, .object where nestedJSON: return node
        default:
            // A text among `Codable` values is encoded too: otherwise it could not be distinguished from an encoded
            // value.
            var text: [UInt8] = []
            guard (try? ExactJSON.writeForeign(node, to: &text)) != nil else {
                throw WireElement.Problem("The value is nested too deeply.")
            }
            return .text(String(decoding: text, as: UTF8.self))
        }
    }
}

// MARK: - Reading

extension WireFormat {
    /// Decodes a value to its stored form.
    ///
    /// - Parameters:
    ///   - node: The value on the wire.
    ///   - property: The property to which it belongs.
    /// - Throws: ``UnreadableValue`` if it does not have the property's type, or is null for a required property.
    public func storageValue(
        of node: JSONNode, for property: PropertyDefinition
    ) throws(UnreadableValue) -> StorageValue {
        try storageValue(of: node, for: property, by: RowEncoder())
    }

    /// - Parameter row: A reused buffer for the value.
    func storageValue(
        of node: JSONNode, for property: PropertyDefinition, by row: RowEncoder
    ) throws(UnreadableValue) -> StorageValue {
        func failure(_ message: String) -> UnreadableValue {
            UnreadableValue(member: property.wireName, message: message)
        }
        if case .null = node {
            guard property.isOptional else { throw failure("The property is not optional, and the value is null.") }
            return .null
        }
        let read: JSONNode?
        switch property.kind {
        case .collection(let name):
            let document = Self.document(node)
            read = CollectionShape(name).flatMap { shape in
                document.flatMap { shape.mapIfPossible($0, change: WireElement.read) }
            }
        case .json: read = Self.document(node)
        case .references: read = Self.document(node)
        case .attachment: read = WireAttachment.read(node)
        default: read = WireElement.read(node, as: property.kind)
        }
        if case .null? = read, property.kind == .attachment, property.isOptional { return .null }
        guard let read, let value = property.storageValue(of: read, by: row) else {
            throw failure("The value is not a valid \(property.kind).")
        }
        if case .null = value, !property.isOptional {
            throw failure("The value is not a valid \(property.kind).")
        }
        return value
    }

    /// Returns a collection from JSON, or from a string of JSON.
    static func document(_ node: JSONNode) -> JSONNode? {
        guard case .text(var text) = node else { return node }
        return text.withUTF8 { try? ExactJSON.parseWire($0, maximumDigits: maximumDigits) }
    }
}
