/// The definition of a live list: the query, the reading of its rows, and the way in which it follows changes.
struct LiveList: Sendable {
    /// The way in which the list follows its table.
    enum Upkeep: Sendable {
        /// Each changed row is evaluated in Swift.
        case rows
        /// SQLite evaluates each changed row, and each row whose links lead to a changed row.
        case joined
        /// The list reloads, and compares the rows.
        case requery(reason: String)
    }

    /// The rows that a limited query shows, and a reserve of rows that replace removed ones.
    struct Window: Sendable {
        let offset: Int
        let limit: Int

        /// Returns the number of rows to read: the visible rows and a reserve of the same size, within limits.
        func capacity(_ tuning: LiveTuning) -> Int {
            offset + limit + (tuning.leastReserve == 0 ? 0 : min(1_000, max(tuning.leastReserve, limit)))
        }
    }

    let query: QueryDescription
    let reading: RowReading
    let upkeep: Upkeep
    let window: Window?
    /// The columns whose changes are reported.
    private let observed: ColumnMask

    var isIncremental: Bool {
        if case .requery = upkeep { false } else { true }
    }

    init(_ query: QueryDescription, reading: RowReading, in schema: Schema, section: SortTerm? = nil) {
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
        guard let table = schema.table(named: query.model.table) else { throw Schema.unknown(query.model.name) }
        switch upkeep {
        case .requery: return .requery(query.tables.compactMap { schema.table(named: $0) })
        case .joined:
            return .joined(
                try JoinedWatch(query, in: schema, table: table, observed: observed, reading: reading))
        case .rows:
            return .rows(of: table, query: query) { [reading, observed] _, ordered in
                guard let order = reading.order.own(&ordered) else {
                    preconditionFailure("An order that follows references needs another kind of watch.")
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
            self = .requery(reason: "it filters or sorts the objects that a limit or distinct(by:) selects")
        } else if !query.distinct.isEmpty {
            self = .requery(reason: "the object that distinct(by:) selects depends on all objects with the same value")
        } else if query.limit == nil, query.offset > 0 {
            self = .requery(reason: "it has an offset without a limit")
        } else if query.offset > Self.largestWindow || (query.limit ?? 0) > Self.largestWindow - query.offset {
            self = .requery(reason: "its window ends beyond \(Self.largestWindow) objects")
        } else if RowPredicate(query, slots: &slots) != nil, RowOrder(query.order).own(&slots) != nil {
            self = .rows
        } else {
            self = .joined
        }
    }

    /// Windows are compared as a whole after each change, so their size is limited.
    private static let largestWindow = 100_000
}

extension QueryDescription {
    /// Returns the columns whose changes are reported: all, or the selected ones. A change of the order is always
    /// reported, because the row then has another position.
    func observedMask(in schema: Schema) -> ColumnMask {
        guard let observed, let table = schema.table(named: model.table) else { return .max }
        return table.mask(ofColumns: observed.map(\.name))
    }
}
