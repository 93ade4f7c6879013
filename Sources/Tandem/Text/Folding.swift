/// Folds text into the two twins of a `@Folded` property: the sort key and the search key.
///
/// The *sort key* is the text without regard to case. Keys are compared by their bytes, which is the order of their
/// code points:
///
/// ```swift
/// ["Пятёрочка", "лента", "Магнит"].sorted {
///     Folding.sortKey($0).utf8.lexicographicallyPrecedes(Folding.sortKey($1).utf8)
/// }
/// // лента, Магнит, Пятёрочка
/// ```
///
/// The *search key* is the text without regard to case, accents, width, ligatures and punctuation. A needle folded the
/// same way is found in it (see ``SearchNeedle``):
///
/// ```swift
/// Folding.searchKey("L'Oréal")    // loreal
/// Folding.searchKey("ＳＴＡＲＢＵＣＫＳ")  // starbucks
/// Folding.searchKey("Пятёрочка")  // пятерочка
/// ```
///
/// Both keys are the same for canonically equivalent texts, are in Unicode's normalisation form C, and are their own
/// keys: folding one again changes nothing. They depend on nothing but the text: no locale, no version of the system.
/// The rules, step by step and with what they leave out, are in <doc:FoldingRules>.
///
/// ## Topics
///
/// ### Keys
///
/// - ``sortKey(_:)``
/// - ``searchKey(_:)``
///
/// ### Versions
///
/// - ``version``
/// - ``unicodeVersion``
public enum Folding {
    /// The version of the rules. Each store keeps the one its keys were made with, and refolds when it differs.
    public static let version: Int = 1

    /// The version of Unicode that the tables are of. A scalar that a later version added folds to itself.
    public static let unicodeVersion: String = FoldingTables.unicodeVersion

    /// The key to sort `text` by: its full Unicode case folding, in normalisation form C.
    ///
    /// It is not a collation: `ё` comes after `я`, and `Ångström` after `Zürich`, as their code points do.
    ///
    /// - Complexity: O(*n*), where *n* is the length of `text`; O(*n* log *n*) if all of it is combining marks.
    public static func sortKey(_ text: String) -> String {
        key(of: text) { appendSortKey(of: $0, to: &$1) }
    }

    /// The key to search in, or the needle to search for: `text` without case, accents, width and punctuation.
    ///
    /// A text of nothing but punctuation and white space has an empty key.
    ///
    /// - Complexity: O(*n*), where *n* is the length of `text`; O(*n* log *n*) if all of it is combining marks.
    public static func searchKey(_ text: String) -> String {
        key(of: text) { appendSearchKey(of: $0, to: &$1) }
    }

    /// Appends the sort key of valid UTF-8, which may hold U+0000.
    static func appendSortKey(of utf8: UnsafeBufferPointer<UInt8>, to out: inout [UInt8]) {
        FoldingPass<SortRules>.append(utf8, to: &out)
    }

    /// Appends the search key of valid UTF-8, which may hold U+0000.
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
