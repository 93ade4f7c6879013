/// Splits the text of a filter into words, literals and signs.
struct ODataLexer {
    enum Token {
        case word(String)
        case literal(FilterValue)
        /// A sign: `(`, `)`, `,`, `/`, `:` or `-`.
        case sign(UInt8)
        case end
    }

    private let bytes: [UInt8]
    private let grammar: FilterGrammar
    private var position = 0

    /// Returns the tokens of a text with their positions. The last one is `end`.
    static func tokens(of text: String, grammar: FilterGrammar) throws(FilterProblem) -> [(token: Token, at: Int)] {
        var lexer = ODataLexer(bytes: Array(text.utf8), grammar: grammar)
        var tokens: [(token: Token, at: Int)] = []
        while true {
            lexer.skipSpace()
            let start = lexer.position
            let token = try lexer.next()
            tokens.append((token, start))
            if case .end = token { return tokens }
        }
    }

    private mutating func next() throws(FilterProblem) -> Token {
        guard let byte = peek() else { return .end }
        switch byte {
        case UInt8(ascii: "("), UInt8(ascii: ")"), UInt8(ascii: ","), UInt8(ascii: "/"), UInt8(ascii: ":"):
            position += 1
            return .sign(byte)
        case UInt8(ascii: "'"): return .literal(.text(try readString()))
        case UInt8(ascii: "0")...UInt8(ascii: "9"): return .literal(try readNumeral())
        case UInt8(ascii: "-"):
            if let next = peek(1), Self.isDigit(next) { return .literal(try readNumeral()) }
            if skip("-INF") { return .literal(.real(-.infinity)) }
            position += 1
            return .sign(byte)
        default: return try readWord()
        }
    }

    // MARK: Words

    private mutating func readWord() throws(FilterProblem) -> Token {
        let start = position
        if grammar == .odata4, let guid = readGuid() { return .literal(.guid(guid)) }
        while let byte = peek(), Self.isWord(byte) { position += 1 }
        guard position > start else { throw FilterProblem("Syntax error", at: start) }
        let word = String(decoding: bytes[start..<position], as: UTF8.self)
        if peek() == UInt8(ascii: "'") {
            let text = try readString()
            guard let value = prefixed(word.lowercased(), text: text) else {
                throw FilterProblem("Unrecognized literal \(word)'…'", at: start)
            }
            return .literal(value)
        }
        switch word {
        case "null": return .literal(.null)
        case "true": return .literal(.bool(true))
        case "false": return .literal(.bool(false))
        case "INF": return .literal(.real(.infinity))
        case "NaN": return .literal(.real(.nan))
        default: return .word(word)
        }
    }

    /// Returns the value of `datetime'…'` and similar literals.
    private func prefixed(_ prefix: String, text: String) -> FilterValue? {
        switch (prefix, grammar) {
        case ("datetime", .odata3), ("datetimeoffset", .odata3): WireDateText.parse(text).map { .instant($0) }
        case ("guid", .odata3): Self.isGuid(Array(text.utf8)[...]) ? .guid(text.lowercased()) : nil
        case ("time", .odata3): WireDateText.parseDuration(text).map { .duration($0) }
        case ("duration", .odata4): WireDateText.parseDuration(text).map { .duration($0) }
        default: nil
        }
    }

    private mutating func readString() throws(FilterProblem) -> String {
        let start = position
        position += 1
        var content: [UInt8] = []
        while let byte = peek() {
            position += 1
            if byte == UInt8(ascii: "'") {
                // A quote inside is doubled.
                guard peek() == byte else { return String(decoding: content, as: UTF8.self) }
                position += 1
            }
            content.append(byte)
        }
        throw FilterProblem("Unterminated string literal", at: start)
    }

    // MARK: Numbers, and tokens with leading digits

