/// Parses the text of a condition or of an order.
///
/// ```
/// condition  = and { ("or" | "||") and }
/// and        = unary { ("and" | "&&") unary }
/// unary      = ("not" | "!") unary | "(" condition ")" | "true" | "false"
///            | ("any" | "all" | "none") path "(" condition ")" | test
/// test       = path [ comparison | "in" list | "is" ["not"] "nil" | textTest [modifier] string | "contains" value
///            | "matches" string ]
/// comparison = ("==" | "=" | "!=" | "<>" | "<" | "<=" | ">" | ">=") [modifier] (value | path)
/// textTest   = "beginsWith" | "endsWith" | "contains" | "like"
/// modifier   = "[c]" | "[s]"
/// list       = "(" [value {"," value}] ")" | "[" … "]" | "{" … "}"
/// path       = name { "." name } [ ".@count" ]
/// order      = path ["asc" | "desc"] ["nils" ("first" | "last")] { "," … }
/// ```
struct QueryParser {
    private let text: String
    private let tokens: [QueryToken]
    private var position = 0
    private var depth = 0

    /// The maximum number of nested parentheses and negations.
    private static let maximumDepth = 200
    private static let count = "@count"

    init(_ text: String) throws {
        self.text = text
        tokens = try QueryLexer.tokens(text)
    }

    /// Parses the whole text as a condition.
    mutating func condition() throws -> DynamicPredicate {
        let result = try or()
        guard current.kind == .end else { throw error(["\"and\"", "\"or\"", "the end"]) }
        return result
    }

    /// Parses the whole text as the keys of an order.
    mutating func order() throws -> [DynamicSort] {
        var keys: [DynamicSort] = []
        repeat {
            let isNegative = consume(symbol: "-")
            let path = DynamicPath(try names())
            var ascending = !isNegative
            if consume(keyword: "desc") { ascending.toggle() } else { _ = consume(keyword: "asc") }
            var nilsFirst: Bool?
            if consume(keyword: "nils") {
                if consume(keyword: "first") {
                    nilsFirst = true
                } else if consume(keyword: "last") {
                    nilsFirst = false
                } else {
                    throw error(["\"first\"", "\"last\""])
                }
            }
            keys.append(DynamicSort(path, ascending: ascending, nilsFirst: nilsFirst))
        } while consume(symbol: ",")
        guard current.kind == .end else { throw error(["\"asc\"", "\"desc\"", "\",\"", "the end"]) }
        return keys
    }

    // MARK: Conditions

    private mutating func or() throws -> DynamicPredicate {
        var operands = [try and()]
        while consume(keyword: "or") || consume(symbol: "||") { operands.append(try and()) }
        return operands.count == 1 ? operands[0] : .any(operands)
    }

    private mutating func and() throws -> DynamicPredicate {
        var operands = [try unary()]
        while consume(keyword: "and") || consume(symbol: "&&") { operands.append(try unary()) }
        return operands.count == 1 ? operands[0] : .all(operands)
    }

    private mutating func unary() throws -> DynamicPredicate {
        depth += 1
        defer { depth -= 1 }
        guard depth <= Self.maximumDepth else { throw error(["at most \(Self.maximumDepth) nested conditions"]) }
        if consume(keyword: "not") || consume(symbol: "!") { return !(try unary()) }
        if consume(symbol: "(") {
            let result = try or()
            guard consume(symbol: ")") else { throw error(["\"and\"", "\"or\"", "\")\""]) }
            return result
        }
        if consume(keyword: "true") { return .constant(true) }
        if consume(keyword: "false") { return .constant(false) }
        for quantifier in DynamicQuantifier.allCases where consume(keyword: quantifier.rawValue) {
            let path = DynamicPath(try names())
            guard consume(symbol: "(") else { throw error(["\"(\"", "\".\""]) }
            let inner = try or()
            guard consume(symbol: ")") else { throw error(["\"and\"", "\"or\"", "\")\""]) }
            return .linked(path, quantifier: quantifier, where: inner)
        }
        return try test()
    }

    private mutating func test() throws -> DynamicPredicate {
        var names = try names(orConditions: true)
        let isCount = names.count > 1 && names.last == Self.count
        if isCount { names.removeLast() }
        let path = DynamicPath(names)
        if let comparison = consumeComparison() {
            return isCount ? .count(path, by: comparison, to: try integer()) : try compare(path, by: comparison)
        }
        guard !isCount else { throw error(DynamicComparison.allCases.map { "\"\($0.rawValue)\"" }) }
        if consume(keyword: "in") { return .in(path, values: try list()) }
        if consume(keyword: "is") {
            let isNegated = consume(keyword: "not")
            guard consume(keyword: "nil") || consume(keyword: "null") else {
                throw error(isNegated ? ["\"nil\""] : ["\"nil\"", "\"not\""])
            }
            return .compare(path, by: isNegated ? .notEqual : .equal, to: .null)
        }
        if consume(keyword: "matches") { return .matches(path, words: try string()) }
        for test in DynamicTextTest.allCases where consume(keyword: test.rawValue) {
            let mode = try modifier() ?? .automatic
            // The elements of a list can have any type, and are distinguished when the names are known.
            if test == .contains, mode == .automatic {
                let value = try value()
                guard case .string(let text) = value else { return .contains(path, value: value) }
                return .text(path, test: .contains, operand: text, case: .automatic)
            }
            return .text(path, test: test, operand: try string(), case: mode)
        }
        return .isTrue(path)
    }

