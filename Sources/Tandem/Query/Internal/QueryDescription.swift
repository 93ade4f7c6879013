/// A query as plain data, which is compiled to SQL.
///
/// The steps `limit`, `offset` and `distinct` select some objects. Later steps apply to these objects, as with a Swift
/// sequence. The query is then the `base` of a new description.
struct QueryDescription: Sendable {
    enum Life: Sendable {
        case live, deleted, any
    }

    /// A box that holds a description within another.
    final class Base: Sendable {
        let query: QueryDescription
        init(_ query: QueryDescription) { self.query = query }
    }

    let model: ModelDefinition
    var life = Life.live
    /// The query whose objects this query selects from.
    var base: Base?
    var filters: [PredicateNode] = []
    var order: [SortTerm] = []
    var distinct: [ColumnPath] = []
    var limit: Int?
    var offset = 0
    /// The columns whose changes live publishers report, or `nil` for all.
    var observed: [ColumnPath]?

    init(_ model: ModelDefinition) {
        self.model = model
    }

    private var isCut: Bool { limit != nil || offset > 0 }

    /// This query, or a query over its objects if it selects some of them.
    var nestedIfPicky: QueryDescription {
        isCut || !distinct.isEmpty ? nested : self
    }

    /// This query without its own limit, for aggregates.
    var nestedIfCut: QueryDescription {
        isCut ? nested : self
    }

    private var nested: QueryDescription {
        var outer = QueryDescription(model)
        outer.life = .any
        outer.base = Base(self)
        outer.order = order
        outer.observed = observed
        return outer
    }

    func filtered(_ node: PredicateNode) -> QueryDescription {
        var query = nestedIfPicky
        query.filters.append(node)
        return query
    }

    func sorted(_ keys: [SortTerm]) -> QueryDescription {
        var query = nestedIfPicky
        query.order = keys
        return query
    }

    func distinct(_ columns: [ColumnPath]) -> QueryDescription {
        var query = nestedIfPicky
        query.distinct = columns
        return query
    }

    func limited(_ count: Int) -> QueryDescription {
        var query = self
        query.limit = min(count, limit ?? count)
        return query
    }

    func skipping(_ count: Int) -> QueryDescription {
        var query = limit == nil ? self : nested
        query.offset += count
        return query
    }

    func living(_ life: Life) -> QueryDescription {
        var query = self
        if let base {
            query.base = Base(base.query.living(life))
        } else {
            query.life = life
        }
        return query
    }
}

extension QueryDescription {
    /// Whether the query can find deleted objects.
    var findsDeleted: Bool {
        var query = self
        while let base = query.base?.query { query = base }
        return query.life != .live
    }
}
