/// Parses filters and orders of both grammars by recursive descent, within limits for depth and length.
struct ODataParser {
    let grammar: FilterGrammar
    let limits: FilterLimits
    let columns: @Sendable (String) -> FilterKind?
    let tokens: [(token: ODataLexer.Token, at: Int)]
    var position = 0
    private var depth = 0
    private var nodes = 0
    /// The variable of the current `any` or `all`. They can't be nested.
    var variable: String?

    /// Parses a filter.
    ///
    /// - Parameter columns: Returns the kind of a column by its name, or `nil` if the table has no such column.
    static func filter(
        _ text: String, grammar: FilterGrammar, limits: FilterLimits,
        columns: @escaping @Sendable (String) -> FilterKind?
    ) throws(FilterProblem) -> FilterNode {
        var parser = try ODataParser(text, grammar: grammar, limits: limits, columns: columns)
        let start = parser.here
        let (node, kind) = try parser.readExpression()
        guard case .end = parser.token else { throw parser.unexpected() }
        guard kind == .bool || kind == .unknown else { throw FilterProblem("The filter is not a condition", at: start) }
        return node
    }

    /// Parses the keys of an order, each with its direction.
    static func order(
        _ text: String, grammar: FilterGrammar, limits: FilterLimits,
        columns: @escaping @Sendable (String) -> FilterKind?
    ) throws(FilterProblem) -> [(key: FilterNode, ascends: Bool)] {
        var parser = try ODataParser(text, grammar: grammar, limits: limits, columns: columns)
        var keys: [(key: FilterNode, ascends: Bool)] = []
        repeat {
            let key = try parser.readExpression().node
            let descends = parser.skip(word: "desc")
            if !descends { _ = parser.skip(word: "asc") }
            keys.append((key, !descends))
        } while parser.skip(",")
        guard case .end = parser.token else { throw parser.unexpected() }
        guard keys.count <= limits.orderKeys else {
            throw FilterProblem("The order has more than \(limits.orderKeys) keys", kind: .limit)
        }
        return keys
    }

    typealias Typed = (node: FilterNode, kind: FilterKind)

    private init(
        _ text: String, grammar: FilterGrammar, limits: FilterLimits,
        columns: @escaping @Sendable (String) -> FilterKind?
    ) throws(FilterProblem) {
        guard text.utf8.count <= limits.length else {
            throw FilterProblem("The text is longer than \(limits.length) bytes", kind: .limit)
        }
        self.grammar = grammar
        self.limits = limits
        self.columns = columns
        tokens = try ODataLexer.tokens(of: text, grammar: grammar)
    }

    // MARK: By precedence

    mutating func readExpression() throws(FilterProblem) -> Typed {
        try enter()
        defer { depth -= 1 }
        return try readChain("or", make: FilterNode.any) { parser throws(FilterProblem) in
            try parser.readChain("and", make: FilterNode.all) { parser throws(FilterProblem) in
                try parser.readComparison()
            }
        }
    }

    private mutating func readChain(
        _ word: String, make: ([FilterNode]) -> FilterNode,
        readPart: (inout ODataParser) throws(FilterProblem) -> Typed
    ) throws(FilterProblem) -> Typed {
        let start = here
        let first = try readPart(&self)
        var parts = [first.node]
        var isLogical = first.kind == .bool || first.kind == .unknown
        while skip(word: word) {
            try count()
            let part = try readPart(&self)
            isLogical = isLogical && (part.kind == .bool || part.kind == .unknown)
            guard isLogical else { throw FilterProblem("'\(word)' needs conditions on both sides", at: start) }
            parts.append(part.node)
        }
        return parts.count == 1 ? first : (make(parts), .bool)
    }

    private mutating func readComparison() throws(FilterProblem) -> Typed {
        var left = try readArithmetic(["add", "sub"]) { parser throws(FilterProblem) in
            try parser.readArithmetic(["mul", "div", "mod"]) { parser throws(FilterProblem) in try parser.readUnary() }
        }
        var length = 0
        while case .word(let word) = token {
            let start = here
            if grammar == .odata4, word == "in" {
                position += 1
                left = (.among(left.node, values: try readList(comparableWith: left.kind)), .bool)
            } else if let comparison = FilterComparison(rawValue: word) {
                position += 1
                let right = try readArithmetic(["add", "sub"]) { parser throws(FilterProblem) in
                    try parser.readArithmetic(["mul", "div", "mod"]) { parser throws(FilterProblem) in
                        try parser.readUnary()
                    }
                }
                guard left.kind.isComparable(with: right.kind) else {
                    throw FilterProblem("'\(word)' needs values of the same type", at: start)
                }
                try check(right.node, against: left.kind, at: start)
                try check(left.node, against: right.kind, at: start)
                left = (.comparison(left.node, by: comparison, to: right.node), .bool)
            } else {
                break
            }
            try count()
            length += 1
            guard length <= limits.depth else { throw tooDeep() }
        }
        return left
    }

