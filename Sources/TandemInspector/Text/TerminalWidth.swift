/// The width of text on a terminal, in columns: 0 for combining marks, 2 for CJK and emoji.
enum TerminalWidth {
    /// Returns the width of a text.
    static func columns(_ text: String) -> Int {
        if text.utf8.allSatisfy({ $0 < 0x80 }) { return text.utf8.count }
        return text.reduce(0) { $0 + columns($1) }
    }

    private static func columns(_ character: Character) -> Int {
        let scalars = character.unicodeScalars
        // An emoji has two columns, also if it is a sequence.
        if scalars.contains(where: { $0.properties.isEmojiPresentation || $0 == "\u{FE0F}" }) { return 2 }
        return scalars.reduce(0) { $0 + columns($1) }
    }

    private static func columns(_ scalar: Unicode.Scalar) -> Int {
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format, .control: return 0
        default: break
        }
        // A vowel or final consonant of Hangul joins the consonant before it.
        if 0x1160...0x11FF ~= scalar.value { return 0 }
        return wide.contains { $0.contains(scalar.value) } ? 2 : 1
    }

    /// The wide and full-width characters of UAX #11. The ranges include unassigned characters.
    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x2E80...0x303E, 0x3041...0x4DBF, 0x4E00...0xA4CF, 0xA960...0xA97F, 0xAC00...0xD7A3,
        0xF900...0xFAFF, 0xFE10...0xFE19, 0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x16FE0...0x18DFF,
        0x1AFF0...0x1B2FF, 0x1F300...0x1F64F, 0x1F900...0x1F9FF, 0x20000...0x3FFFD,
    ]
}

extension String {
    /// This text with control and bidirectional characters replaced. A terminal would act on them.
    var printable: String {
        guard unicodeScalars.contains(where: Self.isUnsafe) else { return self }
        return String(String.UnicodeScalarView(unicodeScalars.map { Self.isUnsafe($0) ? "\u{FFFD}" : $0 }))
    }

    private static func isUnsafe(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x20, 0x7F..<0xA0, 0x2028...0x202E, 0x2066...0x2069: true
        default: false
        }
    }

    /// Returns the longest prefix that fits into some columns. A cut text ends in an ellipsis.
    func cut(toColumns limit: Int) -> String {
        guard TerminalWidth.columns(self) > limit else { return self }
        var prefix = ""
        var width = 0
        for character in self {
            width += TerminalWidth.columns(String(character))
            guard width < limit else { break }
            prefix.append(character)
        }
        return prefix + "…"
    }

    /// Returns this text with spaces that fill some columns, after it or before it.
    func padded(toColumns count: Int, onLeft: Bool = false) -> String {
        let spaces = String(repeating: " ", count: max(0, count - TerminalWidth.columns(self)))
        return onLeft ? spaces + self : self + spaces
    }
}
