/// The order of texts by the Unicode Collation Algorithm (UTS #10), for a language.
///
/// A *collation key* is a sequence of bytes. The order of keys by `memcmp` is the order of the texts:
///
/// ```swift
/// let collation = Collation(language: .root, isNumeric: false)
/// names.sorted { collation.key(for: $0).lexicographicallyPrecedes(collation.key(for: $1)) }
/// ```
///
/// Keys depend only on the text, the language, `isNumeric` and the tables of this library. Canonically equivalent texts
/// have the same key, and other texts have different keys. No key is a prefix of another. <doc:SortOrder> has the rules.
package struct Collation: Hashable, Sendable {
    /// The language by whose alphabet texts are sorted.
    package let language: SortLanguage
    /// Whether sequences of digits are sorted by their value: "Лента 2" before "Лента 10".
    package let isNumeric: Bool

    /// The version of the keys. It increases if any key changes.
    package static let version: Int = 1

    /// The Unicode version of the tables. Scalars that a later version added sort by their code points after all others.
    package static let unicodeVersion: String = FoldingTables.unicodeVersion

    package init(language: SortLanguage, isNumeric: Bool) {
        self.language = language
        self.isNumeric = isNumeric
    }

    /// Returns the collation key of `text`.
    package func key(for text: String) -> [UInt8] {
        var key: [UInt8] = []
        appendKey(for: text, to: &key)
        return key
    }

    /// Appends the collation key of `text` to `key`.
    package func appendKey(for text: String, to key: inout [UInt8]) {
        key.append(contentsOf: Folding.sortKey(text).utf8)
    }

    /// Returns the letter of the section to which `text` belongs, in upper case, or an empty text if `text` is empty.
    package func firstLetter(of text: String) -> String {
        Folding.sortKey(text).unicodeScalars.first.map { String($0).uppercased() } ?? ""
    }
}
