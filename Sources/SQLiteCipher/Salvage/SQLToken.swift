import Foundation

/// A token of a stored schema, as far as a table's definition needs it (https://www.sqlite.org/lang.html).
enum SQLToken: Equatable {
    /// An unquoted word: a keyword, a name or a number, as written.
    case word(String)
    /// A name in double quotes, backquotes or brackets.
    case name(String)
    case string(String)
    case symbol(UInt8)

    static let open = SQLToken.symbol(UInt8(ascii: "("))
    static let close = SQLToken.symbol(UInt8(ascii: ")"))
    static let comma = SQLToken.symbol(UInt8(ascii: ","))

    /// An unquoted word in capitals.
    var keyword: String? {
        if case .word(let text) = self { return text.uppercased() }
        return nil
    }

    /// The token's text as a name. SQLite accepts a string where it expects a name.
    var identifier: String? {
        switch self {
        case .word(let text), .name(let text), .string(let text): text
        case .symbol: nil
        }
    }

    /// Returns the tokens of a statement, or `nil` if a quotation or a comment has no end.
    static func tokens(of sql: String) -> [SQLToken]? {
        let bytes = Array(sql.utf8)
        var tokens: [SQLToken] = []
        var index = 0
        func byte(_ place: Int) -> UInt8 { place < bytes.count ? bytes[place] : 0 }
        while index < bytes.count {
            let first = bytes[index]
            if [9, 10, 12, 13, 32].contains(first) {
                index += 1
            } else if first == UInt8(ascii: "-"), byte(index + 1) == first {
                while index < bytes.count, bytes[index] != 10 { index += 1 }
            } else if first == UInt8(ascii: "/"), byte(index + 1) == UInt8(ascii: "*") {
                index += 2
                while byte(index) != UInt8(ascii: "*") || byte(index + 1) != UInt8(ascii: "/") {
                    guard index < bytes.count else { return nil }
                    index += 1
                }
                index += 2
            } else if let last = closing(first) {
                guard let text = quotation(bytes, index: &index, last: last) else { return nil }
                tokens.append(last == UInt8(ascii: "'") ? .string(text) : .name(text))
            } else if isPartOfWord(first) {
                let start = index
                while index < bytes.count, isPartOfWord(bytes[index]) { index += 1 }
                tokens.append(.word(String(decoding: bytes[start..<index], as: UTF8.self)))
            } else {
                tokens.append(.symbol(first))
                index += 1
            }
        }
        return tokens
    }

    private static func closing(_ first: UInt8) -> UInt8? {
        switch first {
        case UInt8(ascii: "'"), UInt8(ascii: "\""), UInt8(ascii: "`"): first
        case UInt8(ascii: "["): UInt8(ascii: "]")
        default: nil
        }
    }

    /// Reads to the end of a quotation. A doubled quote means a single one, except with brackets.
    private static func quotation(_ bytes: [UInt8], index: inout Int, last: UInt8) -> String? {
        var text: [UInt8] = []
        index += 1
        while index < bytes.count {
            if bytes[index] == last {
                index += 1
                guard last != UInt8(ascii: "]"), index < bytes.count, bytes[index] == last else {
                    return String(decoding: text, as: UTF8.self)
                }
            }
            text.append(bytes[index])
            index += 1
        }
        return nil
    }

    private static func isPartOfWord(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "_"), UInt8(ascii: "$"), UInt8(ascii: "."), 0x80...:
            true
        default: false
        }
    }
}

extension String {
    /// The text as a quoted SQL name. GRDB's own property does not escape quotes.
    var quotedName: String { "\"" + replacingOccurrences(of: "\"", with: "\"\"") + "\"" }
}
