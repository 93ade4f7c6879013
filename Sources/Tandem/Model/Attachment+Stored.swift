/// The stored form is a JSON object: `{"id":…,"name":…,"sha256":…,"size":…,"type":…,"url":…}`, without unknown members.
extension Attachment: PropertyValue {
    /// The kind of property.
    public static var __kind: PropertyKind { .attachment }

    /// Appends the JSON object to a row.
    public func __append(to row: RowEncoder) {
        row.append(json: __json)
        if let retainer { row.retainers.append(retainer) }
    }

    /// Reads an attachment from a row.
    public static func __read(_ row: RowDecoder, column: Int32) throws -> Attachment {
        guard let value = Attachment(__json: try row.json(column)) else {
            throw InvalidStoredValue(column: column, reason: "the JSON is not an attachment")
        }
        return value
    }

    /// The members in the order in which they are written.
    public var __json: JSONNode {
        var members: [(key: String, value: JSONNode)] = [("id", .text(id.rawValue)), ("name", .text(name))]
        if let sha256 { members.append(("sha256", .text(sha256.hex))) }
        if let size { members.append(("size", .integer(size))) }
        members.append(("type", .text(contentType)))
        if let serverURL { members.append(("url", .text(serverURL))) }
        return .object(members)
    }

    /// Creates an attachment from JSON. Fails if the ID, the size or the digest is not valid. Ignores unknown members.
    public init?(__json node: JSONNode) {
        guard case .object(let members) = node else { return nil }
        var id: FileID?
        var (name, type) = ("", Self.unknownType)
        var size: Int64?
        var digest: FileDigest?
        var url: String?
        for (key, value) in members {
            switch (key, value) {
            case (_, .null): continue
            case ("id", .text(let text)): id = FileID(text)
            case ("name", .text(let text)): name = text
            case ("type", .text(let text)): type = text
            case ("url", .text(let text)): url = text
            case ("size", .integer(let number)) where number >= 0: size = number
            case ("sha256", .text(let text)):
                guard let read = FileDigest(hex: text) else { return nil }
                digest = read
            case ("id", _), ("name", _), ("type", _), ("url", _), ("size", _), ("sha256", _): return nil
            default: continue
            }
        }
        guard let id else { return nil }
        self.init(id: id, name: name, contentType: type, size: size, sha256: digest, serverURL: url)
    }

    /// The media type of bytes of an unknown kind.
    static let unknownType = "application/octet-stream"
}

/// The encoding for objects that an app encodes itself, for example as JSON. It does not contain the file. A decoded
/// value can be written to its own store, or to any store once the server has the file.
extension Attachment: Codable {
    private enum CodingKeys: String, CodingKey {
        case id, name, type, size, sha256, url
    }

    /// Decodes an attachment.
    public init(from decoder: any Decoder) throws {
        try Self.refuseHiding(decoder.userInfo, at: decoder.codingPath)
        let container = try decoder.container(keyedBy: CodingKeys.self)
        func read<T>(_ key: CodingKeys, make: (String) -> T?) throws -> T? {
            guard let text = try container.decodeIfPresent(String.self, forKey: key) else { return nil }
            guard let value = make(text) else {
                throw DecodingError.dataCorruptedError(
                    forKey: key, in: container, debugDescription: "The text is not valid for an attachment.")
            }
            return value
        }
        guard let id = try read(.id, make: { FileID($0) }) else {
            throw DecodingError.keyNotFound(
                CodingKeys.id, .init(codingPath: decoder.codingPath, debugDescription: "An attachment has an ID."))
        }
        self.init(
            id: id, name: try container.decodeIfPresent(String.self, forKey: .name) ?? "",
            contentType: try container.decodeIfPresent(String.self, forKey: .type) ?? Self.unknownType,
            size: try container.decodeIfPresent(Int64.self, forKey: .size),
            sha256: try read(.sha256) { FileDigest(hex: $0) },
            serverURL: try container.decodeIfPresent(String.self, forKey: .url))
    }

    /// Encodes the attachment, without its file.
    public func encode(to encoder: any Encoder) throws {
        try Self.refuseHiding(encoder.userInfo, at: encoder.codingPath)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(id.rawValue, forKey: .id)
        try container.encode(name, forKey: .name)
        try container.encode(contentType, forKey: .type)
        try container.encodeIfPresent(size, forKey: .size)
        try container.encodeIfPresent(sha256?.hex, forKey: .sha256)
        try container.encodeIfPresent(serverURL, forKey: .url)
    }

    /// The store would not see the use of a file inside a `Codable` value.
    private static func refuseHiding(_ userInfo: [CodingUserInfoKey: Any], at path: [any CodingKey]) throws {
        guard userInfo[CodableStorage.marker] != nil else { return }
        throw TandemError(
            .invalidValue, message: "An attachment is inside another value, where the store can't track its file.",
            advice: "Make it a property of the model: Attachment? or [Attachment].",
            property: path.first?.stringValue)
    }
}
