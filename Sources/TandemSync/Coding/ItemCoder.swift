import Foundation
import Tandem

/// Encodes and decodes the objects of one model for a server.
struct ItemCoder: Sendable {
    let model: ModelDefinition
    let format: WireFormat
    /// The URL of the model's table, for errors.
    let url: String?
    /// The properties that are exchanged with a server.
    let sent: [PropertyDefinition]
    /// The forms in which attachments are sent, by the names of their properties in Swift. The default is an object.
    private let attachments: [String: AttachmentForm]

    init(
        model: ModelDefinition, format: WireFormat, url: String? = nil, attachments: [String: AttachmentForm] = [:]
    ) {
        self.model = model
        self.format = format
        self.url = url
        self.attachments = attachments
        sent = model.properties.filter { !$0.isLocalOnly }
    }

    var table: RemoteTableName { RemoteTableName(model.wireName) }

    // MARK: In

    /// Decodes a server item for the model.
    ///
    /// Null for a non-optional property becomes the property's default, if it has one: servers send null for a column
    /// that is newer than the row. The item's extras then record that the server has null.
    ///
    /// - Throws: ``UnreadableValue`` for a value that does not have its property's type.
    func decode(_ item: RemoteItem) throws(UnreadableValue) -> ServerItem {
        var lookup = PropertyLookup()
        return try decode(item, lookup: &lookup)
    }

    /// Decodes a server item for the model.
    ///
    /// - Parameter lookup: The indices of the properties, from earlier items of the same model and server.
    /// - Throws: ``UnreadableValue`` for a value that does not have its property's type.
    func decode(_ item: RemoteItem, lookup: inout PropertyLookup) throws(UnreadableValue) -> ServerItem {
        var values = [String: StorageValue](minimumCapacity: sent.count)
        var unknown: [RemoteItem.Member] = []
        // The values of a tombstone are not used. They may be remains of the deleted object.
        if !item.isDeleted {
            for (index, member) in item.members.enumerated() {
                guard let place = lookup.index(of: member.key, at: index, among: sent) else {
                    unknown.append(member)
                    continue
                }
                let property = sent[place]
                if case .null = member.value, !property.isOptional, property.appendDefault != nil {
                    values[property.name] = constantDefault(of: property)
                    unknown.append(member)
                    continue
                }
                values[property.name] = try format.storageValue(of: member.value, for: property, by: lookup.row)
            }
        }
        return ServerItem(
            serverID: item.id, version: item.version, createdAt: item.createdAt?.date, updatedAt: item.updatedAt?.date,
            isDeleted: item.isDeleted, values: values, extras: unknown.isEmpty ? nil : Self.bytes(.object(unknown)),
            source: Self.bytes(of: item))
    }

    /// Returns a property's default, or `nil` if it differs each time, as a new UUID does. An object keeps the default
    /// that it got.
    private func constantDefault(of property: PropertyDefinition) -> StorageValue? {
        let row = RowEncoder()
        // Two dates in a row may be the same.
        for _ in 0..<32 { property.appendDefault?(row) }
        let first = row.value(at: 0)
        return row.slotCount == 32 && (1..<32).allSatisfy { row.value(at: $0) == first } ? first : nil
    }

    /// Returns an item that can't be decoded for the model, to be deferred.
    func unreadable(_ item: RemoteItem, error: UnreadableValue) -> ServerItem {
        var stored = ServerItem(
            serverID: item.id, version: item.version, createdAt: item.createdAt?.date,
            updatedAt: item.updatedAt?.date, source: Self.bytes(of: item))
        stored.unreadable = TandemError(
            .invalidValue, message: error.message, advice: "Update the app, or report it to the server's operator.",
            model: model.name, property: sent.first { $0.wireName == error.member }?.name ?? error.member)
        return stored
    }

    /// Decodes a deferred server item. Returns `nil` if another version of Tandem wrote it in an unknown form.
    static func item(from source: [UInt8]) -> RemoteItem? {
        guard
            case .array(let parts)? = source.withUnsafeBufferPointer({ try? ExactJSON.parseWire($0) }),
            parts.count == 6, case .text(let id) = parts[0], case .bool(let isDeleted) = parts[4],
            case .text(var json) = parts[5],
            case .object(let members)? = json.withUTF8({ try? ExactJSON.parseWire($0) })
        else { return nil }
        func text(_ node: JSONNode) -> String? { if case .text(let text) = node { text } else { nil } }
        return RemoteItem(
            id: ServerID(id), version: text(parts[1]), createdAt: text(parts[2]).flatMap { WireTimestamp($0) },
            updatedAt: text(parts[3]).flatMap { WireTimestamp($0) }, isDeleted: isDeleted, members: members)
    }

