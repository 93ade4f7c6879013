/// A query: a selection of a model's objects in an order. It reads nothing until one of its reading functions is
/// called.
///
/// For example:
///
/// ```swift
/// let cards = store.objects(Card.self)
///     .where { $0.points > 100 && $0.shop.matches("маг") }
///     .sorted(by: \.shop)
/// print(try cards.count())
/// for card in try cards.limit(20).all() { print(card.shop) }
/// for try await card in cards.elements { print(card.shop) }  // a million in constant memory
/// ```
///
/// Without an order, the objects are in the order of their local IDs. The local ID also breaks the ties of every other
/// order. Deleted objects are not found, unless you include them.
///
/// Results are values. Each step returns a new value, which you can keep, pass between threads and read again. Each
/// read uses a single transaction, and returns the store's state at that time. Steps apply in the order in which they
/// are written, as with a Swift sequence: `limit(10).where { … }` filters the first ten objects.
///
/// ## Topics
/// ### Selecting
/// - ``where(_:)-((M.Columns)->Predicate<M>)``
/// - ``where(_:)-(Predicate<M>)``
/// - ``where(_:)-((M.Columns)->Property<M,Bool>)``
/// - ``sorted(by:ascending:)``
/// - ``sorted(by:)-(SortKey<M>...)``
/// - ``sorted(by:)-([SortKey<M>])``
/// - ``distinct(by:)``
/// - ``limit(_:)``
/// - ``offset(_:)``
/// - ``after(_:)``
/// - ``page(after:limit:)``
/// - ``includingDeleted()``
/// - ``onlyDeleted()``
/// ### Reading
/// - ``all()-9pqel``
/// - ``all()-3sdrj``
/// - ``first()-704wi``
/// - ``first()-7sr8q``
/// - ``forEach(_:)``
/// - ``elements``
/// - ``values(of:)``
/// - ``localIDs()``
/// - ``with(_:)``
/// ### Aggregating
/// - ``count()-1eyeu``
/// - ``count()-52ct9``
/// - ``isEmpty()``
/// - ``contains(_:)``
/// - ``sum(of:)``
/// - ``average(of:)``
/// - ``min(of:)``
/// - ``max(of:)``
/// ### Grouping
/// - ``sectioned(by:ascending:)->[ResultsSection<P.Value,M>]``
/// - ``sectioned(by:ascending:)->[ResultsSection<String?,M>]``
/// - ``grouped(by:)``
/// ### Explaining
/// - ``explain()``
public struct Results<M: Model>: Sendable {
    let store: Store
    var query: QueryDescription

    private func with(_ query: QueryDescription) -> Results {
        Results(store: store, query: query)
    }

    // MARK: Selecting

    /// Returns the objects for which a predicate holds. With several calls, all predicates must hold.
    ///
    /// ```swift
    /// store.objects(Card.self).where { $0.points > 100 || $0.owner.name == "Ада" }
    /// ```
    public func `where`(_ predicate: (M.Columns) -> Predicate<M>) -> Results {
        self.where(predicate(M.Columns()))
    }

    /// Returns the objects for which an existing predicate holds.
    ///
    /// ```swift
    /// let isRich = Card.predicate { $0.points > 100 }
    /// let cards = store.objects(Card.self).where(isPinned ? isRich && Card.predicate { $0.isPinned } : isRich)
    /// ```
    public func `where`(_ predicate: Predicate<M>) -> Results {
        with(query.filtered(predicate.node.resolved(by: store.collation)))
    }

    /// Returns the objects in which a property is true: `where { $0.isPinned }`.
    public func `where`(_ property: (M.Columns) -> Property<M, Bool>) -> Results {
        self.where { property($0).asPredicate }
    }

    /// Returns the same objects in the order of a property. It replaces an earlier order.
    ///
    /// Nils come first, or last if descending. ``SortKey`` can override this, and combines several properties.
    ///
    /// - Parameters:
    ///   - property: A property of the model, or of an object that it refers to.
    ///   - ascending: Whether the values ascend.
    public func sorted<P: PropertyExpression>(
        by property: KeyPath<M.Columns, P>, ascending: Bool = true
    ) -> Results where P.Root == M {
        sorted(by: ascending ? .ascending(property) : .descending(property))
    }

    /// Returns the same objects in the order of several keys, the most significant first. It replaces an earlier order.
    ///
    /// ```swift
    /// store.objects(Card.self).sorted(by: .descending(\.points), .ascending(\.owner.name, nils: .last))
    /// ```
    public func sorted(by keys: SortKey<M>...) -> Results {
        sorted(by: keys)
    }

    /// Returns the same objects in the order of several keys, the most significant first. It replaces an earlier order.
    public func sorted(by keys: [SortKey<M>]) -> Results {
        with(query.sorted(keys.map { $0.key.resolved(by: store.collation) }))
    }

    /// Returns the first object, in the query's order, for each distinct value of a property or combination of values.
    /// Nil counts as a value.
    ///
    /// - Parameter property: The properties whose values are compared.
    public func distinct<each P: PropertyExpression>(by property: repeat KeyPath<M.Columns, each P>) -> Results {
        var columns: [ColumnPath] = []
        for path in repeat each property { columns.append(M.Columns()[keyPath: path].__column) }
        return with(query.distinct(columns))
    }

    /// Returns at most `count` objects, the first in the order.
    ///
    /// - Precondition: The count is not negative.
    public func limit(_ count: Int) -> Results {
        precondition(count >= 0, "A limit must not be negative.")
        return with(query.limited(count))
    }

    /// Skips the first `count` objects of the order.
    ///
    /// - Precondition: The count is not negative.
    /// - Complexity: Skipped objects are still read. To page through many objects, use ``after(_:)``.
    public func offset(_ count: Int) -> Results {
        precondition(count >= 0, "An offset must not be negative.")
        return with(query.skipping(count))
    }

    /// Returns the same query, including deleted objects whose delete the server has not acknowledged yet.
    public func includingDeleted() -> Results {
        with(query.living(.any))
    }

    /// Returns the same query over deleted objects only.
    public func onlyDeleted() -> Results {
        with(query.living(.deleted))
    }
}

extension Store {
    /// Returns the objects of a model, to filter and read: see ``Results``.
    public func objects<M: Model>(_ model: M.Type) -> Results<M> {
        Results(store: self, query: QueryDescription(M.__definition))
    }

    /// Returns the objects that refer to another object: `store.objects(person.cards)`.
    public func objects<Source: Model>(_ links: InverseLinks<Source>) -> Results<Source> {
        let definition = Source.__definition
        let node: PredicateNode
        if definition.properties[links.property].isToMany {
            let target = definition.properties[links.property].target?.definition ?? definition
            node = .linkContains(
                LinkPath(steps: [], kind: .list(holder: definition, property: links.property, target: target)),
                id: links.target)
        } else {
            node = .comparison(
                ColumnPath(definition, property: links.property), by: .equal, to: .value(.text(links.target.rawValue)))
        }
        return Results(store: self, query: QueryDescription(definition).filtered(node))
    }
}
