/// The words of a search text. Each word must occur somewhere in a text, in any order.
///
/// For example:
///
/// ```swift
/// let needle = SearchNeedle("  Coffee star-bucks ")
/// needle.words                                                    // ["coffee", "starbucks"]
/// needle.matches(searchKey: Folding.searchKey("Starbucks Coffee"))  // true
/// ```
///
/// A text that folds to nothing (white space, punctuation) is an empty needle. An empty needle matches nothing. The app
/// decides which objects a list shows while the search text is empty.
public struct SearchNeedle: Sendable, Hashable {
    /// The folded words, in the order of the search text.
    public let words: [String]

    /// The number of Unicode scalars in each word. A trigram index needs at least three.
    public let scalarCounts: [Int]

    /// The words as bytes, for searching and for equality.
    private let utf8Words: [[UInt8]]

    /// Creates a needle: folds `text` as ``Folding/searchKey(_:)`` does, and splits it at its spaces.
    public init(_ text: String) {
        let key = Folding.searchKey(text)
        utf8Words = key.utf8.split(separator: 0x20).map(Array.init)
        words = utf8Words.map { String(decoding: $0, as: UTF8.self) }
        scalarCounts = words.map { $0.unicodeScalars.count }
    }

    /// Whether there is no word to search for. An empty needle matches nothing.
    public var isEmpty: Bool { words.isEmpty }

    /// Returns whether every word occurs in a search key, given as UTF-8.
    ///
    /// - Complexity: O(*n* · *m*) at worst, near O(*n*) in text. *n* is the length of the key and *m* that of the
    ///   needle.
    func matches(searchKey: UnsafeBufferPointer<UInt8>) -> Bool {
        if utf8Words.isEmpty { return false }
        for word in utf8Words where !word.withUnsafeBufferPointer({ ByteSearch.contains(searchKey, needle: $0) }) {
            return false
        }
        return true
    }

    /// Returns whether every word occurs in a search key made by ``Folding/searchKey(_:)``.
    ///
    /// - Complexity: O(*n* · *m*) at worst, near O(*n*) in text. *n* is the length of the key and *m* that of the
    ///   needle.
    public func matches(searchKey: String) -> Bool {
        var searchKey = searchKey
        return searchKey.withUTF8 { matches(searchKey: $0) }
    }
}
