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
    /// The number of characters before the token.
    let offset: Int
    /// The token in the text.
    let source: String
}

/// Divides the text of a condition into tokens.
struct QueryLexer {
    private let text: String
    private let characters: [Character]
    private var position = 0

    private static let symbols = [
        "&&", "||", "==", "!=", "<>", "<=", ">=", "(", ")", "[", "]", "{", "}", ",", ".", "=", "<", ">", "!", "-",
    ]

    init(_ text: String) {
        self.text = text
        characters = Array(text)
    }

    /// Returns all tokens, the last of which is the end.
    static func tokens(_ text: String) throws -> [QueryToken] {
        var lexer = QueryLexer(text)
        var tokens: [QueryToken] = []
        repeat { tokens.append(try lexer.next()) } while tokens.last?.kind != .end
        return tokens
    }

    private mutating func next() throws -> QueryToken {
        while position < characters.count, characters[position].isWhitespace { position += 1 }
        let start = position
        func token(_ kind: QueryToken.Kind) -> QueryToken {
            QueryToken(kind: kind, offset: start, source: String(characters[start..<position]))
        }
        guard position < characters.count else { return token(.end) }
        let first = characters[position]
        if Self.beginsName(first) {
            repeat { position += 1 } while position < characters.count && Self.continuesName(characters[position])
            return token(.name(String(characters[start..<position])))
        }
        if first == "`" { return try quotedName(start) }
        if first == "'" || first == "\"" {
            let string = try string(quote: first, start)
            return token(.value(.string(string)))
        }
        if let digit = first == "-" ? character(at: position + 1) : first, Self.isDigit(digit) {
            let value = try number(start)
            return token(.value(value))
        }
        for symbol in Self.symbols where characters[position...].starts(with: symbol) {
            position += symbol.count
            return token(.symbol(symbol))
        }
        throw error(at: start, expected: ["a name", "a value", "an operator"])
    }

    private func character(at index: Int) -> Character? { index < characters.count ? characters[index] : nil }

    private static func beginsName(_ character: Character) -> Bool {
        character.isLetter || character == "_" || character == "@" || character == "$"
    }

    private static func continuesName(_ character: Character) -> Bool {
        character.isLetter || character.isNumber || character == "_" || character == "$"
    }

    private static func isDigit(_ character: Character) -> Bool { ("0"..."9").contains(character) }

    private mutating func quotedName(_ start: Int) throws -> QueryToken {
        position += 1
        let name = start + 1
        while let character = character(at: position), character != "`" { position += 1 }
        guard position < characters.count else { throw error(at: position, expected: ["\"`\""]) }
        defer { position += 1 }
        return QueryToken(
            kind: .quotedName(String(characters[name..<position])), offset: start,
            source: String(characters[start...position]))
    }

    private mutating func string(quote: Character, _ start: Int) throws -> String {
        position += 1
        var result = ""
        while let character = character(at: position), character != quote {
            position += 1
            guard character == "\\" else {
                result.append(character)
                continue
            }
            result.unicodeScalars.append(contentsOf: try escape())
        }
        guard position < characters.count else { throw error(at: position, expected: [String(quote)]) }
        position += 1
        return result
    }

    /// Reads the rest of an escape sequence.
    private mutating func escape() throws -> String.UnicodeScalarView {
        let start = position
        guard let character = character(at: position) else {
            throw error(at: position, expected: ["the rest of an escape sequence"])
        }
        position += 1
        switch character {
        case "n": return "\n".unicodeScalars
        case "t": return "\t".unicodeScalars
        case "r": return "\r".unicodeScalars
        case "\\", "'", "\"": return String(character).unicodeScalars
        case "u":
            let end = characters[position...].firstIndex(of: "}")
            if self.character(at: position) == "{", let end,
                let number = UInt32(String(characters[(position + 1)..<end]), radix: 16),
                let scalar = Unicode.Scalar(number)
            {
                position = end + 1
                return String(scalar).unicodeScalars
            }
            throw error(at: start, expected: ["an escape sequence such as \\u{43B}"])
        default: throw error(at: start, expected: ["n", "t", "r", "\\", "'", "\"", "u{…}"])
        }
    }

    private mutating func number(_ start: Int) throws -> DynamicValue {
        func skipDigits() {
            while let digit = character(at: position), Self.isDigit(digit) { position += 1 }
        }
        if characters[position] == "-" { position += 1 }
        skipDigits()
        var (hasFraction, hasExponent) = (false, false)
        if character(at: position) == ".", let digit = character(at: position + 1), Self.isDigit(digit) {
            hasFraction = true
            position += 1
            skipDigits()
        }
        if let exponent = character(at: position), exponent == "e" || exponent == "E" {
            position += 1
            if let sign = character(at: position), sign == "-" || sign == "+" { position += 1 }
            guard let digit = character(at: position), Self.isDigit(digit) else {
                throw error(at: position, expected: ["a digit"])
            }
            hasExponent = true
            skipDigits()
        }
        if let next = character(at: position), Self.beginsName(next) {
            throw error(at: position, expected: ["a digit"])
        }
        let digits = String(characters[start..<position])
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
            text: text, offset: offset, expected: expected, found: character(at: offset).map { "\"\($0)\"" })
    }
}
