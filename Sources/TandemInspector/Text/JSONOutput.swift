import Tandem

/// A value of the command's JSON output. The members of objects keep their order.
package indirect enum JSONOutput: Sendable {
    case null
    case bool(Bool)
    case integer(Int)
    case number(Double)
    case text(String)
    case array([JSONOutput])
    case object([(String, JSONOutput)])
    /// Valid JSON.
    case raw(String)

    /// Creates a text, or null.
    package init(_ text: String?) { self = text.map { JSONOutput.text($0) } ?? .null }

    /// The JSON in one line.
    package var rendered: String {
        switch self {
        case .null: "null"
        case .bool(let value): "\(value)"
        case .integer(let value): "\(value)"
        case .number(let value): value.isFinite ? "\(value)" : Self.quoted("\(value)")
        case .text(let value): Self.quoted(value)
        case .array(let values): "[" + values.map(\.rendered).joined(separator: ",") + "]"
        case .object(let members):
            "{" + members.map { Self.quoted($0.0) + ":" + $0.1.rendered }.joined(separator: ",") + "}"
        case .raw(let json): json
        }
    }

    /// Returns a text with quotes and escapes.
    static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\r": result += "\\r"
            case "\t": result += "\\t"
            // Control characters, and line separators, of which terminals and scripts take notice.
            case _ where scalar.value < 0x20 || 0x7F..<0xA0 ~= scalar.value || 0x2028...0x2029 ~= scalar.value:
                let digits = String(scalar.value, radix: 16, uppercase: true)
                result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }
}

extension JSONOutput {
    /// Creates the JSON of a value, for people and scripts: dates in ISO 8601, bytes in base64, large numbers as texts.
    init(_ value: DynamicValue) {
        switch value {
        case .null, .unreadable: self = .null
        case .bool(let value): self = .bool(value)
        case .integer(let value): self = .raw("\(value)")
        case .double(let value): self = .number(value)
        case .references(let ids): self = .array(ids.map { .text($0.rawValue) })
        case .attachment(let file): self = Self.file(file)
        case .attachments(let files): self = .array(files.map(Self.file))
        case .json(let json): self = .raw(json)
        case .bigInt, .decimal, .string, .data, .date, .uuid, .url, .reference: self = .text(value.description)
        }
    }

    private static func file(_ file: Attachment) -> JSONOutput {
        .object([
            ("id", .text("\(file.id)")), ("name", .text(file.name)), ("contentType", .text(file.contentType)),
            ("size", file.size.map { .raw("\($0)") } ?? .null),
        ])
    }
}
