/// A prefix that is compared without regard to case, for `folded.hasPrefix`.
///
/// A text has the prefix if one of its beginnings equals it on the first two levels of the collation. A beginning ends
/// between two characters, so "ёлка" does not begin with "е". Digits are compared one by one, also in a numeric order.
package struct FoldedPrefix: Sendable {
    /// The collation of the store, without numeric order.
    let collation: Collation
    let text: String
    private let letters: [UInt8]
    private let accents: [UInt8]

    init(_ text: String, collation: Collation) {
        self.collation = Collation(language: collation.language, isNumeric: false)
        self.text = text
        letters = self.collation.keyPrefix(for: text, .letters)
        accents = self.collation.keyPrefix(for: text, .accents)
    }

    /// The bytes with which the sort keys of all texts with the prefix begin.
    ///
    /// In a numeric order, the digits at its end may belong to a longer number.
    static func keyPrefix(of text: String, collation: Collation) -> [UInt8] {
        guard collation.isNumeric else { return collation.keyPrefix(for: text, .letters) }
        let scalars = text.unicodeScalars
        let end = scalars.lastIndex { $0.properties.numericType == nil }.map(scalars.index(after:))
        return collation.keyPrefix(for: String(scalars[..<(end ?? scalars.startIndex)]), .letters)
    }

    /// Returns whether a text has the prefix.
    ///
    /// - Complexity: O(*n*²), where *n* is the length of the prefix.
    func matches(_ utf8: UnsafeBufferPointer<UInt8>) -> Bool {
        let whole = String(decoding: utf8, as: UTF8.self)
        var beginning = ""
        var index = whole.startIndex
        while true {
            let key = collation.keyPrefix(for: beginning, .accents)
            if key == accents { return true }
            guard index < whole.endIndex, key.count <= accents.count + Self.slack else { return false }
            beginning.append(whole[index])
            index = whole.index(after: index)
        }
    }

    /// The number of bytes by which a contraction may shorten the key of a longer beginning.
    private static let slack = 16

    // MARK: Arguments of SQL functions

    /// The prefix as an argument of an SQL function: the collation, a slash and the text.
    var argument: String { collation.argument + "/" + text }

    /// Creates the prefix from ``argument``.
    init?(argument: String) {
        let scalars = argument.unicodeScalars
        guard let slash = scalars.firstIndex(of: "/"),
            let collation = Collation(argument: String(scalars[..<slash]))
        else { return nil }
        self.init(String(scalars[scalars.index(after: slash)...]), collation: collation)
    }
}
