/// The watch of a part whose query follows references, lists of references or inverse links.
///
/// SQLite evaluates the part's rows one by one. It does so in the transaction that changes the rows, or the objects
/// that they are linked with.
///
/// A row's result changes only if an object changes that the row is linked with. The link exists before the transaction
/// or after it. Of the changed objects on such a path, take the nearest to the row. The path up to it did not change,
/// so it exists after the transaction. The last hop is found by the object's former key as well as by its new one: a
/// deleted row keeps its references, even to objects that no longer exist.
struct JoinedWatch: Sendable {
    /// A table that the query's links lead to.
    struct Reach: Sendable {
        let table: TableLayout
        /// The columns of the table that the query uses, without the key column.
        let usedMask: ColumnMask
        /// The column with the local IDs that determine the holders: see ``LinkHop/keyColumn``.
        let keyColumn: String
        let keyMask: ColumnMask
        /// Whether the key column is a list of local IDs.
        let hasKeyList: Bool
        /// Finds the rows of the part's own table whose links lead to an object.
        ///
        /// The key column of that object has a given local ID.
        let holdersSQL: String
    }

    let table: TableLayout
    let reaches: [Reach]
    /// Reads a row of the part, if the query contains it. The row is the last bound value.
    let rowSQL: SQL
    /// Creates the row from a statement of ``rowSQL``.
    let makeRow: @Sendable (Statement, _ path: String) throws -> LiveRow
    /// The columns of the part's own table whose changes are reported.
    let observed: ColumnMask
}

extension JoinedWatch {
    init(
        _ query: QueryDescription, in schema: Schema, table: TableLayout, observed: ColumnMask, reading: RowReading
    ) throws {
        self.table = table
        self.observed = observed
        makeRow = { try reading.row($0, path: $1) }
        var compiler = SQLCompiler()
        compiler.usesSearchIndexes = false
        var uncut = query
        uncut.limit = nil
        uncut.offset = 0
        rowSQL = compiler.select(uncut, ordered: false, also: { "\(alias: $0.alias).\"__rid\" = ?" }) {
            reading.columns(&$0, in: $1)
        }
        reaches = try query.dependencies.map { dependency in
            let last = dependency.hops[dependency.hops.count - 1]
            guard let target = schema.table(named: dependency.table) else { throw MissingTable() }
            let condition = dependency.hops.dropLast().reversed().reduce(last.keyCondition) { $1.condition($0) }
            return Reach(
                table: target, usedMask: target.mask(ofColumns: dependency.columns), keyColumn: last.keyColumn,
                keyMask: target.mask(ofColumns: [last.keyColumn]), hasKeyList: last.hasKeyList,
                holdersSQL: "SELECT \"__rid\" FROM \(table.quotedTable) WHERE \(condition)")
        }
    }

    private struct MissingTable: Error {}
}

/// The remaining work of a transaction for all live queries together: see ``LiveTuning/resolvingLimit``.
struct ResolvingBudget {
    private var left: Int
    private let statementWork: Int

    init(_ tuning: LiveTuning) {
        left = tuning.resolvingLimit
        statementWork = tuning.statementWork
    }

    /// Spends the work of evaluating a row for a query. Returns `false` if none is left.
    @inline(__always)
    mutating func spendRow() -> Bool {
        left -= 1
        return left >= 0
    }

    /// Spends the work of some statements. Returns `false`, and spends nothing, if too little is left.
    mutating func spendStatement(_ count: Int = 1) -> Bool {
        guard left >= count * statementWork else { return false }
        left -= count * statementWork
        return true
    }
}

/// The rows that SQLite evaluates at the end of a transaction, each once.
struct JoinedCandidates {
    private struct Part {
        let watch: JoinedWatch
        var rows: [Int64: ColumnMask] = [:]
    }

    private var parts: [PartID: Part] = [:]
    /// Parts whose rows were not recorded or not looked up, because the budget was exhausted.
    private var unfollowed: Set<PartID> = []

    /// Adds a row to evaluate. Returns `false` if the budget is exhausted; the part then reloads.
    @discardableResult
    mutating func add(
        _ row: Int64, mask: ColumnMask, to id: PartID, watch: JoinedWatch, budget: inout ResolvingBudget
    ) -> Bool {
        guard budget.spendRow() else {
            unfollowed.insert(id)
            return false
        }
        parts[id, default: Part(watch: watch)].rows[row, default: 0] |= mask
        return true
    }

    /// Adds the rows whose links lead to a changed object.
    ///
    /// - Parameter key: The UTF-8 bytes of a local ID in the object's key column.
    mutating func addHolders(
        of key: [UInt8], reach: JoinedWatch.Reach, to id: PartID, watch: JoinedWatch, on connection: Connection,
        tuning: LiveTuning, budget: inout ResolvingBudget
    ) throws {
        // A part with too many rows reloads in any case.
        guard parts[id]?.rows.count ?? 0 <= tuning.joinedLimit else { return }
        guard budget.spendStatement() else {
            unfollowed.insert(id)
            return
        }
        let statement = try connection.statement(reach.holdersSQL)
        defer { statement.reset() }
        key.withUnsafeBufferPointer { statement.bindText(1, to: $0, copied: true) }
        while try statement.step(), parts[id]?.rows.count ?? 0 <= tuning.joinedLimit {
            guard add(statement.integer(0), mask: 0, to: id, watch: watch, budget: &budget) else { return }
        }
    }

    func evaluate(
        _ connection: Connection, tuning: LiveTuning, budget: inout ResolvingBudget, sealed: inout CommitChanges
    ) {
        sealed.reloads.formUnion(unfollowed)
        for (id, part) in parts where !unfollowed.contains(id) {
            do {
                guard part.rows.count <= tuning.joinedLimit, budget.spendStatement(part.rows.count) else {
                    sealed.reloads.insert(id)
                    continue
                }
                let statement = try connection.statement(part.watch.rowSQL.text)
                defer {
                    statement.reset()
                    statement.clearBindings()
                }
                statement.bind(part.watch.rowSQL.values)
                let last = Int32(part.watch.rowSQL.values.count + 1)
                for (row, mask) in part.rows {
                    statement.reset()
                    statement.bind(last, to: row)
                    let new = try statement.step() ? try part.watch.makeRow(statement, connection.path) : nil
                    sealed.add(.row(id: row, row: new, isSilent: mask & part.watch.observed == 0), to: id)
                }
            } catch {
                sealed.reloads.insert(id)
            }
        }
    }
}
