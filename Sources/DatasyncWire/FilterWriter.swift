import RemoteHTTP
import TandemSync

/// Encodes filters as OData.
///
/// The encoder writes tests for null explicitly, because `ne` includes nulls on one server and excludes them on the
/// other. With explicit tests, both servers return the same items. Negations move down to the comparisons, because the
/// negation of an unknown value is unknown. Each binary node is in parentheses.
public struct FilterWriter: Sendable {
    let grammar: Dialect.FilterGrammar
    let hasCreatedAt: Bool

    /// Creates an encoder for a dialect's grammar.
    public init(_ dialect: Dialect) {
        grammar = dialect.filterGrammar
        hasCreatedAt = dialect.hasCreatedAt
    }

    /// Returns the value of `$filter`, not percent-encoded. Returns `nil` for a filter that is always true.
    ///
    /// - Throws: ``RequestEncodingError`` if this dialect can't express a part of the filter.
    public func text(_ filter: RemoteFilter) throws(RequestEncodingError) -> String? {
        if case .constant(true) = filter { return nil }
        return try write(filter, isNegated: false)
    }

    private func write(_ filter: RemoteFilter, isNegated: Bool) throws(RequestEncodingError) -> String {
        switch filter {
        // Both grammars have only comparisons, and each item has an ID.
        case .constant(let value): return value != isNegated ? "(id ne null)" : "(id eq null)"
        case .not(let inner): return try write(inner, isNegated: !isNegated)
        case .all(let parts): return try join(parts, with: isNegated ? "or" : "and", isNegated: isNegated)
        case .any(let parts): return try join(parts, with: isNegated ? "and" : "or", isNegated: isNegated)
        case .isNull(let member): return "(\(try name(member)) \(isNegated ? "ne" : "eq") null)"
        case .comparison(let member, let comparison, let value):
            return try compare(
                member, by: isNegated ? comparison.opposite : comparison, to: value, nullHolds: isNegated)
        case .members(let left, let comparison, let right):
            return try compare(
                left, by: isNegated ? comparison.opposite : comparison, to: right, nullHolds: isNegated)
        case .among(let member, let values): return try among(member, values: values, isNegated: isNegated)
        case .text(let member, let test, let text):
            return try passes(member, test: test, text: text, isNegated: isNegated)
        }
    }

    /// Joins pairs from left to right. Neither server documents a depth limit for chains.
    private func join(
        _ parts: [RemoteFilter], with word: String, isNegated: Bool
    ) throws(RequestEncodingError) -> String {
        var text: String?
        for part in parts {
            let next = try write(part, isNegated: isNegated)
            text = text.map { "(\($0) \(word) \(next))" } ?? next
        }
        guard let text else { throw RequestEncodingError(.filter, message: "A filter joins an empty list of parts.") }
        return text
    }

    // MARK: Comparisons

    /// - Parameter nullHolds: Whether the comparison comes from a negation and must be true for null.
    private func compare(
        _ member: RemoteFilter.Member, by comparison: RemoteFilter.Comparison, to value: RemoteFilter.Value,
        nullHolds: Bool
    ) throws(RequestEncodingError) -> String {
        let name = try name(member)
        let text = "(\(name) \(comparison.word) \(try literal(value, for: member)))"
        // `!=` is true for null by itself. Its negation, `==`, is false for null.
        let holds = comparison == .notEqual || nullHolds && comparison != .equal
        return holds && member.isOptional ? "(\(text) or (\(name) eq null))" : text
    }

    private func compare(
        _ left: RemoteFilter.Member, by comparison: RemoteFilter.Comparison, to right: RemoteFilter.Member,
        nullHolds: Bool
    ) throws(RequestEncodingError) -> String {
        let names = (try name(left), try name(right))
        let text = "(\(names.0) \(comparison.word) \(names.1))"
        let optional = [(left, names.0), (right, names.1)].filter(\.0.isOptional).map(\.1)
        switch (comparison, optional.count) {
        case (_, 0): return text
        // Two nulls are equal.
        case (.equal, 2): return "(\(text) or ((\(names.0) eq null) and (\(names.1) eq null)))"
        case (.notEqual, 2):
            return """
                (\(text) or (((\(names.0) eq null) and (\(names.1) ne null)) or \
                ((\(names.0) ne null) and (\(names.1) eq null))))
                """
        case (.equal, _): return text
        case (.notEqual, _): return "(\(text) or (\(optional[0]) eq null))"
        default:
            guard nullHolds else { return text }
            return optional.reduce(text) { "(\($0) or (\($1) eq null))" }
        }
    }

