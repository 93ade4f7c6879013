import RemoteHTTP
import Tandem
import TandemSync

/// The query options of a list: filters, tombstones and a position.
///
/// Kinto joins all filters by "and", and orders JSON values of different types: null, texts, numbers, Booleans. A
/// missing member is greater than all of them. A comparison of an optional member therefore gets a second bound, which
/// excludes the other types. A filter that can't be expressed exactly is refused.
struct KintoQuery: Sendable {
    private struct Parameter: Sendable {
        let key: String
        var value: String
        /// Whether the parameter only excludes other types, so that a narrower condition may replace it.
        var isBound: Bool
    }

    private var parameters: [Parameter] = []
    /// Lists records after this time, in milliseconds, with their tombstones.
    var since: Int64?
    /// Lists only tombstones, or only live records; `nil` for both, as far as Kinto lists tombstones.
    var isDeleted: Bool?
    /// Whether the filters compare `last_modified`. Kinto then lists tombstones.
    private(set) var comparesTime = false
    /// Whether the filters say which of tombstones and live records match.
    private(set) var comparesDeleted = false

    /// Creates a query of all records.
    init() {}

    /// Creates the query of a filter.
    ///
    /// - Throws: ``RequestEncodingError`` if Kinto can't express a part of the filter.
    init(_ filter: RemoteFilter?) throws(RequestEncodingError) {
        if let filter { try add(filter) }
    }

    /// The options of the URL.
    var options: [String] {
        // NB: In memory, Kinto ignores the filters before a `has_`.
        var options = parameters.filter { $0.key.hasPrefix("has_") } + parameters.filter { !$0.key.hasPrefix("has_") }
        if let isDeleted {
            options.append(Parameter(key: isDeleted ? "deleted" : "not_deleted", value: "true", isBound: false))
        }
        if let since { options.append(Parameter(key: "_since", value: String(since), isBound: false)) }
        return options.map { "\($0.key)=\(PathText.queryValue($0.value))" }
    }

    /// Lists the records after an ID only.
    mutating func setStart(after id: ServerID) {
        parameters.append(
            Parameter(key: "gt_id", value: Self.json(.text(id.rawValue)), isBound: false))
    }
}

// MARK: - Filters

extension KintoQuery {
    /// Adds a condition.
    mutating func add(_ filter: RemoteFilter) throws(RequestEncodingError) {
        switch filter {
        case .constant(true): return
        // No ID begins with a hyphen.
        case .constant(false): try set("eq", of: RemoteFilter.Member.id.name, to: Self.json(.text("-")))
        case .not(let inner): try addNegation(of: inner)
        case .all(let parts): for part in parts { try add(part) }
        case .any(let parts): try addAny(parts)
        case .isNull(let member):
            throw Self.refusal(member, message: "Kinto can't find records with null or without a member at once.")
        case .comparison(let member, let comparison, let value): try compare(member, by: comparison, to: value)
        case .members(let member, _, _):
            throw Self.refusal(member, message: "Kinto can't compare two members of a record.")
        case .among(let member, let values): try addAmong(member, values: values, word: "in")
        case .text(let member, let test, let text): try addText(member, test: test, text: text)
        }
    }

    private mutating func addNegation(of filter: RemoteFilter) throws(RequestEncodingError) {
        switch filter {
        case .constant(let value): try add(.constant(!value))
        case .not(let inner): try add(inner)
        case .any(let parts): for part in parts { try addNegation(of: part) }
        case .all(let parts) where parts.count == 1: try addNegation(of: parts[0])
        case .isNull(let member):
            let name = try Self.name(member)
            try set("has", of: name, to: "true")
            try set("exclude", of: name, to: "null")
        case .comparison(let member, let comparison, let value):
            let isEquality = comparison == .equal || comparison == .notEqual
            guard isEquality || !member.isOptional || member == .updatedAt else {
                throw Self.refusal(member, message: "Kinto can't compare numbers and find null at once.")
            }
            try compare(member, by: comparison.opposite, to: value)
        case .among(let member, let values): try addAmong(member, values: values, word: "exclude")
        case .all:
            throw RequestEncodingError(.filter, message: "Kinto can't find records with one of several conditions.")
        case .members(let member, _, _), .text(let member, _, _):
            throw Self.refusal(member, message: "Kinto can't negate this condition.")
        }
    }

