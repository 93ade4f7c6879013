/// Folding of text without regard to case, for comparisons and uniqueness, and into the search key of a `@Folded`
/// property.
///
/// The order of a list has other keys: see <doc:SortOrder>.
///
/// The *search key* is the text without regard to case, accents, width, ligatures and punctuation. A needle is folded
/// in the same way and found in it (see ``SearchNeedle``):
///
/// ```swift
/// Folding.searchKey("L'Oréal")    // loreal
/// Folding.searchKey("ＳＴＡＲＢＵＣＫＳ")  // starbucks
/// Folding.searchKey("Пятёрочка")  // пятерочка
/// ```
///
/// Canonically equivalent texts have the same keys. Keys are in Unicode's normalization form C, and folding a key again
/// does not change it. They depend only on the text, and not on a locale or the version of the system.
/// <doc:FoldingRules> has the rules step by step, and their omissions.
///
/// ## Topics
///
/// ### Keys
///
/// - ``searchKey(_:)``
/// - ``caseKey(_:)``
///
/// ### Versions
///
/// - ``version``
/// - ``unicodeVersion``
public enum Folding {
    /// The version of the rules. Each store records the version of its keys, and folds again if it differs.
    public static let version: Int = 1

    /// The Unicode version of the tables. A scalar that a later version added folds to itself.
    public static let unicodeVersion: String = FoldingTables.unicodeVersion

    /// Returns `text` without regard to case: its full Unicode case folding, in normalization form C.
    ///
    /// Two texts are the same for `@Unique(.folded)` exactly if these keys are. ``FoldedText`` compares them too. Lists
    /// are not sorted by them: `ё` comes after `я`, and `Ångström` after `Zürich`, by their code points. See
    /// <doc:SortOrder>.
    ///
    /// - Complexity: O(*n*), where *n* is the length of `text`; O(*n* log *n*) if all of it is combining marks.
    public static func caseKey(_ text: String) -> String {
        key(of: text) { appendCaseKey(of: $0, to: &$1) }
    }

    /// Returns the search key of `text`: the text without case, accents, width and punctuation.
    ///
    /// Use the result as the text to search in, or as the text to search for. The key of a text with only punctuation
    /// and white space is empty.
    ///
    /// - Complexity: O(*n*), where *n* is the length of `text`; O(*n* log *n*) if all of it is combining marks.
    public static func searchKey(_ text: String) -> String {
        key(of: text) { appendSearchKey(of: $0, to: &$1) }
    }

    /// Appends the case-folded text of valid UTF-8, which may contain U+0000.
    static func appendCaseKey(of utf8: UnsafeBufferPointer<UInt8>, to out: inout [UInt8]) {
        FoldingPass<CaseRules>.append(utf8, to: &out)
    }

    /// Appends the search key of valid UTF-8, which may contain U+0000.
    static func appendSearchKey(of utf8: UnsafeBufferPointer<UInt8>, to out: inout [UInt8]) {
        FoldingPass<SearchRules>.append(utf8, to: &out)
    }

    private static func key(
        of text: String, append: (UnsafeBufferPointer<UInt8>, inout [UInt8]) -> Void
    ) -> String {
        var text = text
        return text.withUTF8 { utf8 in
            var key: [UInt8] = []
            key.reserveCapacity(utf8.count)
            append(utf8, &key)
            return String(decoding: key, as: UTF8.self)
        }
    }
}
