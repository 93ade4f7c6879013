/// The encoding of a file's name: `Content-Disposition` of RFC 6266, with `filename*` by RFC 8187.
enum ServerFileName {
    /// The maximum length of a name, in bytes of UTF-8.
    static let greatest = 1024

    /// The characters of `attr-char` in RFC 8187.
    private static let plain = Set(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789!#$&+-.^_`|~".utf8)

    /// Returns a field's value: ASCII without line breaks or quotes, for any name.
    static func field(_ name: String) -> String {
        var text = "attachment; filename*=UTF-8''"
        for byte in name.utf8 {
            if plain.contains(byte) {
                text.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                text += "%" + ServerDigest.hex(byte).uppercased()
            }
        }
        return text
    }

    /// Returns the name in a field's value: the UTF-8 text of `filename*`, else `filename`, else an empty text. Returns
    /// `nil` if the value is invalid, or the name is too long.
    static func name(in text: String) -> String? {
        var plain: String?
        for parameter in parameters(text).dropFirst() {
            guard let equals = parameter.firstIndex(of: "=") else { return nil }
            let key = trimmed(parameter[..<equals]).lowercased()
            let value = trimmed(parameter[parameter.index(after: equals)...])
            if key == "filename*" {
                let parts = value.split(separator: "'", maxSplits: 2, omittingEmptySubsequences: false)
                guard parts.count == 3, parts[0].lowercased() == "utf-8",
                    let name = QueryStringText.decode(parts[2], plusIsSpace: false)
                else { return nil }
                return name.utf8.count <= greatest ? name : nil
            }
            if key == "filename" { plain = unquoted(value) }
        }
        let name = plain ?? ""
        return name.utf8.count <= greatest ? name : nil
    }

    /// Splits at the semicolons outside of quotes.
    private static func parameters(_ text: String) -> [Substring] {
        var parts: [Substring] = []
        var (start, isQuoted, isEscaped) = (text.startIndex, false, false)
        for index in text.indices {
            let character = text[index]
            if isEscaped {
                isEscaped = false
            } else if isQuoted, character == "\\" {
                isEscaped = true
            } else if character == "\"" {
                isQuoted.toggle()
            } else if character == ";", !isQuoted {
                parts.append(text[start..<index])
                start = text.index(after: index)
            }
        }
        return parts + [text[start...]]
    }

    private static func unquoted(_ text: Substring) -> String {
        guard text.count >= 2, text.first == "\"", text.last == "\"" else { return String(text) }
        var name = ""
        var isEscaped = false
        for character in text.dropFirst().dropLast() {
            if !isEscaped, character == "\\" {
                isEscaped = true
            } else {
                name.append(character)
                isEscaped = false
            }
        }
        return name
    }

    private static func trimmed(_ text: Substring) -> Substring {
        var text = text
        while text.first == " " || text.first == "\t" { text.removeFirst() }
        while text.last == " " || text.last == "\t" { text.removeLast() }
        return text
    }
}
