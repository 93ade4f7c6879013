/// The changes that the writer must record: for each table, the parts of subscriptions that they can affect.
///
/// It is a value: a transaction uses the plan from its beginning. A subscription that begins during the transaction
/// must reload (see ``LiveEngine``).
struct WatchPlan: Sendable {
    /// The version, which increases with each new subscription.
    private(set) var version = 0
    /// The watches by table name.
    private(set) var tables: [String: TableWatch] = [:]

    var isEmpty: Bool { tables.isEmpty }

    mutating func add(_ id: PartID, watch: PartWatch) {
        version += 1
        switch watch {
        case .rows(let table, let conditions, let makeWatcher):
            update(table) { $0.add(id, query: conditions, makeWatcher: makeWatcher) }
        case .joined(let joined):
            update(joined.table) { $0.joined[id] = joined }
            for (index, reach) in joined.reaches.enumerated() {
                update(reach.table) { $0.addReach(index, of: joined, to: id) }
            }
        case .requery(let tables):
            for table in tables { update(table) { _ = $0.requeried.insert(id) } }
        }
    }

    mutating func remove(_ id: PartID) {
        for (name, table) in tables where table.mentions(id) {
            tables[name]!.remove(id)
            if tables[name]!.isEmpty { tables[name] = nil }
        }
    }

    private mutating func update(_ table: TableLayout, change: (inout TableWatch) -> Void) {
        change(&tables[table.table, default: TableWatch(table)])
    }
}

/// The number of a subscription's part. It is reused after the part was removed.
typealias PartID = Int

/// The way in which a commit's changes are translated for a part.
enum PartWatch: Sendable {
    /// Row by row, evaluated in Swift from the row alone.
    case rows(
        of: TableLayout, query: QueryDescription,
        makeWatcher: @Sendable (_ asked: inout ColumnSlots, _ ordered: inout ColumnSlots) -> any RowWatcher)
    /// Row by row, evaluated by SQLite, because the query follows references or other links.
    case joined(JoinedWatch)
    /// Not row by row: the part reloads if one of the tables has changed.
    case requery([TableLayout])
}

/// The changes of a table that the writer records.
struct TableWatch: Sendable {
    let table: TableLayout
    /// Columns whose values before and after a change are needed.
    private(set) var asked = ColumnSlots()
    /// Columns whose values after a change form sort keys.
    private(set) var ordered = ColumnSlots()
    /// The columns that are selected for a changed row besides its object.
    private(set) var extraColumns: [String] = []
    private(set) var routes = RouteIndex()
    /// Parts that are evaluated in Swift, by their numbers.
    private(set) var rows: [RowWatch?] = []
    private var rowCount = 0
    /// Parts of this table whose queries follow references or other links.
    var joined: [PartID: JoinedWatch] = [:]
    /// Parts whose links lead to this table, and which must be evaluated if its rows change. The slot is that of the
    /// key column.
    private(set) var reached: [PartID: [(watch: JoinedWatch, reach: JoinedWatch.Reach, slot: Int)]] = [:]
    var requeried: Set<PartID> = []

    init(_ table: TableLayout) {
        self.table = table
    }

    var isEmpty: Bool { rowCount == 0 && joined.isEmpty && reached.isEmpty && requeried.isEmpty }

    func mentions(_ id: PartID) -> Bool {
        (id < rows.count && rows[id] != nil) || joined[id] != nil || reached[id] != nil || requeried.contains(id)
    }

    mutating func add(
        _ id: PartID, query: QueryDescription,
        makeWatcher: (_ asked: inout ColumnSlots, _ ordered: inout ColumnSlots) -> any RowWatcher
    ) {
        guard let predicate = RowPredicate(query, slots: &asked) else {
            preconditionFailure("A part whose query can't be evaluated on a row needs another kind of watch.")
        }
        while rows.count <= id { rows.append(nil) }
        if rows[id] == nil { rowCount += 1 }
        rows[id] = RowWatch(
            predicate: predicate, filterMask: table.mask(ofColumns: predicate.columns),
            watcher: makeWatcher(&asked, &ordered))
        routes.add(id: id, condition: RouteCondition(query), slots: &asked)
        updateExtraColumns()
    }

    mutating func addReach(_ index: Int, of watch: JoinedWatch, to id: PartID) {
        let reach = watch.reaches[index]
        reached[id, default: []].append((watch, reach, asked.slot(of: reach.keyColumn)))
        updateExtraColumns()
    }

    /// Keeps the same array while it has no new elements, so that a prepared statement for it is recognized quickly.
    private mutating func updateExtraColumns() {
        let columns = asked.columns + ordered.columns
        if columns.count != extraColumns.count { extraColumns = columns }
    }

    mutating func remove(_ id: PartID) {
        if id < rows.count, rows[id] != nil {
            rows[id] = nil
            rowCount -= 1
            routes.remove(id: id)
        }
        joined[id] = nil
        reached[id] = nil
        requeried.remove(id)
    }

    /// The columns of a changed row in its statement: those of objects, then the watched ones, then those of the order.
    var columns: [String] {
        RowDecoder.stateColumns + table.definition.properties.map(\.column) + extraColumns
    }

    var selectSQL: String {
        """
        SELECT \(columns.map(\.quotedSQL).joined(separator: ", ")) FROM \(table.quotedTable) WHERE "__rid" = ?
        """
    }
}

/// A part that is evaluated in Swift. It is a class, because a commit may access many of them, each only briefly.
final class RowWatch: Sendable {
    let predicate: RowPredicate
    /// The columns that determine the predicate's result.
    let filterMask: ColumnMask
    let watcher: any RowWatcher

    init(predicate: RowPredicate, filterMask: ColumnMask, watcher: any RowWatcher) {
        self.predicate = predicate
        self.filterMask = filterMask
        self.watcher = watcher
    }
}

/// A set of a table's columns: a bit for each index in the select list. The 64th bit represents all later columns.
typealias ColumnMask = UInt64

extension TableLayout {
    func mask(ofColumns names: some Sequence<String>) -> ColumnMask {
        var mask: ColumnMask = 0
        for name in names {
            if let index = RowDecoder.stateColumns.firstIndex(of: name) {
                mask |= 1 << UInt64(index)
            } else if let index = definition.properties.firstIndex(where: { $0.column == name }) {
                mask |= 1 << UInt64(min(63, RowDecoder.stateColumns.count + index))
            }
        }
        return mask
    }
}
