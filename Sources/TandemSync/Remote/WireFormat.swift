import Foundation
import Tandem

/// How values look on a remote's wire.
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
/// | an attachment | an object of its ID, name, type, size, SHA-256 and URL, where ``nestedJSON``, else a string of JSON; |
/// | | a string of the file's URL where the server has named it so, or ``AttachmentForm/urlText`` is set |
/// | a reference | the server ID, as a string |
/// | nil | `null` |
///
/// The elements of a collection look like values of their own. What is read may look either way, and a number may be
/// a string; nothing is rounded on the quiet. A number inside a `Codable` value must fit `Int64` or `Double`: another
/// one is refused when it is read.
public struct WireFormat: Hashable, Sendable {
    /// The digits of a second that the server keeps.
    public var fractionDigits: Int
    /// Whether the server takes arrays and objects as values.
    public var nestedJSON: Bool

    /// Milliseconds and plain values, as both dialects of Datasync have them, if not said otherwise.
    public init(fractionDigits: Int = 3, nestedJSON: Bool = false) {
        self.fractionDigits = fractionDigits
        self.nestedJSON = nestedJSON
    }

    /// The greatest integer that is sent as a number: every server, and every `Double`, holds those up to here.
    public static let greatestNumber: Int64 = 1 << 53

    /// The most digits that a number may have in an answer.
    public static let maximumDigits = 10_000
}

/// A value from a server that is none of the property's type.
public struct UnreadableValue: Error, Hashable, Sendable, CustomStringConvertible {
    /// The property's wire name.
    public let member: String
    /// What is wrong, in a sentence. The value is not in it.
    public let message: String

    /// A value that is none of its property's type. The value itself is not to be in the message.
    public init(member: String, message: String) {
        self.member = member
        self.message = message
    }

    public var description: String { "\(member): \(message)" }
}

// MARK: - Writing

extension WireFormat {
    /// A stored value as it goes out.
    ///
    /// A reference goes out as it is: whoever calls has put the server ID in the place of the local one.
    ///
    /// - Throws: ``Unsendable`` if the wire has no form for it.
    public func node(of value: StorageValue, for property: PropertyDefinition) throws(Unsendable) -> JSONNode {
        try node(of: value, for: property, as: .object)
    }

    /// A stored value as it goes out.
    ///
    /// - Parameter form: The form of attachments.
    func node(
        of value: StorageValue, for property: PropertyDefinition, as form: AttachmentForm
    ) throws(Unsendable) -> JSONNode {
        let node: JSONNode
        do {
            node = try property.node(of: value)
        } catch {
            throw Unsendable(.value, "The stored value can't be read: \(error)", member: property.wireName)
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
                    throw WireElement.Problem("\(name) is no collection known.")
                }
                return try whole(shape.map(node) { node, kind throws(WireElement.Problem) in try write(node, kind) })
            case .json, .references: return try whole(node)
            case .attachment:
                let written = try write(node, .attachment)
                if case .text = written { return written }
                return try whole(written)
            default: return try write(node, property.kind)
            }
        } catch {
            throw Unsendable(.value, error.message, member: property.wireName)
        }
    }

    private func write(_ node: JSONNode, _ kind: PropertyKind) throws(WireElement.Problem) -> JSONNode {
        try WireElement.write(node, kind, fractionDigits: fractionDigits)
    }

    /// A collection as it is, or as one string.
    private func whole(_ node: JSONNode) throws(WireElement.Problem) -> JSONNode {
        switch node {
        case .array where nestedJSON, .object where nestedJSON: return node
        default:
            // A text among `Codable` values too: it could not be told from the text of another one.
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
    /// A value that came in, as it is stored.
    ///
    /// - Throws: ``UnreadableValue`` if it is none of the property's type, or null for one that is not optional.
    public func storageValue(
        of node: JSONNode, for property: PropertyDefinition
    ) throws(UnreadableValue) -> StorageValue {
        try storageValue(of: node, for: property, by: RowBuffer())
    }

    /// - Parameter row: Where the value is made, used over and over.
    func storageValue(
        of node: JSONNode, for property: PropertyDefinition, by row: RowBuffer
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
                document.flatMap { shape.mapIfPossible($0, WireElement.read) }
            }
        case .json: read = Self.document(node)
        case .references: read = Self.document(node)
        case .attachment: read = WireAttachment.read(node)
        default: read = WireElement.read(node, property.kind)
        }
        if case .null? = read, property.kind == .attachment, property.isOptional { return .null }
        guard let read, let value = property.storageValue(of: read, by: row) else {
            throw failure("The value is no \(property.kind).")
        }
        if case .null = value, !property.isOptional {
            throw failure("The value is no \(property.kind).")
        }
        return value
    }

    /// What a collection was written as: itself, or a string of JSON.
    static func document(_ node: JSONNode) -> JSONNode? {
        guard case .text(var text) = node else { return node }
        return text.withUTF8 { try? ExactJSON.parseWire($0, maximumDigits: maximumDigits) }
    }
}
