/// One key of an order: a property, a direction, and where the nils go.
///
/// For example:
///
/// ```swift
/// store.objects(Card.self).sorted(by: .descending(\.points), .ascending(\.shop))
/// store.objects(Card.self).sorted(by: .matchingFirst { $0.stars.any { $0.person == me } }, .ascending(\.shop))
/// ```
///
/// A folded property sorts by its folded text, then by the text itself. Other texts sort by their Unicode scalars.
/// NaN is greater than all numbers. Whatever the keys, the local ID breaks ties, ascending.
///
/// Foundation has a type of this name too: in a file that imports both, it is written `Tandem.SortDescriptor`.
public struct SortDescriptor<Root: Model>: Sendable {
    /// Where nils go.
    public enum Nils: Sendable {
        case first
        case last
    }

    let key: SortKey

    /// From the least to the greatest, nils before all.
    public static func ascending<P: PropertyExpression>(
        _ property: KeyPath<Root.Columns, P>, nils: Nils = .first
    ) -> Self where P.Root == Root {
        Self(key: .column(Root.Columns()[keyPath: property].__column, ascending: true, nilsFirst: nils == .first))
    }

    /// From the greatest to the least, nils after all.
    public static func descending<P: PropertyExpression>(
        _ property: KeyPath<Root.Columns, P>, nils: Nils = .last
    ) -> Self where P.Root == Root {
        Self(key: .column(Root.Columns()[keyPath: property].__column, ascending: false, nilsFirst: nils == .first))
    }

    /// The objects for which a predicate holds before all others: favourites first.
    public static func matchingFirst(_ predicate: (Root.Columns) -> Predicate<Root>) -> Self {
        Self(key: .matchingFirst(predicate(Root.Columns()).node))
    }

    /// The objects in which a property is true before all others.
    public static func matchingFirst(_ property: (Root.Columns) -> Property<Root, Bool>) -> Self {
        matchingFirst { property($0).asPredicate }
    }
}
