// Tests of texts. They compare Unicode scalars, so case, accents and Unicode composition matter. Nil fails every test.

/// A text, an ID, or an optional text or ID. Do not conform to it.
public protocol QueryText {}
extension String: QueryText {}
extension LocalID: QueryText {}
extension ServerID: QueryText {}
extension Optional: QueryText where Wrapped: QueryText {}

extension PropertyExpression where Value: QueryText {
    /// Returns a predicate that holds if the text begins with a prefix.
    ///
    /// - Complexity: With an index on the property, O(log *n*) for the first match.
    public func hasPrefix(_ prefix: String) -> Predicate<Root> {
        Predicate(.text(__column, test: .prefix, operand: prefix))
    }

    /// Returns a predicate that holds if the text ends with a suffix.
    ///
    /// - Complexity: O(*n*), without an index.
    public func hasSuffix(_ suffix: String) -> Predicate<Root> {
        Predicate(.text(__column, test: .suffix, operand: suffix))
    }

    /// Returns a predicate that holds if the text contains another one. Every text contains the empty text.
    ///
    /// - Complexity: O(*n*), without an index. `matches` on a `@Folded` property uses an index.
    public func contains(_ part: String) -> Predicate<Root> {
        Predicate(.text(__column, test: .contains, operand: part))
    }

    /// Returns a predicate that holds if the text matches a pattern. `*` matches any number of scalars, and `?` matches
    /// one scalar. A backslash makes the next scalar literal.
    ///
    /// ```swift
    /// store.objects(Card.self).where { $0.barcode.like("460*3?") }
    /// ```
    ///
    /// - Complexity: O(*n*), or that of a prefix if the pattern begins with text and the property has an index.
    public func like(_ pattern: String) -> Predicate<Root> {
        Predicate(.text(__column, test: .like, operand: pattern))
    }
}

extension FoldedProperty where Value: QueryText {
    /// Returns a predicate that holds if the text contains every word of a search text, even within longer words. Case,
    /// accents, width and punctuation are ignored. A search text that is empty after folding matches nothing.
    ///
    /// ```swift
    /// store.objects(Card.self).where { $0.shop.matches("пятероч") }  // Пятёрочка
    /// store.objects(Card.self).where { $0.owner.name.matches("ада лав") }
    /// ```
    ///
    /// - Complexity: An index finds words of at least three scalars. Shorter words are searched in every text that the
    ///   rest of the query leaves, at some 0.2 µs each.
    public func matches(_ needle: String) -> Predicate<Root> {
        Predicate(.matches(__column, needle: SearchNeedle(needle)))
    }
}
