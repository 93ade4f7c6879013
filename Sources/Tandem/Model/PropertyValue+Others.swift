import Foundation

extension String: PropertyValue {
    /// The kind of the property in the schema.
    public static var __kind: PropertyKind { .string }
    /// Appends the stored form of the value.
    public func __append(to row: RowEncoder) { row.append(text: self) }
    /// Reads the stored form of a value.
    public static func __read(_ row: RowDecoder, column: Int32) throws -> String { try row.text(column) }
    /// The value as a node of exact JSON.
    public var __json: JSONNode { .text(self) }
    /// Creates a value from a JSON node. Returns `nil` if the node is not a value of this type.
    public init?(__json node: JSONNode) {
        guard case .text(let value) = node else { return nil }
        self = value
    }
}

extension Data: PropertyValue {
    /// The kind of the property in the schema.
    public static var __kind: PropertyKind { .data }

    /// Appends the stored form of the value.
    public func __append(to row: RowEncoder) {
        row.append(.blob) { bytes in withUnsafeBytes { bytes.append(contentsOf: $0) } }
    }

    /// Reads the stored form of a value.
    public static func __read(_ row: RowDecoder, column: Int32) throws -> Data {
        let bytes = row.bytes(column)
        guard bytes.baseAddress != nil || row.type(column) == StorageClass.blob else {
            throw InvalidStoredValue(column: column, reason: "the value has no bytes, but Data was expected")
        }
        return Data(bytes)
    }

    /// The value as a node of exact JSON.
    public var __json: JSONNode { .blob([UInt8](self)) }

    /// Creates a value from a JSON node. Returns `nil` if the node is not a value of this type.
    public init?(__json node: JSONNode) {
        switch node.unmarked {
        case .blob(let bytes): self.init(bytes)
        case .text(let text): self.init(base64Encoded: text)
        default: return nil
        }
    }
}

/// A date is stored as seconds since 2001-01-01 00:00:00 UTC, which is the number in `Date` itself. Seconds since 1970,
/// or a text, would lose bits.
extension Date: PropertyValue {
    /// The kind of the property in the schema.
    public static var __kind: PropertyKind { .date }

    /// Appends the stored form of the value.
    public func __append(to row: RowEncoder) { timeIntervalSinceReferenceDate.__append(to: row) }

    /// Reads the stored form of a value.
    public static func __read(_ row: RowDecoder, column: Int32) throws -> Date {
        Date(timeIntervalSinceReferenceDate: try Double.__read(row, column: column))
    }

    /// The value as a node of exact JSON.
    public var __json: JSONNode { .real(timeIntervalSinceReferenceDate) }

    /// Creates a value from a JSON node. Returns `nil` if the node is not a value of this type.
    public init?(__json node: JSONNode) {
        switch node.unmarked {
        case .real(let value): self.init(timeIntervalSinceReferenceDate: value)
        case .integer(let value): self.init(timeIntervalSinceReferenceDate: Double(value))
        case .text(let text):
            // Servers and people write ISO 8601, with or without fractions of a second.
            if let date = try? Date(text, strategy: .iso8601) {
                self = date
            } else if let date = try? Date(text, strategy: Date.ISO8601FormatStyle(includingFractionalSeconds: true)) {
                self = date
            } else {
                return nil
            }
        default: return nil
        }
    }
}

/// A UUID is stored as its 16 bytes, whose order is the UUIDs' own.
extension UUID: PropertyValue {
    /// The kind of the property in the schema.
    public static var __kind: PropertyKind { .uuid }

    /// Appends the stored form of the value.
    public func __append(to row: RowEncoder) {
        row.append(.blob) { bytes in withUnsafeBytes(of: uuid) { bytes.append(contentsOf: $0) } }
    }

    /// Reads the stored form of a value.
    public static func __read(_ row: RowDecoder, column: Int32) throws -> UUID {
        let bytes = row.bytes(column)
        guard bytes.count == 16 else {
            throw InvalidStoredValue(column: column, reason: "\(bytes.count) bytes are not a UUID")
        }
        return UUID(uuid: bytes.loadUnaligned(as: uuid_t.self))
    }

    /// The value as a node of exact JSON.
    public var __json: JSONNode { .text(uuidString) }

    /// Creates a value from a JSON node. Returns `nil` if the node is not a value of this type.
    public init?(__json node: JSONNode) {
        guard case .text(let text) = node else { return nil }
        self.init(uuidString: text)
    }
}

/// A URL is stored as its text. A relative URL is followed by U+0000 and its base.
extension URL: PropertyValue {
    /// The kind of the property in the schema.
    public static var __kind: PropertyKind { .url }

    private var storedText: String {
        guard let baseURL else { return relativeString }
        return relativeString + "\u{0}" + baseURL.storedText
    }

    private init?(storedText: some StringProtocol) {
        guard let separator = storedText.utf8.firstIndex(of: 0) else {
            self.init(string: String(storedText))
            return
        }
        let base = URL(storedText: storedText[storedText.utf8.index(after: separator)...])
        self.init(string: String(storedText[..<separator]), relativeTo: base)
    }

    /// Appends the stored form of the value.
    public func __append(to row: RowEncoder) { row.append(text: storedText) }

    /// Reads the stored form of a value.
    public static func __read(_ row: RowDecoder, column: Int32) throws -> URL {
        let text = try row.text(column)
        guard let url = URL(storedText: text) else {
            throw InvalidStoredValue(column: column, reason: "\"\(text)\" is not a URL")
        }
        return url
    }

    /// The value as a node of exact JSON.
    public var __json: JSONNode { .text(storedText) }

    /// Creates a value from a JSON node. Returns `nil` if the node is not a value of this type.
    public init?(__json node: JSONNode) {
        guard case .text(let text) = node else { return nil }
        self.init(storedText: text)
    }
}

extension Reference: PropertyValue {
    /// The kind of the property in the schema.
    public static var __kind: PropertyKind { .reference("\(Target.self)") }
    /// Appends the stored form of the value.
    public func __append(to row: RowEncoder) { row.append(text: localID.rawValue) }
    /// Reads the stored form of a value.
    public static func __read(_ row: RowDecoder, column: Int32) throws -> Self {
        Self(localID: LocalID(try row.text(column)))
    }
    /// The value as a node of exact JSON.
    public var __json: JSONNode { .text(localID.rawValue) }
    /// Creates a value from a JSON node. Returns `nil` if the node is not a value of this type.
    public init?(__json node: JSONNode) {
        guard case .text(let text) = node else { return nil }
        self.init(localID: LocalID(text))
    }
}