    /// Adds alternatives if they are values of one member.
    private mutating func addAny(_ parts: [RemoteFilter]) throws(RequestEncodingError) {
        var values: [RemoteFilter.Value] = []
        var common: RemoteFilter.Member?
        for part in parts {
            guard case .comparison(let member, .equal, let value) = part, common == nil || common == member else {
                throw RequestEncodingError(
                    .filter, message: "Kinto can't find records with one of several conditions.")
            }
            common = member
            values.append(value)
        }
        guard let common else { throw RequestEncodingError(.filter, message: "A filter joins an empty list of parts.") }
        try add(.among(common, values: values))
    }

    private mutating func compare(
        _ member: RemoteFilter.Member, by comparison: RemoteFilter.Comparison, to value: RemoteFilter.Value
    ) throws(RequestEncodingError) {
        if member == .deleted { return try compareDeleted(by: comparison, to: value) }
        let name = try Self.name(member)
        let literal = try Self.literal(value, for: member)
        if member == .updatedAt { comparesTime = true }
        try set(comparison.word, of: name, to: literal)
        switch comparison {
        case .equal, .notEqual: return
        case .less, .lessOrEqual, .greater, .greaterOrEqual: break
        }
        if member == .updatedAt || member == .id { return }
        let isLess = comparison == .less || comparison == .lessOrEqual
        switch value {
        case .bool: throw Self.refusal(member, message: "Kinto does not order true and false.")
        case .text: throw Self.refusal(member, message: "Kinto's order of texts depends on its database.")
        case .integer, .real:
            if member.isOptional {
                try bound(isLess ? "min" : "max", of: name, to: isLess ? Self.least : Self.greatest)
            }
        // A time is a text, and all texts come before all numbers.
        case .time:
            if member.isOptional { try bound(isLess ? "min" : "max", of: name, to: isLess ? "\"\"" : Self.least) }
        }
    }

    private mutating func compareDeleted(
        by comparison: RemoteFilter.Comparison, to value: RemoteFilter.Value
    ) throws(RequestEncodingError) {
        guard case .bool(let value) = value, comparison == .equal || comparison == .notEqual else {
            throw Self.refusal(.deleted, message: "Kinto can only test whether a record is deleted.")
        }
        let wanted = value == (comparison == .equal)
        guard isDeleted == nil || isDeleted == wanted else { return try add(.constant(false)) }
        (isDeleted, comparesDeleted) = (wanted, true)
    }

    private mutating func addAmong(
        _ member: RemoteFilter.Member, values: [RemoteFilter.Value], word: String
    ) throws(RequestEncodingError) {
        guard member != .deleted, member != .updatedAt, !values.isEmpty else {
            throw Self.refusal(member, message: "Kinto can't find these values.")
        }
        let literals = try values.map { value throws(RequestEncodingError) in try Self.literal(value, for: member) }
        try set(word, of: try Self.name(member), to: literals.joined(separator: ","))
    }

    private mutating func addText(
        _ member: RemoteFilter.Member, test: RemoteFilter.TextTest, text: String
    ) throws(RequestEncodingError) {
        let name = try Self.name(member)
        guard text.unicodeScalars.allSatisfy(Self.isPlain) else {
            throw Self.refusal(member, message: "Kinto can't search for a text with signs such as '*', '%' or '.'.")
        }
        let pattern =
            switch test {
            case .prefix: "\(text)*"
            case .suffix: "*\(text)"
            case .contains: "*\(text)*"
            }
        // NB: In memory, Kinto fails at a search in null and in a missing member unless an earlier filter excludes it.
        try bound("min", of: name, to: "\"\"")
        try bound("max", of: name, to: Self.least)
        try set("like", of: name, to: Self.json(.text(pattern)))
    }

    /// Returns whether a scalar has no meaning in a pattern of PostgreSQL or Python.
    private static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
        guard scalar.isASCII else { return scalar.properties.generalCategory != .control }
        let byte = UInt8(scalar.value)
        return byte.isAlphanumeric || " -,;:!@#&='\"<>/~".utf8.contains(byte)
    }
}

