/// A folded text in a query, compared without regard to case: `$0.shop.folded == "лента"`.
///
/// ```swift
/// store.objects(Card.self).where { $0.shop.folded == "ЛЕНТА" }            // Лента, лента
/// store.objects(Card.self).where { $0.owner.name.folded.hasPrefix("ма") } // Мария, МАРК
/// ```
///
/// Texts are equal if their case foldings are (``Folding/caseKey(_:)``): accents, width and punctuation count. If
/// ``Store/Configuration/sortLanguage`` is Turkish or Azerbaijani, "istanbul" equals "İSTANBUL", and not "ISTANBUL".
///
/// All of these conditions except `!=` use the index of the sort keys. They therefore also require that the language
/// sorts the letters alike. In a few cases it does not: in Danish, "aa" is one letter and "aA" is two, so they differ.
/// In every language, Greek "ᾳ" differs from "ΑΙ".
public struct FoldedText<Root: Model>: Sendable {
    let column: ColumnPath

    /// Returns a predicate that holds if the text equals another one. Nil does not equal any text.
    public static func == (lhs: Self, rhs: String) -> Predicate<Root> {
        Predicate(.comparison(lhs.column, by: .equal, to: .value(.text(rhs))))
    }

    /// Returns a predicate that holds if the text differs from another one, or is nil.
    public static func != (lhs: Self, rhs: String) -> Predicate<Root> {
        Predicate(.comparison(lhs.column, by: .notEqual, to: .value(.text(rhs))))
    }

    /// Returns a predicate that holds if the text equals any of the given texts, of any number.
    public func `in`(_ texts: [String]) -> Predicate<Root> {
        Predicate(.among(column, values: texts.map { .text($0) }))
    }

    /// Returns a predicate that holds if the text begins with a prefix. It does not hold for nil.
    ///
    /// - Complexity: The index finds texts by the letters of the prefix. The last ones do not count if they may begin
    ///   a letter of several characters, as `c` does in Czech. A prefix of such letters alone reads all texts.
    public func hasPrefix(_ prefix: String) -> Predicate<Root> {
        Predicate(.text(column, test: .prefix, operand: prefix))
    }
}

extension FoldedExpression where Value: QueryText {
    /// The text without regard to case: `$0.shop.folded == "лента"`.
    public var folded: FoldedText<Root> { FoldedText(column: __column.folded) }

    /// The first letter without regard to case, for sections.
    public var firstLetter: FirstLetter<Root> { FirstLetter(of: __column) }
}