    private mutating func compare(_ path: DynamicPath, by comparison: DynamicComparison) throws -> DynamicPredicate {
        let mode = try modifier()
        if mode == .ignored { return .compareFolded(path, by: comparison, to: try string()) }
        if case .quotedName = current.kind {
            return .compareProperties(path, by: comparison, to: DynamicPath(try names()))
        }
        if case .name(let name) = current.kind, !Self.isLiteral(name) {
            return .compareProperties(path, by: comparison, to: DynamicPath(try names()))
        }
        return .compare(path, by: comparison, to: try value(or: "a property"))
    }

    private mutating func modifier() throws -> DynamicCase? {
        guard consume(symbol: "[") else { return nil }
        guard case .name(let name) = current.kind, let mode = DynamicCase(rawValue: name.lowercased()),
            mode != .automatic
        else { throw error(["\"c\"", "\"s\""]) }
        position += 1
        guard consume(symbol: "]") else { throw error(["\"]\""]) }
        return mode
    }

    // MARK: Values

    private mutating func value(or other: String? = nil) throws -> DynamicValue {
        let expected = ["a value"] + (other.map { [$0] } ?? [])
        switch current.kind {
        case .value(let value):
            position += 1
            return value
        case .name(let name) where Self.isLiteral(name):
            position += 1
            return switch name.lowercased() {
            case "true": .bool(true)
            case "false": .bool(false)
            default: .null
            }
        default: throw error(expected)
        }
    }

    private static func isLiteral(_ name: String) -> Bool {
        ["true", "false", "nil", "null"].contains(name.lowercased())
    }

    private mutating func string() throws -> String {
        guard case .value(.string(let text)) = current.kind else { throw error(["a text in quotes"]) }
        position += 1
        return text
    }

    private mutating func integer() throws -> Int {
        guard case .value(.integer(let number)) = current.kind, let number = Int(exactly: number) else {
            throw error(["an integer"])
        }
        position += 1
        return number
    }

    private mutating func list() throws -> [DynamicValue] {
        let closings = ["(": ")", "[": "]", "{": "}"]
        guard case .symbol(let opening) = current.kind, let closing = closings[opening] else { throw error(["\"(\""]) }
        position += 1
        var values: [DynamicValue] = []
        if consume(symbol: closing) { return values }
        repeat { values.append(try value()) } while consume(symbol: ",")
        guard consume(symbol: closing) else { throw error(["\",\"", "\"\(closing)\""]) }
        return values
    }

    // MARK: Names

    private mutating func names(orConditions: Bool = false) throws -> [String] {
        var names: [String] = []
        repeat {
            switch current.kind {
            case .quotedName(let name): names.append(name)
            // After a period, a keyword is a name.
            case .name(let name) where !names.isEmpty || !Self.keywords.contains(name.lowercased()): names.append(name)
            default:
                guard names.isEmpty else { throw error(["a name"]) }
                throw error(orConditions ? ["a property", "\"not\"", "\"(\""] : ["a property"])
            }
            position += 1
        } while consume(symbol: ".")
        return names
    }

    static let keywords: Set<String> = [
        "and", "or", "not", "in", "is", "nil", "null", "true", "false", "any", "all", "none", "beginswith", "endswith",
        "contains", "like", "matches",
    ]

    // MARK: Tokens

    private var current: QueryToken { tokens[position] }

    private mutating func consume(symbol: String) -> Bool {
        guard current.kind == .symbol(symbol) else { return false }
        position += 1
        return true
    }

    private mutating func consume(keyword: String) -> Bool {
        guard case .name(let name) = current.kind, name.lowercased() == keyword.lowercased() else { return false }
        position += 1
        return true
    }

    private mutating func consumeComparison() -> DynamicComparison? {
        guard case .symbol(let symbol) = current.kind else { return nil }
        let comparison: DynamicComparison? =
            switch symbol {
            case "=": .equal
            case "<>": .notEqual
            default: DynamicComparison(rawValue: symbol)
            }
        if comparison != nil { position += 1 }
        return comparison
    }

    private func error(_ expected: [String]) -> QuerySyntaxError {
        QuerySyntaxError(
            text: text, scalarOffset: current.offset, expected: expected,
            found: current.kind == .end ? nil : "\"\(current.source)\"")
    }
}

extension DynamicPredicate {
    /// Creates a condition from its text, such as `shop beginsWith 'лен' and points > 10`. <doc:OpeningWithoutTypes>
    /// describes the language.
    ///
    /// Names are checked when a query gets the condition.
    ///
    /// - Parameter text: The condition.
    /// - Throws: ``QuerySyntaxError`` with the position of the error, and what was expected there.
    public init(_ text: String) throws {
        var parser = try QueryParser(text)
        self = try parser.condition()
    }
}

extension DynamicSort {
    /// Returns the keys of an order from their text, such as `points desc, owner.name, shop desc nils first`.
    ///
    /// - Parameter text: The keys, the most significant first.
    /// - Throws: ``QuerySyntaxError`` with the position of the error, and what was expected there.
    public static func keys(_ text: String) throws -> [DynamicSort] {
        var parser = try QueryParser(text)
        return try parser.order()
    }
}
