import Foundation

extension DynamicObject {
    /// The object as JSON: its IDs, its server data, and its values by the names of the properties.
    ///
    /// ``WriteTransaction/upsert(_:json:ignoringUnknown:)-(String,_,_)`` reads it without loss. Big integers, decimals,
    /// UUIDs, URLs and references are strings. A date is the number of seconds since 2001-01-01 00:00:00 UTC. Bytes are
    /// an object with the member `$blob` in base64. A number that JSON can't represent is an object with the member
    /// `$real`. An unreadable value is `null`. In a `Codable` value, numbers with more digits than a `Double` lose some
    /// when they are read again.
    public var json: String {
        var bytes: [UInt8] = []
        var separator = "{"
        func append(_ name: String, write: (inout [UInt8]) throws -> Void) {
            bytes.append(contentsOf: separator.utf8)
            separator = ","
            // A text can always be written.
            try? ExactJSON.writeForeign(.text(name), to: &bytes)
            bytes.append(UInt8(ascii: ":"))
            let end = bytes.count
            do {
                try write(&bytes)
            } catch {
                bytes.removeLast(bytes.count - end)
                bytes.append(contentsOf: "null".utf8)
            }
        }
        func append(_ name: String, node: JSONNode?) {
            append(name) { try ExactJSON.writeForeign(node ?? .null, to: &$0) }
        }
        append("localID", node: .text(localID.rawValue))
        append("serverID", node: serverID.map { .text($0.rawValue) })
        append("version", node: version.map { .text($0) })
        append("createdAt", node: createdAt?.__json)
        append("updatedAt", node: updatedAt?.__json)
        for (property, stored) in zip(model.properties, storedValues) {
            append(property.name) { try property.writeJSON(of: stored, to: &$0) }
        }
        bytes.append(UInt8(ascii: "}"))
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension PropertyDefinition {
    /// Appends the JSON of a stored value.
    ///
    /// - Throws: An error if the value does not have the property's kind.
    fileprivate func writeJSON(of stored: StorageValue, to bytes: inout [UInt8]) throws {
        switch (kind, stored) {
        case (.json, .text(var text)):
            // The text is JSON already, and keeps all digits of its numbers.
            _ = try text.withUTF8 { try ExactJSON.parseWire($0) }
            bytes.append(contentsOf: text.utf8)
        case (.double, .blob), (.date, .blob):
            try ExactJSON.writeForeign(.real(try stored.value(as: Double.self)), to: &bytes)
        case (.float, .blob(let nan)): try ExactJSON.writeForeign(.blob(nan), to: &bytes)
        default: try ExactJSON.writeForeign(try node(of: stored), to: &bytes)
        }
    }
}
