/// A folded text in a query, compared without regard to case: `$0.shop.folded == "лента"`.
///
/// ```swift
/// store.objects(Card.self).where { $0.shop.folded == "ЛЕНТА" }            // Лента, лента
/// store.objects(Card.self).where { $0.owner.name.folded.hasPrefix("ма") } // Мария, МАРК
/// ```
///
/// Texts are compared by ``Folding/sortKey(_:)``: without case, with accents and punctuation. An index serves all of
/// these conditions but `!=`.
public struct FoldedText<Root: Model>: Sendable {
    let column: ColumnPath

    /// Whether the text equals another one. Nil equals no text.
    public static func == (lhs: Self, rhs: String) -> Predicate<Root> {
        Predicate(.comparison(lhs.column, .equal, .value(key(rhs))))
    }

    /// Whether the text differs from another one, or is nil.
    public static func != (lhs: Self, rhs: String) -> Predicate<Root> {
        Predicate(.comparison(lhs.column, .notEqual, .value(key(rhs))))
    }

    /// Whether the text equals one of some texts. There may be any number of them.
    public func `in`(_ texts: [String]) -> Predicate<Root> {
        Predicate(.among(column, texts.map(Self.key)))
    }

    /// Whether the text begins with another one. Nil does not.
    public func hasPrefix(_ prefix: String) -> Predicate<Root> {
        Predicate(.text(column, .prefix, Folding.sortKey(prefix)))
    }

    private static func key(_ text: String) -> StorageValue { .text(Folding.sortKey(text)) }
}

extension FoldedExpression where Value: QueryText {
    /// The text without regard to case: `$0.shop.folded == "лента"`.
    public var folded: FoldedText<Root> { FoldedText(column: __column.folded) }

    /// The first letter without regard to case, to make sections by.
    public var firstLetter: FirstLetter<Root> { FirstLetter(of: __column) }
}
