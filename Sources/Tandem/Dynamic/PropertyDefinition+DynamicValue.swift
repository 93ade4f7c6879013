import BigInt
import Foundation

// Conversion of values between their stored form and ``DynamicValue``.

extension PropertyDefinition {
    /// Returns a stored value of the property. A value of another kind becomes ``DynamicValue/unreadable(_:)``.
    public func dynamicValue(of stored: StorageValue) -> DynamicValue {
        if stored == .null { return .null }
        return (try? readable(stored)) ?? .unreadable(stored)
    }

    /// Returns a stored value of the property, or `nil` if it has another kind.
    ///
    /// - Throws: An error if its bytes can't be decoded.
    private func readable(_ stored: StorageValue) throws -> DynamicValue? {
        switch (kind, stored) {
        case (.bool, .integer(let value)): return .bool(value != 0)
        case (.integer, .integer(let value)): return .integer(value)
        case (.unsigned64, .integer(let value)): return .bigInt(BigInt(value))
        case (.unsigned64, .blob(let bytes)) where bytes.count == 8:
            return .bigInt(BigInt(bytes.reduce(0 as UInt64) { $0 << 8 | UInt64($1) }))
        case (.double, _), (.float, _): return try number(stored).map { .double($0) }
        case (.date, _): return try number(stored).map { .date(Date(timeIntervalSinceReferenceDate: $0)) }
        case (.string, .text(let text)): return .string(text)
        case (.data, .blob(let bytes)): return .data(Data(bytes))
        case (.uuid, .blob): return .uuid(try stored.value(as: UUID.self))
        case (.url, .text): return .url(try stored.value(as: URL.self))
        case (.decimal, .blob(let bytes)): return .decimal(try bytes.withUnsafeBytes { try OrderedDecimal.decode($0) })
        case (.bigInt, .blob(let bytes)): return .bigInt(try bytes.withUnsafeBytes { try OrderedBigInt.decode($0) })
        case (.bigUInt, .blob(let bytes)):
            return .bigInt(BigInt(try bytes.withUnsafeBytes { try OrderedBigInt.decodeUnsigned($0) }))
        case (.reference, .text(let text)): return .reference(LocalID(text))
        case (.references, .text(let text)): return .references(try LinkList.parse(text))
        case (.attachment, .text): return .attachment(try stored.value(as: Attachment.self))
        case (.collection, .text) where holdsAttachments:
            return .attachments(try stored.value(as: [Attachment].self))
        case (.collection, .text(var text)):
            _ = try text.withUTF8 { try ExactJSON.parse($0) }
            return .json(text)
        case (.json, .text(var text)):
            _ = try text.withUTF8 { try ExactJSON.parseWire($0) }
            return .json(text)
        default: return nil
        }
    }

    private func number(_ stored: StorageValue) throws -> Double? {
        switch stored {
        case .real(let value): value
        case .integer(let value): Double(value)
        case .blob: kind == .float ? Double(try stored.value(as: Float.self)) : try stored.value(as: Double.self)
        default: nil
        }
    }

    /// Returns the stored form of a value, or `nil` if it does not have the property's kind.
    package func storageValue(of value: DynamicValue) -> StorageValue? {
        let row = RowEncoder()
        return append(value, to: row) ? row.value(at: 0) : nil
    }

    /// Appends a value. Returns `false`, with nothing appended, if it does not have the property's kind.
    func append(_ value: DynamicValue, to row: RowEncoder) -> Bool {
        switch value {
        case .null:
            guard isOptional else { return false }
            row.appendNull()
            return true
        // The file of a new attachment must live until the value is committed.
        case .attachment(let attachment): return appendAny(attachment, row)
        case .attachments(let attachments): return appendAny(attachments, row)
        case .unreadable: return false
        case .decimal(let number) where kind == .double || kind == .float:
            return Double(number.description).map { appendJSON(.real($0), row) } ?? false
        case .bigInt(let number) where kind == .double || kind == .float:
            return appendJSON(.real(Double(number)), row)
        case .json(let text):
            guard let node = node(ofJSON: text) else { return false }
            if case .json = kind, isOpaque {
                // The text keeps all digits of its numbers. With too many, it could not be read again.
                guard (try? readable(.text(text))) != nil else { return false }
                row.append(text: text)
                return true
            }
            return appendJSON(node, row) && row.failure == nil
        default: return value.node.map { isGiven(value) && appendJSON($0, row) && row.failure == nil } ?? false
        }
    }

    /// Returns the node of JSON in the store's own notation or in that of other programs.
    ///
    /// Returns `nil` if the property has no JSON.
    private func node(ofJSON text: String) -> JSONNode? {
        var text = text
        return text.withUTF8 { utf8 in
            switch kind {
            case .collection, .references, .attachment:
                (try? ExactJSON.parse(utf8)) ?? (try? ExactJSON.parseForeign(utf8))
            case .json: try? ExactJSON.parseForeign(utf8)
            default: nil
            }
        }
    }

    /// Whether a value's case can be given for the property. JSON nodes alone do not distinguish all of them.
    private func isGiven(_ value: DynamicValue) -> Bool {
        switch (value, kind) {
        case (.bool, .bool), (.integer, .bool): true
        case (.integer, _), (.bigInt, _), (.double, _), (.decimal, _): kind.isNumeric
        case (.string, .string), (.string, .url), (.string, .uuid), (.string, .date), (.string, .data),
            (.string, .reference):
            true
        case (.data, .data), (.date, .date), (.uuid, .uuid), (.url, .url), (.reference, .reference),
            (.references, .references):
            true
        default: false
        }
    }
}

extension PropertyKind {
    /// Whether values are numbers.
    package var isNumeric: Bool {
        switch self {
        case .integer, .unsigned64, .double, .float, .decimal, .bigInt, .bigUInt: true
        default: false
        }
    }
}
