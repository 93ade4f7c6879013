/// What the writer must note of its changes: for each table, the parts of subscriptions that it can matter to.
///
/// A value: a transaction goes by the plan that stood when it began. Who subscribes meanwhile is told to read afresh
/// (see ``LiveEngine``).
struct WatchPlan: Sendable {
    /// Grows with each subscription that comes.
    private(set) var version = 0
    /// By the tables' names.
    private(set) var tables: [String: TableWatch] = [:]

    var isEmpty: Bool { tables.isEmpty }

    mutating func add(_ id: PartID, _ watch: PartWatch) {
        version += 1
        switch watch {
        case .rows(let table, let conditions, let makeWatcher):
            update(table) { $0.add(id, conditions, makeWatcher) }
        case .joined(let joined):
            update(joined.table) { $0.joined[id] = joined }
            for (index, reach) in joined.reaches.enumerated() {
                update(reach.table) { $0.reached[id, default: []].append((joined, index)) }
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

    private mutating func update(_ table: TableLayout, _ change: (inout TableWatch) -> Void) {
        change(&tables[table.table, default: TableWatch(table)])
    }
}

/// A part of a subscription: a small number that is given out again when the part is gone.
typealias PartID = Int

/// How the changes of a commit are translated for a part.
enum PartWatch: Sendable {
    /// Row by row, asked in Swift of the row alone.
    case rows(
        TableLayout, QueryDescription,
        @Sendable (_ asked: inout ColumnSlots, _ ordered: inout ColumnSlots) -> any RowWatcher)
    /// Row by row, asked of SQLite: the query follows references.
    case joined(JoinedWatch)
    /// Not row by row: it is read afresh if one of some tables has changed.
    case requery([TableLayout])
}

/// What the writer notes of one table's changes.
struct TableWatch: Sendable {
    let table: TableLayout
    /// Columns whose values before and after a change are asked.
    private(set) var asked = ColumnSlots()
    /// Columns whose values after a change make sort keys.
    private(set) var ordered = ColumnSlots()
    /// What is selected of a changed row beside its object.
    private(set) var extraColumns: [String] = []
    private(set) var routes = RouteIndex()
    /// Parts that are asked in Swift, at their numbers.
    private(set) var rows: [RowWatch?] = []
    private var rowCount = 0
    /// Parts whose own table this is, and whose queries follow references.
    var joined: [PartID: JoinedWatch] = [:]
    /// Parts whose references lead here: what must be looked at when a row of this table changes.
    var reached: [PartID: [(watch: JoinedWatch, reach: Int)]] = [:]
    var requeried: Set<PartID> = []

    init(_ table: TableLayout) {
        self.table = table
    }

    var isEmpty: Bool { rowCount == 0 && joined.isEmpty && reached.isEmpty && requeried.isEmpty }

    func mentions(_ id: PartID) -> Bool {
        (id < rows.count && rows[id] != nil) || joined[id] != nil || reached[id] != nil || requeried.contains(id)
    }

    mutating func add(
        _ id: PartID, _ query: QueryDescription,
        _ makeWatcher: (_ asked: inout ColumnSlots, _ ordered: inout ColumnSlots) -> any RowWatcher
    ) {
        guard let predicate = RowPredicate(query, slots: &asked) else {
            preconditionFailure("A part whose query can't be asked of a row is watched another way.")
        }
        while rows.count <= id { rows.append(nil) }
        if rows[id] == nil { rowCount += 1 }
        rows[id] = RowWatch(
            predicate: predicate, filterMask: table.mask(ofColumns: predicate.columns),
            watcher: makeWatcher(&asked, &ordered))
        routes.add(id: id, condition: RouteCondition(query), slots: &asked)
        let columns = asked.columns + ordered.columns
        // The same array as long as nothing has come to it: who has a statement for it sees that at a glance.
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

    /// A change of one row, as the statement reads it: the objects' columns, then those asked, then those ordered by.
    var columns: [String] {
        RowReader.stateColumns + table.definition.properties.map(\.column) + extraColumns
    }

    var selectSQL: String {
        """
        SELECT \(columns.map(\.quotedSQL).joined(separator: ", ")) FROM \(table.quotedTable) WHERE "__rid" = ?
        """
    }
}

/// A part that is asked in Swift. An object, as a commit may ask many of them, each for a moment.
final class RowWatch: Sendable {
    let predicate: RowPredicate
    /// The columns that can change what the predicate says.
    let filterMask: ColumnMask
    let watcher: any RowWatcher

    init(predicate: RowPredicate, filterMask: ColumnMask, watcher: any RowWatcher) {
        self.predicate = predicate
        self.filterMask = filterMask
        self.watcher = watcher
    }
}

/// A set of a table's columns: a bit for each place in the select list; the 64th stands for all from there on.
typealias ColumnMask = UInt64

extension TableLayout {
    func mask(ofColumns names: some Sequence<String>) -> ColumnMask {
        var mask: ColumnMask = 0
        for name in names {
            if let index = RowReader.stateColumns.firstIndex(of: name) {
                mask |= 1 << UInt64(index)
            } else if let index = definition.properties.firstIndex(where: { $0.column == name }) {
                mask |= 1 << UInt64(min(63, RowReader.stateColumns.count + index))
            }
        }
        return mask
    }
}
