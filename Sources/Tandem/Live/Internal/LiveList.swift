/// What a live list is made by: the query, how its rows are read, and how it is kept up to date.
struct LiveList: Sendable {
    /// How the list follows its table.
    enum Upkeep: Sendable {
        /// Each changed row is asked in Swift.
        case rows
        /// Each changed row, and each whose references lead to a changed one, is asked of SQLite.
        case joined
        /// It is read afresh, and compared.
        case requery(reason: String)
    }

    /// The rows that a limited query shows, and how many are kept beyond them, to take the place of those that go.
    struct Window: Sendable {
        let offset: Int
        let limit: Int

        /// The rows that are read: those shown, and as many again as a reserve, within reason.
        func capacity(_ tuning: LiveTuning) -> Int {
            offset + limit + (tuning.leastReserve == 0 ? 0 : min(1_000, max(tuning.leastReserve, limit)))
        }
    }

    let query: QueryDescription
    let reading: RowReading
    let upkeep: Upkeep
    let window: Window?
    /// The columns whose change is worth telling.
    private let observed: ColumnMask

    var isIncremental: Bool {
        if case .requery = upkeep { false } else { true }
    }

    init(_ query: QueryDescription, reading: RowReading, in schema: Schema, section: SortKey? = nil) {
        self.reading = reading
        // The order of the sections comes first.
        var query = query
        let keys = (section.map { [$0] } ?? []) + query.order
        query.order = keys
        self.query = query
        upkeep = Upkeep(query)
        if case .requery = upkeep {
            window = nil
        } else {
            window = query.limit.map { Window(offset: query.offset, limit: $0) }
        }
        observed = query.observedMask(in: schema)
    }

    func watch(in schema: Schema) throws -> PartWatch {
        guard let table = schema.table(named: query.model.table) else { throw Schema.unknown(query.model.type) }
        switch upkeep {
        case .requery: return .requery(query.tables.compactMap { schema.table(named: $0) })
        case .joined:
            return .joined(
                try JoinedWatch(query, in: schema, table: table, observed: observed, reading: reading))
        case .rows:
            return .rows(table, query) { [reading, observed] _, ordered in
                guard let order = reading.order.own(&ordered) else {
                    preconditionFailure("An order that follows references is watched another way.")
                }
                return ListWatcher(
                    order: order, section: reading.section.flatMap { $0.own(&ordered) }, maker: reading.maker,
                    observed: observed)
            }
        }
    }
}

extension LiveList.Upkeep {
    init(_ query: QueryDescription) {
        var slots = ColumnSlots()
        if query.base != nil {
            self = .requery(reason: "it chooses among the objects that a limit or distinct(by:) has picked")
        } else if !query.distinct.isEmpty {
            self = .requery(reason: "which of the objects with equal values distinct(by:) shows depends on all of them")
        } else if query.followsLinks {
            self = .requery(reason: "it asks of lists of references or inverse links")
        } else if query.limit == nil, query.offset > 0 {
            self = .requery(reason: "it has an offset without a limit")
        } else if query.offset > Self.largestWindow || (query.limit ?? 0) > Self.largestWindow - query.offset {
            self = .requery(reason: "its window ends beyond \(Self.largestWindow) objects")
        } else if RowPredicate(query, slots: &slots) != nil, RowOrder(query.order).own(&slots) != nil {
            self = .rows
        } else if query.life != .live {
            // An object that is deleted keeps its references, also to what is gone and names nothing any more.
            self = .requery(reason: "it follows references of deleted objects")
        } else {
            self = .joined
        }
    }

    /// Windows are compared whole after each change.
    private static let largestWindow = 100_000
}

extension QueryDescription {
    /// The columns whose change is told of: all, or those chosen. A change of the order is told of all the same: the row
    /// has another place then.
    func observedMask(in schema: Schema) -> ColumnMask {
        guard let observed, let table = schema.table(named: model.table) else { return .max }
        return table.mask(ofColumns: observed.map(\.name))
    }
}
