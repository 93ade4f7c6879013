import Foundation

/// The encoding of a file's name: `Content-Disposition` of RFC 6266, with `filename*` by RFC 8187.
enum ServerFileName {
    /// The maximum length of a name, in bytes of UTF-8.
    static let greatest = 1024

    /// Returns a field's value: ASCII without line breaks or quotes, for any name. Keeps the characters of `attr-char`
    /// in RFC 8187.
    static func field(_ name: String) -> String {
        "attachment; filename*=UTF-8''" + QueryStringText.encode(name, keeping: "!#$&+^`|")
    }

    /// Returns the name in a field's value: the UTF-8 text of `filename*`, else `filename`, else an empty text. Returns
    /// `nil` if the value is invalid, or the name is too long.
    static func name(in text: String) -> String? {
        var plain: String?
        for parameter in parameters(text).dropFirst() {
            guard let equals = parameter.firstIndex(of: "=") else { return nil }
            let key = parameter[..<equals].trimmingCharacters(in: .blanks).lowercased()
            let value = parameter[parameter.index(after: equals)...].trimmingCharacters(in: .blanks)
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

    private static func unquoted(_ text: String) -> String {
        guard text.count >= 2, text.first == "\"", text.last == "\"" else { return text }
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
}

extension CharacterSet {
    /// The characters around the parts of a field's value.
    static let blanks = CharacterSet(charactersIn: " \t")
}
