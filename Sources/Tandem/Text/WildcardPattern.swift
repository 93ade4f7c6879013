/// A pattern of `like`. `*` matches any run of scalars, including an empty one. `?` matches exactly one scalar. A
/// backslash makes the next scalar literal.
///
/// For example, `Пят?р*` matches `Пятёрочка`, and `100\*` matches `100*`.
///
/// Case and accents matter. `?` matches a single Unicode scalar, so an `é` of two scalars needs two. A backslash at the
/// end is literal.
struct WildcardPattern: Sendable, Hashable {
    /// The scalars before the first wildcard. Every matching text begins with them.
    let literalPrefix: String

    /// Literal UTF-8 bytes, and the two wildcards.
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
                // A repeated `*` matches the same texts.
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

    /// Returns whether a whole text matches. The text is valid UTF-8, which may contain U+0000.
    ///
    /// If the tokens after a `*` fail, that `*` matches another scalar. Only the last `*` needs to backtrack: any run
    /// that an earlier `*` could match instead, the later one can match as well. There is no search through
    /// combinations.
    ///
    /// - Complexity: O(*n* · *m*) at worst, near O(*n*) in text. *n* is the length of the text and *m* that of the
    ///   pattern.
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
}