    /// Encodes `[id, version, createdAt, updatedAt, deleted, "{members}"]`. The members are a text of their own,
    /// because they may be as deeply nested as the parser allows.
    private static func bytes(of item: RemoteItem) -> [UInt8] {
        func node(_ text: String?) -> JSONNode { text.map { .text($0) } ?? .null }
        return bytes(
            .array([
                .text(item.id.rawValue), node(item.version), node(item.createdAt?.text), node(item.updatedAt?.text),
                .bool(item.isDeleted), .text(String(decoding: bytes(.object(item.members)), as: UTF8.self)),
            ]))
    }

    private static func bytes(_ node: JSONNode) -> [UInt8] {
        var text: [UInt8] = []
        // Values parsed from JSON have a text.
        try? ExactJSON.writeForeign(node, to: &text)
        return text
    }

    // MARK: Out

    /// Returns a value as it is after a round trip over the wire: a date has the server's precision. Sent values are
    /// compared with returned ones in this form.
    var rounding: WireRounding {
        { property, value in
            try format.storageValue(of: node(of: value, for: property), for: property)
        }
    }

    /// Encodes a stored value.
    ///
    /// - Throws: ``RequestEncodingError``.
    func node(of value: StorageValue, for property: PropertyDefinition) throws(RequestEncodingError) -> JSONNode {
        try format.node(of: value, for: property, as: attachments[property.name] ?? .object)
    }

    /// Encodes an object for a request.
    ///
    /// - Parameters:
    ///   - id: The ID that the object has on the server, or will get.
    ///   - leavingOut: References, by their names in Swift, that are not sent.
    ///   - encoder: The encoder of the object's values; `nil` for a new one.
    /// - Throws: ``RequestEncodingError``.
    func outgoing(
        _ object: OutgoingObject, id: ServerID?, leavingOut: Set<String> = [], encoder: ValueEncoder? = nil
    ) throws(RequestEncodingError) -> OutgoingItem {
        var members = try members(of: object.values, leavingOut: leavingOut, encoder: encoder)
        var changed: Set<String> = []
        for property in sent where object.values[property.name] != nil && !leavingOut.contains(property.name) {
            if object.changed.contains(property.name) { changed.insert(property.wireName) }
        }
        var unknown: [RemoteItem.Member] = []
        if let extras = object.extras,
            case .object(let kept)? = extras.withUnsafeBufferPointer({ try? ExactJSON.parseWire($0) })
        {
            // The server has null for these, and the local value is the default that the app has not changed.
            for member in kept {
                guard case .null = member.value, !changed.contains(member.key),
                    let place = members.firstIndex(where: { ScalarText.isEqual($0.key, member.key) })
                else { continue }
                members[place].value = .null
            }
            unknown = kept.filter { member in !sent.contains { ScalarText.isEqual($0.wireName, member.key) } }
        }
        return OutgoingItem(
            table: table, id: id, version: object.version, members: members, changed: changed, unknown: unknown)
    }

    /// Returns the members of values, which are given by their properties' names in Swift.
    ///
    /// - Parameters:
    ///   - leavingOut: References that are not sent. Null or an empty list replaces them.
    ///   - encoder: The encoder of the values; `nil` for a new one.
    /// - Throws: ``RequestEncodingError``.
    func members(
        of values: [String: StorageValue], leavingOut: Set<String> = [], encoder: ValueEncoder? = nil
    ) throws(RequestEncodingError) -> [RemoteItem.Member] {
        let encoder = encoder ?? ValueEncoder(self)
        var members: [RemoteItem.Member] = []
        for property in sent {
            guard let value = values[property.name] else { continue }
            let isLeftOut = leavingOut.contains(property.name)
            if isLeftOut, case .references = property.kind {
                members.append((property.wireName, try node(of: .text("[]"), for: property)))
            } else {
                members.append((property.wireName, isLeftOut ? .null : try encoder.node(of: value, for: property)))
            }
        }
        return members
    }
}
