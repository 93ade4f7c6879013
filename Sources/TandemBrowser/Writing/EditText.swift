import BigInt
import Foundation
import PageServer
import Tandem

/// The texts in which values are edited.
enum EditText {
    /// Returns whether a property's values can be edited as text. Files can't.
    static func isEditable(_ property: PropertyDefinition) -> Bool { !property.holdsAttachments }

    /// Returns the kind of the form's field: `bool`, `number`, `lines` or `text`.
    static func input(of property: PropertyDefinition) -> String {
        switch property.kind {
        case .bool: "bool"
        case .integer, .unsigned64, .double, .float, .decimal, .bigInt, .bigUInt: "number"
        case .string, .data, .collection, .json, .references: "lines"
        case .date, .uuid, .url, .reference, .attachment: "text"
        }
    }

    /// Returns the text of a value; nil if the value is nil, or has no text.
    static func text(of value: DynamicValue) -> String? {
        switch value {
        case .null, .attachment, .attachments, .unreadable: nil
        case .references(let ids): ids.map(\.rawValue).joined(separator: "\n")
        default: value.description
        }
    }

    /// Returns the value of a text; ``DynamicValue/null`` for nil.
    ///
    /// - Throws: ``WebFailure`` with the property if the text is not a value of its kind.
    static func value(of text: String?, for property: PropertyDefinition) throws -> DynamicValue {
        guard isEditable(property) else { throw failure(of: property, message: "Files can't be edited on this page.") }
        guard let text else {
            guard property.isOptional else { throw failure(of: property, message: "It can't be nil.") }
            return .null
        }
        guard let value = parsed(text, as: property.kind) else {
            throw failure(of: property, message: "This is not a value of the kind \(property.kind).")
        }
        return value
    }

    private static func parsed(_ text: String, as kind: PropertyKind) -> DynamicValue? {
        let trimmed = text.trimmingCharacters(in: .whitespacesAndNewlines)
        switch kind {
        case .bool: return trimmed == "true" ? .bool(true) : trimmed == "false" ? .bool(false) : nil
        case .integer, .unsigned64, .bigInt, .bigUInt:
            guard let number = BigInt(trimmed) else { return nil }
            return Int64(exactly: number).map { .integer($0) } ?? .bigInt(number)
        case .double, .float: return Double(trimmed).map { .double($0) }
        case .decimal: return decimal(trimmed).map { .decimal($0) }
        case .string: return .string(text)
        case .data: return Data(base64Encoded: trimmed).map { .data($0) }
        // The date of a distant year is a number of seconds. Other dates are in ISO 8601, which the store reads.
        case .date:
            let seconds = Double(trimmed)
            return seconds.map { .date(Date(timeIntervalSinceReferenceDate: $0)) } ?? .string(trimmed)
        case .uuid: return UUID(uuidString: trimmed).map { .uuid($0) }
        case .url: return .string(trimmed)
        case .reference: return trimmed.isEmpty ? nil : .reference(LocalID(trimmed))
        case .references:
            return .references(text.split(whereSeparator: \.isNewline).map { LocalID(String($0)) })
        case .collection, .json: return .json(text)
        case .attachment: return nil
        }
    }

    /// Returns the decimal number of a text; nil for other texts, also if they begin with a number.
    static func decimal(_ text: String) -> Decimal? {
        guard text.wholeMatch(of: /-?[0-9]+(\.[0-9]+)?/) != nil else { return nil }
        return Decimal(string: text, locale: nil)
    }

    private static func failure(of property: PropertyDefinition, message: String) -> WebFailure {
        WebFailure(.badRequest, message: "\(property.name): \(message)", fields: [property.name: message])
    }
}
