import BigInt
import Foundation

/// A token of the text of a condition.
struct QueryToken {
    enum Kind: Equatable {
        /// A name, a keyword or a part of a path.
        case name(String)
        /// A name in backquotes, which is not a keyword.
        case quotedName(String)
        case value(DynamicValue)
        case symbol(String)
        case end
    }

    let kind: Kind
    /// The number of Unicode scalars before the token.
    let offset: Int
    /// The token in the text.
    let source: String
}

/// Divides the text of a condition into tokens.
///
/// It works on Unicode scalars: a combining mark after a quote does not change the quote.
struct QueryLexer {
    private let text: String
    private let scalars: [Unicode.Scalar]
    private var position = 0

    private static let symbols = [
        "&&", "||", "==", "!=", "<>", "<=", ">=", "(", ")", "[", "]", "{", "}", ",", ".", "=", "<", ">", "!", "-",
    ]

    init(_ text: String) {
        self.text = text
        scalars = Array(text.unicodeScalars)
    }

    /// Returns all tokens, the last of which is the end.
    static func tokens(_ text: String) throws -> [QueryToken] {
        var lexer = QueryLexer(text)
        var tokens: [QueryToken] = []
        repeat { tokens.append(try lexer.next()) } while tokens.last?.kind != .end
        return tokens
    }

    private mutating func next() throws -> QueryToken {
        while position < scalars.count, scalars[position].properties.isWhitespace { position += 1 }
        let start = position
        func token(_ kind: QueryToken.Kind) -> QueryToken {
            QueryToken(kind: kind, offset: start, source: Self.string(scalars[start..<position]))
        }
        guard position < scalars.count else { return token(.end) }
        let first = scalars[position]
        if Self.beginsName(first) {
            repeat { position += 1 } while position < scalars.count && Self.continuesName(scalars[position])
            return token(.name(Self.string(scalars[start..<position])))
        }
        if first == "`" { return try quotedName(start) }
        if first == "'" || first == "\"" {
            let string = try string(quote: first, start: start)
            return token(.value(.string(string)))
        }
        if let digit = first == "-" ? scalar(at: position + 1) : first, Self.isDigit(digit) {
            let value = try number(start)
            return token(.value(value))
        }
        for symbol in Self.symbols where scalars[position...].starts(with: symbol.unicodeScalars) {
            position += symbol.unicodeScalars.count
            return token(.symbol(symbol))
        }
        throw error(at: start, expected: ["a name", "a value", "an operator"])
    }

    private func scalar(at index: Int) -> Unicode.Scalar? { index < scalars.count ? scalars[index] : nil }

    private static func string(_ scalars: ArraySlice<Unicode.Scalar>) -> String {
        String(String.UnicodeScalarView(scalars))
    }

    /// Returns whether a text is a single token, a name or a keyword.
    static func isName(_ text: String) -> Bool {
        let scalars = text.unicodeScalars
        return scalars.first.map(beginsName) == true && scalars.dropFirst().allSatisfy(continuesName)
    }

    private static func beginsName(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.isAlphabetic || scalar == "_" || scalar == "@" || scalar == "$"
    }

    private static func continuesName(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .decimalNumber, .letterNumber, .nonspacingMark, .spacingMark: true
        default: scalar != "@" && beginsName(scalar)
        }
    }

    private static func isDigit(_ scalar: Unicode.Scalar) -> Bool { ("0"..."9").contains(scalar) }

    private mutating func quotedName(_ start: Int) throws -> QueryToken {
        position += 1
        let name = start + 1
        while let next = scalar(at: position), next != "`" { position += 1 }
        guard position < scalars.count else { throw error(at: position, expected: ["\"`\""]) }
        defer { position += 1 }
        return QueryToken(
            kind: .quotedName(Self.string(scalars[name..<position])), offset: start,
            source: Self.string(scalars[start...position]))
    }

    private mutating func string(quote: Unicode.Scalar, start: Int) throws -> String {
        position += 1
        var result = String.UnicodeScalarView()
        while let next = scalar(at: position), next != quote {
            position += 1
            result.append(next == "\\" ? try escape() : next)
        }
        guard position < scalars.count else { throw error(at: position, expected: [String(quote)]) }
        position += 1
        return String(result)
    }

    /// Reads the rest of an escape sequence.
    private mutating func escape() throws -> Unicode.Scalar {
        let start = position
        guard let next = scalar(at: position) else {
            throw error(at: position, expected: ["the rest of an escape sequence"])
        }
        position += 1
        switch next {
        case "n": return "\n"
        case "t": return "\t"
        case "r": return "\r"
        case "\\", "'", "\"": return next
        case "u":
            let end = scalars[position...].firstIndex(of: "}")
            if scalar(at: position) == "{", let end,
                let number = UInt32(Self.string(scalars[(position + 1)..<end]), radix: 16),
                let scalar = Unicode.Scalar(number)
            {
                position = end + 1
                return scalar
            }
            throw error(at: start, expected: ["an escape sequence such as \\u{43B}"])
        default: throw error(at: start, expected: ["n", "t", "r", "\\", "'", "\"", "u{…}"])
        }
    }

    private mutating func number(_ start: Int) throws -> DynamicValue {
        func skipDigits() {
            while let digit = scalar(at: position), Self.isDigit(digit) { position += 1 }
        }
        if scalars[position] == "-" { position += 1 }
        skipDigits()
        var (hasFraction, hasExponent) = (false, false)
        if scalar(at: position) == ".", let digit = scalar(at: position + 1), Self.isDigit(digit) {
            hasFraction = true
            position += 1
            skipDigits()
        }
        if let exponent = scalar(at: position), exponent == "e" || exponent == "E" {
            position += 1
            if let sign = scalar(at: position), sign == "-" || sign == "+" { position += 1 }
            guard let digit = scalar(at: position), Self.isDigit(digit) else {
                throw error(at: position, expected: ["a digit"])
            }
            hasExponent = true
            skipDigits()
        }
        if let next = scalar(at: position), Self.beginsName(next) {
            throw error(at: position, expected: ["a digit"])
        }
        let digits = Self.string(scalars[start..<position])
        if !hasFraction && !hasExponent {
            return Int64(digits).map { .integer($0) } ?? .bigInt(BigInt(digits) ?? 0)
        }
        // A decimal number keeps its digits. One with an exponent can be out of its range.
        if !hasExponent, digits.count <= 38, let decimal = Decimal(string: digits, locale: nil) {
            return .decimal(decimal)
        }
        return .double(Double(digits) ?? .nan)
    }

    private func error(at offset: Int, expected: [String]) -> QuerySyntaxError {
        QuerySyntaxError(
            text: text, scalarOffset: offset, expected: expected, found: scalar(at: offset).map { "\"\($0)\"" })
    }
}
