/// A folded text in a query, compared without regard to case: `$0.shop.folded == "лента"`.
///
/// ```swift
/// store.objects(Card.self).where { $0.shop.folded == "ЛЕНТА" }            // Лента, лента
/// store.objects(Card.self).where { $0.owner.name.folded.hasPrefix("ма") } // Мария, МАРК
/// ```
///
/// Texts are compared by ``Folding/sortKey(_:)``: without case, but with accents and punctuation. All of these
/// conditions except `!=` can use an index.
public struct FoldedText<Root: Model>: Sendable {
    let column: ColumnPath

    /// Returns a predicate that holds if the text equals another one. Nil does not equal any text.
    public static func == (lhs: Self, rhs: String) -> Predicate<Root> {
        Predicate(.comparison(lhs.column, .equal, .value(key(rhs))))
    }

    /// Returns a predicate that holds if the text differs from another one, or is nil.
    public static func != (lhs: Self, rhs: String) -> Predicate<Root> {
        Predicate(.comparison(lhs.column, .notEqual, .value(key(rhs))))
    }

    /// Returns a predicate that holds if the text equals any of the given texts, of any number.
    public func `in`(_ texts: [String]) -> Predicate<Root> {
        Predicate(.among(column, texts.map(Self.key)))
    }

    /// Returns a predicate that holds if the text begins with a prefix. It does not hold for nil.
    public func hasPrefix(_ prefix: String) -> Predicate<Root> {
        Predicate(.text(column, .prefix, Folding.sortKey(prefix)))
    }

    private static func key(_ text: String) -> StorageValue { .text(Folding.sortKey(text)) }
}

extension FoldedExpression where Value: QueryText {
    /// The text without regard to case: `$0.shop.folded == "лента"`.
    public var folded: FoldedText<Root> { FoldedText(column: __column.folded) }

    /// The first letter without regard to case, for sections.
    public var firstLetter: FirstLetter<Root> { FirstLetter(of: __column) }
}