    private func among(
        _ member: RemoteFilter.Member, values: [RemoteFilter.Value], isNegated: Bool
    ) throws(RequestEncodingError) -> String {
        let name = try name(member)
        let literals = try values.map { value throws(RequestEncodingError) in try literal(value, for: member) }
        guard !literals.isEmpty else {
            throw RequestEncodingError(.filter, message: "A list of values is empty.", member: member.name)
        }
        let text: String
        switch grammar {
        case .odata2:
            let (comparison, word) = isNegated ? ("ne", "and") : ("eq", "or")
            text = literals.dropFirst().reduce("(\(name) \(comparison) \(literals[0]))") {
                "(\($0) \(word) (\(name) \(comparison) \($1)))"
            }
        case .odata4:
            let list = "(\(name) in (\(literals.joined(separator: ","))))"
            text = isNegated ? "(not \(list))" : list
        }
        return isNegated && member.isOptional ? "(\(text) or (\(name) eq null))" : text
    }

    private func passes(
        _ member: RemoteFilter.Member, test: RemoteFilter.TextTest, text: String, isNegated: Bool
    ) throws(RequestEncodingError) -> String {
        let name = try name(member)
        let literal = try literal(.text(text), for: member)
        let call =
            switch (test, grammar) {
            case (.prefix, _): "startswith(\(name),\(literal))"
            case (.suffix, _): "endswith(\(name),\(literal))"
            case (.contains, .odata2): "substringof(\(literal),\(name))"
            case (.contains, .odata4): "contains(\(name),\(literal))"
            }
        guard isNegated else { return call }
        return member.isOptional ? "((not \(call)) or (\(name) eq null))" : "(not \(call))"
    }

    // MARK: Words

    /// Returns a member's name. It is not quoted, so it must be an identifier.
    private func name(_ member: RemoteFilter.Member) throws(RequestEncodingError) -> String {
        guard hasCreatedAt || member != .createdAt else {
            throw RequestEncodingError(.filter, message: "This server has no createdAt.", member: member.name)
        }
        guard MemberName.isIdentifier(member.name) else {
            throw RequestEncodingError(
                .filter, message: "The name is not an identifier, so a filter can't contain it.", member: member.name)
        }
        return member.name
    }

    private func literal(
        _ value: RemoteFilter.Value, for member: RemoteFilter.Member
    ) throws(RequestEncodingError) -> String {
        switch (value, grammar) {
        case (.bool(let value), _): return value ? "true" : "false"
        case (.integer(let value), _): return String(value)
        case (.real(let value), _):
            guard value.isFinite else {
                throw RequestEncodingError(
                    .filter, message: "A filter can't contain NaN or infinity.", member: member.name)
            }
            // Drops the plus sign of the exponent, which a URL would have to encode.
            return value.description.replacing("e+", with: "e")
        case (.text(let text), _): return Self.quoted(text)
        case (.time(let time), .odata2): return "datetimeoffset'\(time.text)'"
        case (.time(let time), .odata4): return "cast(\(time.text),Edm.DateTimeOffset)"
        }
    }
}

extension FilterWriter {
    /// Quotes a text, and doubles the quotes inside. It works on bytes, because a quote with a combining accent is
    /// another `Character`.
    static func quoted(_ text: String) -> String {
        let quote = UInt8(ascii: "'")
        var utf8 = [quote]
        for byte in text.utf8 {
            if byte == quote { utf8.append(quote) }
            utf8.append(byte)
        }
        utf8.append(quote)
        return String(decoding: utf8, as: UTF8.self)
    }
}

extension RemoteFilter.Comparison {
    fileprivate var word: String {
        switch self {
        case .equal: "eq"
        case .notEqual: "ne"
        case .less: "lt"
        case .lessOrEqual: "le"
        case .greater: "gt"
        case .greaterOrEqual: "ge"
        }
    }
}