    /// Refuses a text that is not a value of the enum that it is compared with.
    func check(_ node: FilterNode, against kind: FilterKind, at index: Int) throws(FilterProblem) {
        guard case .choice(let names) = kind, case .literal(.text(let text)) = node, !names.contains(text) else {
            return
        }
        throw FilterProblem("'\(text)' is not one of the values \(names.joined(separator: ", "))", at: index)
    }

    private mutating func readArithmetic(
        _ words: [String], readPart: (inout ODataParser) throws(FilterProblem) -> Typed
    ) throws(FilterProblem) -> Typed {
        var left = try readPart(&self)
        var length = 0
        while case .word(let word) = token, words.contains(word), let operation = FilterArithmetic(rawValue: word) {
            let start = here
            position += 1
            try count()
            length += 1
            guard length <= limits.depth else { throw tooDeep() }
            let right = try readPart(&self)
            guard let kind = Self.kind(of: operation, between: left.kind, and: right.kind) else {
                throw FilterProblem("'\(word)' needs numbers, instants or durations", at: start)
            }
            left = (.arithmetic(left.node, by: operation, with: right.node), kind)
        }
        return left
    }

    private static func kind(
        of operation: FilterArithmetic, between left: FilterKind, and right: FilterKind
    ) -> FilterKind? {
        switch (left, operation, right) {
        case (.unknown, _, .unknown): .unknown
        case (.number, _, .number), (.unknown, _, .number), (.number, _, .unknown): .number
        case (.instant, .sub, .instant), (.instant, .sub, .unknown), (.unknown, .sub, .instant): .unknown
        case (.instant, .add, .duration), (.instant, .sub, .duration): .instant
        case (.unknown, .add, .duration), (.unknown, .sub, .duration): .unknown
        case (.duration, .add, .duration), (.duration, .sub, .duration): .duration
        default: nil
        }
    }

    private mutating func readUnary() throws(FilterProblem) -> Typed {
        let start = here
        if case .word("not") = token {
            position += 1
            try enter()
            defer { depth -= 1 }
            let (node, kind) = try readUnary()
            guard kind == .bool || kind == .unknown else { throw FilterProblem("'not' needs a condition", at: start) }
            return (.not(node), .bool)
        }
        if grammar == .odata3, skip("-") {
            try enter()
            defer { depth -= 1 }
            let (node, kind) = try readUnary()
            guard kind == .number || kind == .unknown else { throw FilterProblem("'-' needs a number", at: start) }
            return (.negative(node), .number)
        }
        return try readPrimary()
    }

    private mutating func readPrimary() throws(FilterProblem) -> Typed {
        try count()
        switch token {
        case .literal(let value):
            position += 1
            return (.literal(value), value.kind)
        case .word(let word):
            position += 1
            return skip("(") ? try readCall(word) : try readPath(word)
        case .sign(UInt8(ascii: "(")):
            position += 1
            nodes -= 1
            let inner = try readExpression()
            try expect(")")
            return inner
        default: throw unexpected()
        }
    }

    // MARK: Tokens

    var token: ODataLexer.Token { tokens[min(position, tokens.count - 1)].token }
    var here: Int { tokens[min(position, tokens.count - 1)].at }

    private mutating func skip(word: String) -> Bool {
        guard case .word(word) = token else { return false }
        position += 1
        return true
    }

    mutating func skip(_ sign: Unicode.Scalar) -> Bool {
        guard case .sign(UInt8(ascii: sign)) = token else { return false }
        position += 1
        return true
    }

    mutating func expect(_ sign: Unicode.Scalar) throws(FilterProblem) {
        guard skip(sign) else { throw unexpected() }
    }

    func unexpected() -> FilterProblem {
        if case .end = token, position == 0 { return FilterProblem("Expression expected", at: here) }
        return FilterProblem("')' or operator expected", at: here)
    }

    private mutating func enter() throws(FilterProblem) {
        depth += 1
        guard depth <= limits.depth else { throw tooDeep() }
    }

    func tooDeep() -> FilterProblem {
        FilterProblem("The expression has more than \(limits.depth) levels", at: here, kind: .limit)
    }

    private mutating func count() throws(FilterProblem) {
        nodes += 1
        guard nodes <= limits.nodes else {
            throw FilterProblem("The expression has more than \(limits.nodes) nodes", at: here, kind: .limit)
        }
    }
}
