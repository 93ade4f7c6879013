// Tests of texts. They compare Unicode scalars: case and accents count, and so does the spelling. Nil passes none.

/// A text, an ID, or an optional one. Not to be conformed to.
public protocol QueryText {}
extension String: QueryText {}
extension LocalID: QueryText {}
extension ServerID: QueryText {}
extension Optional: QueryText where Wrapped: QueryText {}

extension PropertyExpression where Value: QueryText {
    /// Whether the text begins with another one.
    ///
    /// - Complexity: With an index on the property, O(log *n*) for the first match.
    public func hasPrefix(_ prefix: String) -> Predicate<Root> {
        Predicate(.text(__column, .prefix, prefix))
    }

    /// Whether the text ends with another one.
    ///
    /// - Complexity: O(*n*): no index helps.
    public func hasSuffix(_ suffix: String) -> Predicate<Root> {
        Predicate(.text(__column, .suffix, suffix))
    }

    /// Whether the text contains another one. Every text contains the empty one.
    ///
    /// - Complexity: O(*n*): no index helps. `matches` on a `@Folded` property has one.
    public func contains(_ part: String) -> Predicate<Root> {
        Predicate(.text(__column, .contains, part))
    }

    /// Whether the text has a shape: `*` stands for any number of scalars, `?` for one, and a backslash takes the next
    /// one as it is.
    ///
    /// ```swift
    /// store.objects(Card.self).where { $0.barcode.like("460*3?") }
    /// ```
    ///
    /// - Complexity: O(*n*), or that of a prefix if the pattern begins with text and the property has an index.
    public func like(_ pattern: String) -> Predicate<Root> {
        Predicate(.text(__column, .like, pattern))
    }
}

extension FoldedProperty where Value: QueryText {
    /// Whether the text has every word of a needle, each anywhere in a word; case, accents, width and punctuation do
    /// not count. A needle with nothing left after folding finds nothing.
    ///
    /// ```swift
    /// store.objects(Card.self).where { $0.shop.matches("пятероч") }  // Пятёрочка
    /// store.objects(Card.self).where { $0.owner.name.matches("ада лав") }
    /// ```
    ///
    /// - Complexity: Words of three scalars and more are looked up in an index. A shorter one is searched for in every
    ///   text that the rest of the query leaves, some 0.2 µs each.
    public func matches(_ needle: String) -> Predicate<Root> {
        Predicate(.matches(__column, SearchNeedle(needle)))
    }
}
