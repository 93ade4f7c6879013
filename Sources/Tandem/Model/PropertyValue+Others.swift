import Foundation

extension String: PropertyValue {
    public static var __kind: PropertyKind { .string }
    public func __append(to row: RowBuffer) { row.append(text: self) }
    public static func __read(_ row: RowReader, _ column: Int32) throws -> String { try row.text(column) }
    public var __json: JSONNode { .text(self) }
    public init?(__json node: JSONNode) {
        guard case .text(let value) = node else { return nil }
        self = value
    }
}

extension Data: PropertyValue {
    public static var __kind: PropertyKind { .data }

    public func __append(to row: RowBuffer) {
        row.append(.blob) { bytes in withUnsafeBytes { bytes.append(contentsOf: $0) } }
    }

    public static func __read(_ row: RowReader, _ column: Int32) throws -> Data {
        let bytes = row.bytes(column)
        guard bytes.baseAddress != nil || row.type(column) == StorageClass.blob else {
            throw InvalidStoredValue(column: column, reason: "no bytes where Data was expected")
        }
        return Data(bytes)
    }

    public var __json: JSONNode { .blob([UInt8](self)) }

    public init?(__json node: JSONNode) {
        switch node.unmarked {
        case .blob(let bytes): self.init(bytes)
        case .text(let text): self.init(base64Encoded: text)
        default: return nil
        }
    }
}

/// A date is stored as the seconds since 2001-01-01 00:00:00 UTC, the number that `Date` itself holds: from 1970 or
/// as text it would lose bits.
extension Date: PropertyValue {
    public static var __kind: PropertyKind { .date }

    public func __append(to row: RowBuffer) { timeIntervalSinceReferenceDate.__append(to: row) }

    public static func __read(_ row: RowReader, _ column: Int32) throws -> Date {
        Date(timeIntervalSinceReferenceDate: try Double.__read(row, column))
    }

    public var __json: JSONNode { .real(timeIntervalSinceReferenceDate) }

    public init?(__json node: JSONNode) {
        switch node.unmarked {
        case .real(let value): self.init(timeIntervalSinceReferenceDate: value)
        case .integer(let value): self.init(timeIntervalSinceReferenceDate: Double(value))
        case .text(let text):
            // What a person, or a server, writes: ISO 8601, with or without fractions of a second.
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

/// Stored as its 16 bytes, whose order is the UUIDs' own.
extension UUID: PropertyValue {
    public static var __kind: PropertyKind { .uuid }

    public func __append(to row: RowBuffer) {
        row.append(.blob) { bytes in withUnsafeBytes(of: uuid) { bytes.append(contentsOf: $0) } }
    }

    public static func __read(_ row: RowReader, _ column: Int32) throws -> UUID {
        let bytes = row.bytes(column)
        guard bytes.count == 16 else {
            throw InvalidStoredValue(column: column, reason: "\(bytes.count) bytes are no UUID")
        }
        return UUID(uuid: bytes.loadUnaligned(as: uuid_t.self))
    }

    public var __json: JSONNode { .text(uuidString) }

    public init?(__json node: JSONNode) {
        guard case .text(let text) = node else { return nil }
        self.init(uuidString: text)
    }
}

/// Stored as its text. A URL relative to another one is followed by U+0000 and its base.
extension URL: PropertyValue {
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

    public func __append(to row: RowBuffer) { row.append(text: storedText) }

    public static func __read(_ row: RowReader, _ column: Int32) throws -> URL {
        let text = try row.text(column)
        guard let url = URL(storedText: text) else {
            throw InvalidStoredValue(column: column, reason: "\"\(text)\" is no URL")
        }
        return url
    }

    public var __json: JSONNode { .text(storedText) }

    public init?(__json node: JSONNode) {
        guard case .text(let text) = node else { return nil }
        self.init(storedText: text)
    }
}

extension Reference: PropertyValue {
    public static var __kind: PropertyKind { .reference("\(Target.self)") }
    public func __append(to row: RowBuffer) { row.append(text: localID.rawValue) }
    public static func __read(_ row: RowReader, _ column: Int32) throws -> Self {
        Self(localID: LocalID(try row.text(column)))
    }
    public var __json: JSONNode { .text(localID.rawValue) }
    public init?(__json node: JSONNode) {
        guard case .text(let text) = node else { return nil }
        self.init(localID: LocalID(text))
    }
}
