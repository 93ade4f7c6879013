/// A comparison of texts without regard to case, for `folded`.
///
/// Texts are compared by their case folding, ``Folding/caseKey(_:)``. In Turkish and Azerbaijani, `I` is the capital
/// form of `ı`, and `İ` that of `i`.
package struct FoldedTest: Sendable {
    enum Kind: UInt8 {
        /// The text equals one of the others.
        case equal
        /// The text begins with one of the others.
        case prefix
    }

    let kind: Kind
    let language: SortLanguage
    /// The other texts without case, in the order of their bytes.
    private let keys: [[UInt8]]

    init(_ kind: Kind, texts: [String], in language: SortLanguage) {
        self.kind = kind
        self.language = language
        keys = texts.map { Self.key(of: $0, in: language) }.sorted { $0.lexicographicallyPrecedes($1) }
    }

    /// Returns whether the test holds for a text of a store's file. In a damaged file, it may not be valid UTF-8. It is
    /// then compared with replacement characters, with which it is also read.
    ///
    /// - Complexity: O(*n* + log *m*) for *n* bytes and *m* other texts; for prefixes O(*n* + *m*).
    func holds(_ utf8: UnsafeBufferPointer<UInt8>) -> Bool {
        // Folding needs valid UTF-8.
        let key = Self.key(of: String(decoding: utf8, as: UTF8.self), in: language)
        guard kind == .equal else { return keys.contains { key.starts(with: $0) } }
        let index = keys.indices.endOfPrefix { keys[$0].lexicographicallyPrecedes(key) }
        return index < keys.count && keys[index] == key
    }

    /// Returns a text without case.
    private static func key(of text: String, in language: SortLanguage) -> [UInt8] {
        var text = language == .turkish || language == .azerbaijani ? turkic(text) : text
        return text.withUTF8 { utf8 in
            var key: [UInt8] = []
            key.reserveCapacity(utf8.count)
            Folding.appendCaseKey(of: utf8, to: &key)
            return key
        }
    }

    /// Returns a text with the small forms of `I` and `İ`.
    private static func turkic(_ text: String) -> String {
        var scalars: [Unicode.Scalar] = []
        for scalar in text.unicodeScalars {
            switch scalar {
            case "I": scalars.append("ı")
            case "İ": scalars.append("i")
            // A dot above belongs to the `I` before it.
            case "\u{307}" where scalars.last == "ı": scalars[scalars.count - 1] = "i"
            default: scalars.append(scalar)
            }
        }
        return String(String.UnicodeScalarView(scalars))
    }

    // MARK: Arguments of SQL functions

    /// The test as an argument of an SQL function: the language and a zero byte, the kind, and for each key its length
    /// in four bytes and its bytes.
    var argument: [UInt8] {
        var bytes = Array(language.rawValue.utf8) + [0, kind.rawValue]
        for key in keys {
            for shift in [24, 16, 8, 0] { bytes.append(UInt8(truncatingIfNeeded: key.count >> shift)) }
            bytes += key
        }
        return bytes
    }

    /// Creates the test from ``argument``.
    init?(argument: [UInt8]) {
        guard let end = argument.firstIndex(of: 0), end + 1 < argument.count,
            let language = SortLanguage(rawValue: String(decoding: argument[..<end], as: UTF8.self)),
            let kind = Kind(rawValue: argument[end + 1])
        else { return nil }
        self.language = language
        self.kind = kind
        var keys: [[UInt8]] = []
        var index = end + 2
        while index + 4 <= argument.count {
            let count = argument[index..<index + 4].reduce(0) { $0 << 8 | Int($1) }
            index += 4
            // Where `Int` has 32 bits, the count may be negative.
            guard 0...argument.count - index ~= count else { return nil }
            keys.append(Array(argument[index..<index + count]))
            index += count
        }
        self.keys = keys
    }
}
