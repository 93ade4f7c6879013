/// An array or a set of plain values, or an optional array or set. Do not conform to it.
public protocol QueryCollection {
    /// The type of the elements.
    associatedtype QueryElement: PropertyValue
}

extension Array: QueryCollection where Element: PropertyValue {
    /// The type of the elements.
    public typealias QueryElement = Element
}

extension Set: QueryCollection where Element: PropertyValue {
    /// The type of the elements.
    public typealias QueryElement = Element
}

extension Optional: QueryCollection where Wrapped: QueryCollection {
    /// The type of the elements.
    public typealias QueryElement = Wrapped.QueryElement
}

extension PropertyExpression where Value: QueryCollection {
    /// Returns a predicate that holds if a value is among the elements: `$0.labels.contains("new")`. It does not hold
    /// for nil.
    ///
    /// - Complexity: O(*n*). Each object's collection is decoded, without an index. If you search it often, use a list
    ///   of references.
    public func contains(_ element: Value.QueryElement) -> Predicate<Root> {
        var json: [UInt8] = []
        // A value that can't be encoded can't be stored either.
        guard (try? ExactJSON.write(element.__json, to: &json)) != nil else { return .false }
        return Predicate(.elementsContain(__column, element: String(decoding: json, as: UTF8.self)))
    }

    /// The number of elements: `$0.labels.count > 2`. The count of nil is nil, so it does not equal any number, and is
    /// neither less nor greater.
    ///
    /// - Complexity: O(*n*), without an index.
    public var count: CountExpression<Root> {
        CountExpression { [column = __column] in .elementCount(column, by: $0, to: $1) }
    }

    /// A predicate that holds if there are no elements. It does not hold for nil.
    public var isEmpty: Predicate<Root> { count == 0 }
}
