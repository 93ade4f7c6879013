/// A query by names: a selection of a model's objects in an order. It reads nothing until one of its reading functions
/// is called.
///
/// For example:
///
/// ```swift
/// let cards = try store.objects(named: "Card")
///     .where("points > 100 and shop matches 'маг'")
///     .sorted(by: ["shop"])
/// print(try cards.count())
/// for try await cards in cards.limit(20).collectionPublisher.values { print(cards.count) }
/// ```
///
/// It is the same query as ``Results`` of the model's Swift type, with the same order, and the same cost: see
/// <doc:Queries>. An error of a condition names the unknown property and lists those that exist.
///
/// ## Topics
/// ### Selecting
/// - ``where(_:)-(DynamicPredicate)``
/// - ``where(_:)-(String)``
/// - ``sorted(by:)``
/// - ``sorted(by:ascending:)``
/// - ``limit(_:)``
/// - ``offset(_:)``
/// - ``after(_:)``
/// - ``includingDeleted()``
/// - ``onlyDeleted()``
/// ### Reading
/// - ``all()-9k9a6``
/// - ``all()-5nonn``
/// - ``first()-1t7dm``
/// - ``first()-43ez4``
/// - ``forEach(_:)``
/// - ``localIDs()``
/// - ``page(after:limit:)``
/// ### Observing
/// - ``collectionPublisher``
/// - ``changesetPublisher``
/// - ``localIDChangesetPublisher``
/// - ``countPublisher``
public struct DynamicResults: Sendable {
    let store: Store
    var query: QueryDescription

    private func with(_ query: QueryDescription) -> DynamicResults {
        DynamicResults(store: store, query: query)
    }

    private var resolver: DynamicResolver {
        DynamicResolver(model: query.model, schema: store.schema, path: store.path)
    }

    /// The model of the objects.
    public var model: ModelDefinition { query.model }

    /// Returns the objects for which a condition holds. With several calls, all conditions must hold.
    ///
    /// - Parameter predicate: The condition.
    /// - Throws: ``TandemError`` with the code `invalidQuery` if a name is unknown. It is also thrown if a value or a
    ///   test does not fit the kind of its property.
    public func `where`(_ predicate: DynamicPredicate) throws -> DynamicResults {
        with(query.filtered(try resolver.node(predicate).resolved(by: store.collation)))
    }

    /// Returns the objects for which a condition in text form holds.
    ///
    /// - Parameter text: The condition, such as `shop beginsWith 'лен' and points > 10`. <doc:OpeningWithoutTypes>
    ///   describes the language.
    /// - Throws: ``QuerySyntaxError`` with the position if the text is not a condition, and the errors of
    ///   ``where(_:)-(DynamicPredicate)``.
    public func `where`(_ text: String) throws -> DynamicResults {
        try self.where(DynamicPredicate(text))
    }

    /// Returns the same objects in the order of some keys, the most significant first. It replaces an earlier order.
    ///
    /// - Parameter keys: The keys.
    /// - Throws: ``TandemError`` with the code `invalidQuery` if a name is unknown.
    public func sorted(by keys: [DynamicSort]) throws -> DynamicResults {
        with(query.sorted(try keys.map(resolver.sortTerm)))
    }

    /// Returns the same objects in the order of a property.
    ///
    /// - Parameters:
    ///   - path: The property, or a property of an object that it refers to.
    ///   - ascending: Whether the values ascend.
    /// - Throws: ``TandemError`` with the code `invalidQuery` if a name is unknown.
    public func sorted(by path: DynamicPath, ascending: Bool = true) throws -> DynamicResults {
        try sorted(by: [DynamicSort(path, ascending: ascending)])
    }

    /// Returns at most `count` objects, the first in the order.
    ///
    /// - Precondition: The count is not negative.
    public func limit(_ count: Int) -> DynamicResults {
        precondition(count >= 0, "A limit must not be negative.")
        return with(query.limited(count))
    }

    /// Skips the first `count` objects of the order. Skipped objects are still read: ``after(_:)`` is cheaper.
    ///
    /// - Precondition: The count is not negative.
    public func offset(_ count: Int) -> DynamicResults {
        precondition(count >= 0, "An offset must not be negative.")
        return with(query.skipping(count))
    }

    /// Returns the same query, including deleted objects whose delete the server has not acknowledged yet.
    public func includingDeleted() -> DynamicResults {
        with(query.living(.any))
    }

    /// Returns the same query over deleted objects only.
    public func onlyDeleted() -> DynamicResults {
        with(query.living(.deleted))
    }
}
