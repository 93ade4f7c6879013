/// The objects of a model that a query finds, in an order: a description, that reads nothing until it is asked.
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
/// Without an order the objects come by local ID, which also breaks the ties of every other order. Deleted objects are
/// not found, unless asked for.
///
/// Results are values: each step returns a new one, and all can be kept, passed between threads and asked again. Each
/// answer is read in one transaction, and what it says is what the store held then. Steps apply in the order in which
/// they are written, as with a Swift sequence: `limit(10).where { … }` looks among the first ten.
///
/// ## Topics
/// ### Choosing
/// - `where(_:)`
/// - ``sorted(by:ascending:)``
/// - `sorted(by:)`
/// - ``distinct(by:)``
/// - ``limit(_:)``
/// - ``offset(_:)``
/// - ``after(_:)``
/// - ``page(after:limit:)``
/// - ``includingDeleted()``
/// - ``onlyDeleted()``
/// ### Reading
/// - ``all()``
/// - ``first()``
/// - ``forEach(_:)``
/// - ``elements``
/// - ``values(of:)``
/// - ``localIDs()``
/// - ``with(_:)``
/// ### Asking
/// - ``count()``
/// - ``isEmpty()``
/// - ``contains(_:)``
/// - ``sum(of:)``
/// - ``average(of:)``
/// - ``min(of:)``
/// - ``max(of:)``
/// ### Grouping
/// - ``sectioned(by:ascending:)``
/// - ``grouped(by:)``
/// ### Looking into it
/// - ``explain()``
public struct Results<M: Model>: Sendable {
    let store: Store
    var query: QueryDescription

    init(store: Store, query: QueryDescription) {
        self.store = store
        self.query = query
    }

    private func with(_ query: QueryDescription) -> Results {
        Results(store: store, query: query)
    }

    // MARK: Choosing

    /// The objects for which a predicate holds. Several of them must all hold.
    ///
    /// ```swift
    /// store.objects(Card.self).where { $0.points > 100 || $0.owner.name == "Ада" }
    /// ```
    public func `where`(_ predicate: (M.Columns) -> Predicate<M>) -> Results {
        with(query.filtered(predicate(M.Columns()).node))
    }

    /// The objects for which a predicate holds that was made before.
    ///
    /// ```swift
    /// let isRich = Card.predicate { $0.points > 100 }
    /// let cards = store.objects(Card.self).where(isPinned ? isRich && Card.predicate { $0.isPinned } : isRich)
    /// ```
    public func `where`(_ predicate: Predicate<M>) -> Results {
        with(query.filtered(predicate.node))
    }

    /// The objects in which a property is true: `where { $0.isPinned }`.
    public func `where`(_ property: (M.Columns) -> Property<M, Bool>) -> Results {
        self.where { property($0).asPredicate }
    }

    /// The same objects in the order of a property. It replaces an earlier order.
    ///
    /// Nils come first, or last if descending; ``SortDescriptor`` can say otherwise, and takes several properties.
    public func sorted<P: PropertyExpression>(
        by property: KeyPath<M.Columns, P>, ascending: Bool = true
    ) -> Results where P.Root == M {
        sorted(by: ascending ? .ascending(property) : .descending(property))
    }

    /// The same objects in the order of several keys, the first of which counts most. It replaces an earlier order.
    ///
    /// ```swift
    /// store.objects(Card.self).sorted(by: .descending(\.points), .ascending(\.owner.name, nils: .last))
    /// ```
    public func sorted(by keys: SortDescriptor<M>...) -> Results {
        sorted(by: keys)
    }

    /// The same objects in the order of several keys, the first of which counts most. It replaces an earlier order.
    public func sorted(by keys: [SortDescriptor<M>]) -> Results {
        with(query.sorted(keys.map(\.key)))
    }

    /// The first object, in the order, of each distinct value of a property, or combination of values of several. Nil
    /// is a value.
    public func distinct<each P: PropertyExpression>(by property: repeat KeyPath<M.Columns, each P>) -> Results {
        var columns: [ColumnPath] = []
        for path in repeat each property { columns.append(M.Columns()[keyPath: path].__column) }
        return with(query.distinct(columns))
    }

    /// At most a number of objects, the first in the order.
    ///
    /// - Precondition: The number is not negative.
    public func limit(_ count: Int) -> Results {
        precondition(count >= 0, "A limit must not be negative.")
        return with(query.limited(count))
    }

    /// The objects but a number of the first in the order.
    ///
    /// - Precondition: The number is not negative.
    /// - Complexity: Those left out are read all the same. To page through many, use ``after(_:)``.
    public func offset(_ count: Int) -> Results {
        precondition(count >= 0, "An offset must not be negative.")
        return with(query.skipping(count))
    }

    /// The same query over the deleted objects too, which the server has not acknowledged yet.
    public func includingDeleted() -> Results {
        with(query.living(.any))
    }

    /// The same query over the deleted objects alone.
    public func onlyDeleted() -> Results {
        with(query.living(.deleted))
    }
}

extension Store {
    /// The objects of a model, to be narrowed and read: see ``Results``.
    public func objects<M: Model>(_ model: M.Type) -> Results<M> {
        Results(store: self, query: QueryDescription(M.__definition))
    }

    /// The objects that refer to another one: `store.objects(person.cards)`.
    public func objects<Source: Model>(_ links: InverseLinks<Source>) -> Results<Source> {
        let definition = Source.__definition
        let node: PredicateNode
        if definition.properties[links.property].isToMany {
            let target = definition.properties[links.property].target?().__definition ?? definition
            node = .linkContains(
                LinkPath(steps: [], kind: .list(holder: definition, property: links.property, target: target)),
                links.target)
        } else {
            node = .comparison(
                ColumnPath(definition, links.property), .equal, .value(.text(links.target.rawValue)))
        }
        return Results(store: self, query: QueryDescription(definition).filtered(node))
    }
}