// MARK: - Parts

extension KintoQuery {
    private static let greatest = "1.7976931348623157e308"
    private static let least = "-1.7976931348623157e308"

    private mutating func set(_ word: String, of name: String, to value: String) throws(RequestEncodingError) {
        let key = Self.key(word, name: name)
        guard let index = parameters.firstIndex(where: { $0.key == key }) else {
            parameters.append(Parameter(key: key, value: value, isBound: false))
            return
        }
        guard parameters[index].isBound || parameters[index].value == value else {
            throw RequestEncodingError(
                .filter, message: "Kinto can't compare a member twice in the same way.", member: name)
        }
        parameters[index].value = value
        parameters[index].isBound = false
    }

    private mutating func bound(_ word: String, of name: String, to value: String) throws(RequestEncodingError) {
        let key = Self.key(word, name: name)
        guard let known = parameters.first(where: { $0.key == key }) else {
            parameters.append(Parameter(key: key, value: value, isBound: true))
            return
        }
        // A search of a text and a comparison of a time have different bounds.
        guard !known.isBound || known.value == value else {
            throw RequestEncodingError(.filter, message: "Kinto can't join these conditions.", member: name)
        }
    }

    /// Returns the name of an option. A plain name that begins with an operator of Kinto would be read as such.
    private static func key(_ word: String, name: String) -> String {
        guard word == "eq" else { return "\(word)_\(name)" }
        let words = [
            "lt", "min", "max", "not", "eq", "gt", "in", "exclude", "like", "has", "contains_any", "contains", "",
        ]
        return words.contains { name.hasPrefix("\($0)_") } ? "eq_\(name)" : name
    }

    private static func name(_ member: RemoteFilter.Member) throws(RequestEncodingError) -> String {
        switch member {
        case .updatedAt: return "last_modified"
        case .createdAt: throw refusal(member, message: "Kinto does not keep the time of the insert.")
        default: break
        }
        guard MemberName.isIdentifier(member.name) else {
            throw refusal(member, message: "The name is not an identifier, so a filter can't contain it.")
        }
        return member.name
    }

    private static func literal(
        _ value: RemoteFilter.Value, for member: RemoteFilter.Member
    ) throws(RequestEncodingError) -> String {
        switch value {
        case .bool(let value): return value ? "true" : "false"
        case .integer(let value): return String(value)
        case .real(let value):
            guard value.isFinite else { throw refusal(member, message: "A filter can't contain NaN or infinity.") }
            return json(.real(value))
        case .text(let text):
            guard !text.utf8.contains(0) else {
                throw refusal(member, message: "Kinto can't find a text with the character U+0000.")
            }
            return json(.text(text))
        case .time(let time):
            guard member == .updatedAt else { return json(.text(time.text)) }
            let milliseconds = KintoTime.milliseconds(from: time)
            guard milliseconds >= 0, time.nanoseconds % 1_000_000 == 0 else {
                throw refusal(member, message: "Kinto's times are milliseconds after 1970.")
            }
            return String(milliseconds)
        }
    }

    /// Encodes a value as JSON, without commas, which separate the values of a list.
    private static func json(_ value: JSONNode) -> String {
        var utf8: [UInt8] = []
        // A scalar is not nested, so that the encoder does not throw.
        try? ExactJSON.writeForeign(value, to: &utf8)
        // A comma with a combining accent is another `Character`, but Kinto splits there.
        return utf8.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
            .map { String(decoding: $0, as: UTF8.self) }.joined(separator: "\\u002c")
    }

    private static func refusal(_ member: RemoteFilter.Member, message: String) -> RequestEncodingError {
        RequestEncodingError(.filter, message: message, member: member.name)
    }
}

extension RemoteFilter.Comparison {
    fileprivate var word: String {
        switch self {
        case .equal: "eq"
        case .notEqual: "not"
        case .less: "lt"
        case .lessOrEqual: "max"
        case .greater: "gt"
        case .greaterOrEqual: "min"
        }
    }
}
