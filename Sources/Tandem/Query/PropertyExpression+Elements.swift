/// An array or a set of plain values, or an optional of one. Not to be conformed to.
public protocol QueryCollection {
    associatedtype QueryElement: PropertyValue
}

extension Array: QueryCollection where Element: PropertyValue {
    public typealias QueryElement = Element
}

extension Set: QueryCollection where Element: PropertyValue {
    public typealias QueryElement = Element
}

extension Optional: QueryCollection where Wrapped: QueryCollection {
    public typealias QueryElement = Wrapped.QueryElement
}

extension PropertyExpression where Value: QueryCollection {
    /// Whether a value is among the elements: `$0.labels.contains("new")`. Nil contains nothing.
    ///
    /// - Complexity: O(*n*), decoding the collection of each object: no index helps. Model what is searched often as a
    ///   list of references.
    public func contains(_ element: Value.QueryElement) -> Predicate<Root> {
        var json: [UInt8] = []
        // What can't be written can't have been stored either.
        guard (try? ExactJSON.write(element.__json, to: &json)) != nil else { return .false }
        return Predicate(.elementsContain(__column, String(decoding: json, as: UTF8.self)))
    }

    /// How many elements there are: `$0.labels.count > 2`. As the count of nil is nil, it is not equal to any number,
    /// and neither less nor greater.
    ///
    /// - Complexity: O(*n*): no index helps.
    public var count: CountExpression<Root> {
        CountExpression { [column = __column] in .elementCount(column, $0, $1) }
    }

    /// Whether there are no elements. Nil is not empty.
    public var isEmpty: Predicate<Root> { count == 0 }
}
