/// A statement's text, analyzed before SQLite prepares it.
struct SQLText {
    private let bytes: [UInt8]

    init(_ sql: String) { bytes = Array(sql.utf8) }

    /// Whether it is exactly one statement, without U+0000, at which SQLite would stop reading.
    var isOneStatement: Bool {
        if bytes.contains(0) { return false }
        var index = skipBlanks(from: 0)
        guard index < bytes.count, bytes[index] != UInt8(ascii: ";") else { return false }
        while index < bytes.count, bytes[index] != UInt8(ascii: ";") { index = skipToken(from: index) }
        while index < bytes.count, bytes[index] == UInt8(ascii: ";") { index = skipBlanks(from: index + 1) }
        return index == bytes.count
    }

    /// Whether it is a pragma that sets, or may set, a value.
    var isSetting: Bool {
        var index = skipBlanks(from: 0)
        var word = readWord(&index)
        if word == "explain" {
            word = readWord(&index)
            if word == "query" {
                _ = readWord(&index)
                word = readWord(&index)
            }
        }
        guard word == "pragma" else { return false }
        var name = readWord(&index)
        if index < bytes.count, bytes[index] == UInt8(ascii: ".") {
            index = skipBlanks(from: index + 1)
            name = readWord(&index)
        }
        if Self.queryPragmas.contains(name) { return false }
        // A pragma without a value only returns the setting.
        return name == "optimize" || !(index == bytes.count || bytes[index] == UInt8(ascii: ";"))
    }

    /// Pragmas whose value is an argument of a query.
    private static let queryPragmas: Set<String> = [
        "table_info", "table_xinfo", "table_list", "index_list", "index_info", "index_xinfo", "foreign_key_list",
        "foreign_key_check", "integrity_check", "quick_check",
    ]

    /// Reads a word of ASCII letters, digits and underscores, in lower case, and skips blanks after it.
    private func readWord(_ index: inout Int) -> String {
        let start = index
        while index < bytes.count, isWordByte(bytes[index]) { index += 1 }
        let word = String(decoding: bytes[start..<index], as: UTF8.self).lowercased()
        index = skipBlanks(from: index)
        return word
    }

    private func isWordByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
            true
        default: false
        }
    }

    /// Returns the index of the next byte that is neither white space nor in a comment.
    private func skipBlanks(from start: Int) -> Int {
        var index = start
        while index < bytes.count {
            switch bytes[index] {
            case 9, 10, 12, 13, 32: index += 1
            case UInt8(ascii: "-") where starts(with: "--", at: index):
                while index < bytes.count, bytes[index] != 10 { index += 1 }
            case UInt8(ascii: "/") where starts(with: "/*", at: index):
                index += 2
                while index < bytes.count, !starts(with: "*/", at: index) { index += 1 }
                index = min(index + 2, bytes.count)
            default: return index
            }
        }
        return index
    }

    /// Returns the index after a token and the blanks that follow it.
    ///
    /// A token is a quoted text or name, or a single other byte.
    private func skipToken(from start: Int) -> Int {
        let closing: UInt8
        switch bytes[start] {
        case UInt8(ascii: "'"), UInt8(ascii: "\""), UInt8(ascii: "`"): closing = bytes[start]
        case UInt8(ascii: "["): closing = UInt8(ascii: "]")
        default: return skipBlanks(from: start + 1)
        }
        // A doubled quote reads as the end of a text and the start of the next. That has the same effect.
        let end = bytes[(start + 1)...].firstIndex(of: closing) ?? bytes.count - 1
        return skipBlanks(from: end + 1)
    }

    private func starts(with text: StaticString, at index: Int) -> Bool {
        text.withUTF8Buffer { bytes[index...].starts(with: $0) }
    }
}
