/// What a user typed to search for: every word of it must occur in a text, in any order, each anywhere.
///
/// For example:
///
/// ```swift
/// let needle = SearchNeedle("  Coffee star-bucks ")
/// needle.words                                                    // ["coffee", "starbucks"]
/// needle.matches(searchKey: Folding.searchKey("Starbucks Coffee"))  // true
/// ```
///
/// A text that folds to nothing (white space, punctuation) is an empty needle, and an empty needle finds nothing: what
/// a list shows while nothing has been typed is its own decision.
public struct SearchNeedle: Sendable, Hashable {
    /// The folded words, in the order they were typed.
    public let words: [String]

    /// The number of Unicode scalars of each word. An index of trigrams can be asked from three on.
    public let scalarCounts: [Int]

    /// The words again, as bytes: what is searched for, and what makes two needles equal.
    private let utf8Words: [[UInt8]]

    /// Folds `text` as ``Folding/searchKey(_:)`` does, and splits it at its spaces.
    public init(_ text: String) {
        let key = Folding.searchKey(text)
        utf8Words = key.utf8.split(separator: 0x20).map(Array.init)
        words = utf8Words.map { String(decoding: $0, as: UTF8.self) }
        scalarCounts = words.map { $0.unicodeScalars.count }
    }

    /// Whether there is no word to search for. Such a needle finds nothing.
    public var isEmpty: Bool { words.isEmpty }

    /// Whether every word occurs in a search key, given as UTF-8.
    ///
    /// - Complexity: O(*n* · *m*) at worst, near O(*n*) in text, where *n* is the key's length and *m* the needle's.
    func matches(searchKey: UnsafeBufferPointer<UInt8>) -> Bool {
        if utf8Words.isEmpty { return false }
        for word in utf8Words where !word.withUnsafeBufferPointer({ ByteSearch.contains(searchKey, $0) }) {
            return false
        }
        return true
    }

    /// Whether every word occurs in a search key, as ``Folding/searchKey(_:)`` makes it.
    ///
    /// - Complexity: O(*n* · *m*) at worst, near O(*n*) in text, where *n* is the key's length and *m* the needle's.
    public func matches(searchKey: String) -> Bool {
        var searchKey = searchKey
        return searchKey.withUTF8 { matches(searchKey: $0) }
    }
}
