@testable import Tandem

extension ScalarText {
    /// Returns whether a text ends with another one. Every text ends with an empty suffix.
    static func hasSuffix(_ text: String, _ suffix: String) -> Bool {
        var (text, suffix) = (text, suffix)
        return text.withUTF8 { text in suffix.withUTF8 { ByteSearch.ends(text, with: $0) } }
    }

    /// Returns whether a text contains another one. Every text contains an empty needle.
    static func contains(_ text: String, _ needle: String) -> Bool {
        var (text, needle) = (text, needle)
        return text.withUTF8 { text in needle.withUTF8 { ByteSearch.contains(text, needle: $0) } }
    }
}

extension WildcardPattern {
    /// Returns whether a whole text matches.
    func matches(_ text: String) -> Bool {
        var text = text
        return text.withUTF8 { matches($0) }
    }
}