    private mutating func readNumeral() throws(FilterProblem) -> FilterValue {
        let start = position
        if grammar == .odata4, let guid = readGuid() { return .guid(guid) }
        if grammar == .odata4, let value = readBareTime() { return value }
        _ = skip("-")
        skipDigits()
        var isInteger = true
        if peek() == UInt8(ascii: "."), let digit = peek(1), Self.isDigit(digit) {
            isInteger = false
            position += 1
            skipDigits()
        }
        if let byte = peek(), byte | 0x20 == UInt8(ascii: "e") {
            let sign = peek(1)
            let isSigned = sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-")
            if let digit = peek(isSigned ? 2 : 1), Self.isDigit(digit) {
                isInteger = false
                position += isSigned ? 3 : 2
                skipDigits()
            }
        }
        let digits = String(decoding: bytes[start..<position], as: UTF8.self)
        if let suffix = peek(), [UInt8]("lmfd".utf8).contains(suffix | 0x20) {
            position += 1
            if suffix | 0x20 != UInt8(ascii: "l") { isInteger = false }
        }
        if let byte = peek(), Self.isWord(byte) || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ":") {
            throw FilterProblem("Syntax error", at: position)
        }
        if isInteger, let value = Int64(digits) { return .integer(value) }
        guard let value = Double(digits), value.isFinite else { throw FilterProblem("Number out of range", at: start) }
        return .real(value)
    }

    /// Parses a date, an instant or a time of day without quotes, as OData 4 has them.
    private mutating func readBareTime() -> FilterValue? {
        var end = position
        while end < bytes.count, Self.isTime(bytes[end]) { end += 1 }
        let run = bytes[position..<end]
        let text = String(decoding: run, as: UTF8.self)
        let value: FilterValue? =
            if run.count == 10 {
                WireDateText.parseDate(run).map { .day($0) }
            } else if run.count > 10, run[position + 4] == UInt8(ascii: "-"), run[position + 10] | 0x20 == 0x74 {
                WireDateText.parse(text).map { .instant($0) }
            } else if run.count >= 5, run[position + 2] == UInt8(ascii: ":") {
                WireDateText.parseTime(text).map { .time($0) }
            } else {
                nil
            }
        if value != nil { position = end }
        return value
    }

    private mutating func readGuid() -> String? {
        guard bytes.count - position >= 36, Self.isGuid(bytes[position..<position + 36]) else { return nil }
        if let next = peek(36), Self.isWord(next) || next == UInt8(ascii: "-") { return nil }
        defer { position += 36 }
        return String(decoding: bytes[position..<position + 36], as: UTF8.self).lowercased()
    }

    private static func isGuid(_ bytes: ArraySlice<UInt8>) -> Bool {
        bytes.count == 36
            && bytes.enumerated().allSatisfy { offset, byte in
                [8, 13, 18, 23].contains(offset)
                    ? byte == UInt8(ascii: "-") : Character(Unicode.Scalar(byte)).isHexDigit
            }
    }

    // MARK: Bytes

    private func peek(_ ahead: Int = 0) -> UInt8? {
        position + ahead < bytes.count ? bytes[position + ahead] : nil
    }

    private mutating func skip(_ text: StaticString) -> Bool {
        let count = text.utf8CodeUnitCount
        guard bytes.count - position >= count,
            bytes[position..<position + count].elementsEqual(UnsafeBufferPointer(start: text.utf8Start, count: count))
        else { return false }
        position += count
        return true
    }

    private mutating func skipDigits() {
        while let byte = peek(), Self.isDigit(byte) { position += 1 }
    }

    private mutating func skipSpace() {
        while let byte = peek(), byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D { position += 1 }
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

    /// Returns whether a byte is part of a name: letters of any script, digits, `_`, `.` of type names, `$` of `$it`.
    private static func isWord(_ byte: UInt8) -> Bool {
        isDigit(byte) || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20) || byte >= 0x80
            || byte == UInt8(ascii: "_") || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "$")
    }

    private static func isTime(_ byte: UInt8) -> Bool {
        isDigit(byte) || [UInt8]("-:.+TtZz".utf8).contains(byte)
    }
}
