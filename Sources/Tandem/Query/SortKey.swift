/// A key of an order: a property, a direction, and the position of nils.
///
/// For example:
///
/// ```swift
/// store.objects(Card.self).sorted(by: .descending(\.points), .ascending(\.shop))
/// store.objects(Card.self).sorted(by: .matchingFirst { $0.stars.any { $0.person == me } }, .ascending(\.shop))
/// ```
///
/// A folded property sorts by its sort key, in the order of ``Store/Configuration/sortLanguage``. Other texts sort by
/// their Unicode scalars. NaN is greater than all numbers. With any keys, the local ID breaks ties in ascending order.
public struct SortKey<Root: Model>: Sendable {
    /// The position of nils.
    public enum Nils: Sendable {
        /// Before all values.
        case first
        /// After all values.
        case last
    }

    let key: SortTerm

    /// Returns an ascending key. By default, nils come first.
    ///
    /// - Parameters:
    ///   - property: A property of the model, or of an object that it refers to.
    ///   - nils: The place of objects without a value.
    public static func ascending<P: PropertyExpression>(
        _ property: KeyPath<Root.Columns, P>, nils: Nils = .first
    ) -> Self where P.Root == Root {
        Self(key: .column(Root.Columns()[keyPath: property].__column, ascending: true, nilsFirst: nils == .first))
    }

    /// Returns a descending key. By default, nils come last.
    ///
    /// - Parameters:
    ///   - property: A property of the model, or of an object that it refers to.
    ///   - nils: The place of objects without a value.
    public static func descending<P: PropertyExpression>(
        _ property: KeyPath<Root.Columns, P>, nils: Nils = .last
    ) -> Self where P.Root == Root {
        Self(key: .column(Root.Columns()[keyPath: property].__column, ascending: false, nilsFirst: nils == .first))
    }

    /// Returns a key that puts the objects for which a predicate holds before all others, such as favorites.
    public static func matchingFirst(_ predicate: (Root.Columns) -> Predicate<Root>) -> Self {
        Self(key: .matchingFirst(predicate(Root.Columns()).node))
    }

    /// Returns a key that puts the objects in which a property is true before all others.
    public static func matchingFirst(_ property: (Root.Columns) -> Property<Root, Bool>) -> Self {
        matchingFirst { property($0).asPredicate }
    }
}
