/// A pattern of `like`: `*` stands for any run of scalars, none included, `?` for exactly one, and a backslash makes
/// the next scalar stand for itself.
///
/// For example:
///
/// ```swift
/// WildcardPattern("Пят?р*").matches("Пятёрочка")  // true
/// WildcardPattern(#"100\*"#).matches("100*")      // true
/// ```
///
/// Case and accents matter. `?` is one Unicode scalar: an `é` of two scalars needs two. A backslash at the end stands
/// for itself.
struct WildcardPattern: Sendable, Hashable {
    /// The scalars before the first wildcard: every text that matches begins with them.
    let literalPrefix: String

    /// Whether there is no wildcard: only `literalPrefix` itself matches.
    var isLiteral: Bool { tokens.count == literalPrefix.utf8.count }

    /// Bytes of UTF-8 to be met literally, and the two wildcards.
    private let tokens: [UInt16]

    private static let anyRun: UInt16 = 0x100
    private static let anyScalar: UInt16 = 0x101

    init(_ pattern: String) {
        var tokens: [UInt16] = []
        var isEscaped = false
        for byte in pattern.utf8 {
            switch byte {
            case _ where isEscaped:
                isEscaped = false
                tokens.append(UInt16(byte))
            case UInt8(ascii: "\\"):
                isEscaped = true
            case UInt8(ascii: "*"):
                // A second one in a row adds nothing but work.
                if tokens.last != Self.anyRun { tokens.append(Self.anyRun) }
            case UInt8(ascii: "?"):
                tokens.append(Self.anyScalar)
            default:
                tokens.append(UInt16(byte))
            }
        }
        if isEscaped { tokens.append(UInt16(UInt8(ascii: "\\"))) }
        self.tokens = tokens
        literalPrefix = String(decoding: tokens.prefix { $0 < 0x100 }.map(UInt8.init), as: UTF8.self)
    }

    /// Whether the whole of a text matches, given as valid UTF-8, which may hold U+0000.
    ///
    /// When what follows a `*` fails, the `*` takes one scalar more. Only the last `*` ever has to: whatever an earlier
    /// one could take instead, the later one can take as well. So there is no search through combinations.
    ///
    /// - Complexity: O(*n* · *m*) at worst, near O(*n*) in text, where *n* is the text's length and *m* the pattern's.
    func matches(_ utf8: UnsafeBufferPointer<UInt8>) -> Bool {
        var text = 0
        var token = 0
        var retryText = 0
        var retryToken: Int?
        while text < utf8.count {
            if token < tokens.count {
                let expected = tokens[token]
                if expected == Self.anyRun {
                    token += 1
                    if token == tokens.count { return true }
                    retryText = text
                    retryToken = token
                    continue
                }
                if expected == Self.anyScalar {
                    text += UTF8Scalars.length(startingWith: utf8[text])
                    token += 1
                    continue
                }
                if expected == UInt16(utf8[text]) {
                    text += 1
                    token += 1
                    continue
                }
            }
            guard let retryToken else { return false }
            retryText += UTF8Scalars.length(startingWith: utf8[retryText])
            text = retryText
            token = retryToken
        }
        return tokens[token...].allSatisfy { $0 == Self.anyRun }
    }

    /// Whether the whole of `text` matches.
    func matches(_ text: String) -> Bool {
        var text = text
        return text.withUTF8 { matches($0) }
    }
}
