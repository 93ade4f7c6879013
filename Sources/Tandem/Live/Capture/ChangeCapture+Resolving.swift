/// The changes of a transaction, translated for all parts that they can affect. Subscriptions get them after the
/// commit.
struct CommitChanges {
    /// A change of a part.
    struct Entry {
        let part: PartID
        let change: PartChange
    }

    /// The version of the plan that recorded the changes.
    let planVersion: Int
    /// Whether the transaction wrote anything.
    let hasChanges: Bool
    private(set) var changes: [Entry] = []
    /// Parts that must reload.
    var reloads: Set<PartID> = []

    mutating func add(_ change: PartChange, to part: PartID) {
        changes.append(Entry(part: part, change: change))
    }
}

extension ChangeCapture {
    /// Reads the new state of the changed rows, and evaluates them for the parts that they can affect.
    ///
    /// A row that can't be read is not a reason to fail the write. The parts that need it reload, and report the error
    /// to their subscribers.
    func resolve() -> CommitChanges {
        var resolved = CommitChanges(planVersion: plan.version, hasChanges: hasChanges)
        guard resolved.hasChanges, !plan.isEmpty else { return resolved }
        guard Self.isAvailable else {
            for table in plan.tables.values { resolved.reloads.formUnion(table.everyPart) }
            return resolved
        }
        var joined = JoinedCandidates()
        var budget = ResolvingBudget(tuning)
        for table in tables {
            if table.isBulk {
                resolved.reloads.formUnion(table.watch.everyPart)
            } else {
                resolve(table, joined: &joined, budget: &budget, resolved: &resolved)
            }
        }
        joined.evaluate(connection, tuning: tuning, budget: &budget, sealed: &resolved)
        return resolved
    }

    private func resolve(
        _ table: CapturedTable, joined: inout JoinedCandidates, budget: inout ResolvingBudget,
        resolved: inout CommitChanges
    ) {
        let watch = table.watch
        var hasChanged = false
        // A part evaluates a row only once, even if several routes lead to it. For each part, the index of the last row
        // evaluated.
        var latest = [Int](repeating: -1, count: watch.rows.count)
        for index in 0..<table.count {
            do {
                let statement = try connection.changedRowStatement(watch)
                defer { statement.reset() }
                statement.bind(1, to: table.rowIDs[index])
                let exists = try statement.step()
                let mask = table.mask(index, statement: exists ? statement : nil)
                if mask == 0 { continue }
                hasChanged = true
                let row = CommittedRow(
                    table: table, index: index, exists: exists, mask: mask, statement: statement, path: connection.path)
                func ask(_ id: PartID) {
                    guard latest[id] < index else { return }
                    latest[id] = index
                    guard budget.spendRow() else {
                        latest[id] = .max
                        resolved.reloads.insert(id)
                        return
                    }
                    if let part = watch.rows[id] { self.ask(part, id: id, row: row, resolved: &resolved) }
                }
                if row.existed { watch.routes.candidates(row.old, into: ask) }
                if exists { watch.routes.candidates(row.asked, into: ask) }
                for (id, part) in watch.joined {
                    joined.add(table.rowIDs[index], mask: mask, to: id, watch: part, budget: &budget)
                }
                for (id, reaches) in watch.reached {
                    for (part, reach, slot) in reaches {
                        for key in try row.keys(of: reach, slot: slot) {
                            try joined.addHolders(
                                of: key, reach: reach, to: id, watch: part, on: connection, tuning: tuning,
                                budget: &budget)
                        }
                    }
                }
            } catch {
                resolved.reloads.formUnion(watch.everyPart)
                return
            }
        }
        if hasChanged { resolved.reloads.formUnion(watch.requeried) }
    }

    private func ask(_ part: RowWatch, id: PartID, row: borrowing CommittedRow, resolved: inout CommitChanges) {
        let isIn = row.exists && part.predicate.holds(row.asked)
        // The columns of the predicate did not change, so its result did not either.
        let isUnchanged = row.existed && row.exists && row.mask & part.filterMask == 0
        let wasIn = isUnchanged ? isIn : row.existed && part.predicate.holds(row.old)
        guard wasIn || isIn else { return }
        do {
            if let change = try part.watcher.change(row, wasIn: wasIn, isIn: isIn) {
                resolved.add(change, to: id)
            }
        } catch {
            resolved.reloads.insert(id)
        }
    }
}

/// A row that a transaction has changed: its state before the first change, and its current state.
struct CommittedRow {
    let rowID: Int64
    /// Whether the row existed before the transaction, and whether it exists now.
    let existed: Bool
    let exists: Bool
    /// The columns that differ.
    let mask: ColumnMask
    /// The watched columns before the transaction. Do not read them if the row did not exist.
    let old: OldColumns
    /// The current row, in the form in which objects are read. It is valid only if the row exists.
    let statement: Statement
    let asked: StatementColumns
    let ordered: StatementColumns
    /// The path of the store.
    let path: String

    fileprivate init(
        table: CapturedTable, index: Int, exists: Bool, mask: ColumnMask, statement: Statement, path: String
    ) {
        rowID = table.rowIDs[index]
        existed = table.existed[index]
        self.exists = exists
        self.mask = mask
        self.statement = statement
        self.path = path
        old = OldColumns(values: table.old, first: index * table.askedCount)
        asked = StatementColumns(statement, first: Int32(table.digestCount))
        ordered = StatementColumns(statement, first: Int32(table.digestCount + table.askedCount))
    }

    /// Returns the local IDs in the key column whose holders the change can affect, as UTF-8.
    ///
    /// - Parameter slot: The slot of the key column.
    fileprivate func keys(of reach: JoinedWatch.Reach, slot: Int) throws -> Set<[UInt8]> {
        let isInPlace = existed && exists
        if isInPlace, mask & (reach.usedMask | reach.keyMask) == 0 { return [] }
        let before = existed ? try Self.keys(old.view(slot), isList: reach.hasKeyList) : []
        let after = exists ? try Self.keys(asked.view(slot), isList: reach.hasKeyList) : []
        // An object whose used values are unchanged affects only the holders that it joins or leaves.
        let isUnused = isInPlace && mask & reach.usedMask == 0
        return isUnused ? before.symmetricDifference(after) : before.union(after)
    }

    private static func keys(_ view: ColumnView, isList: Bool) throws -> Set<[UInt8]> {
        guard case .text(let bytes) = view else { return [] }
        return isList ? Set(try LinkList.parse(bytes).map { Array($0.rawValue.utf8) }) : [Array(bytes)]
    }
}

extension CapturedTable {
    /// Returns the columns in which a row differs from its old state. All columns differ if the row was inserted or
    /// deleted. No column differs if the row is unchanged, or if it existed only within the transaction.
    fileprivate func mask(_ index: Int, statement: Statement?) -> ColumnMask {
        guard let statement else { return existed[index] ? .max : 0 }
        guard existed[index] else { return .max }
        let now = StatementColumns(statement)
        var mask: ColumnMask = 0
        for column in 0..<digestCount where digests[index * digestCount + column] != now.view(column).digest {
            mask |= 1 << UInt64(min(63, column))
        }
        return mask
    }
}

extension TableWatch {
    /// All parts that a change of the table can affect.
    var everyPart: Set<PartID> {
        requeried.union(rows.indices.lazy.filter { rows[$0] != nil }).union(joined.keys).union(reached.keys)
    }
}

extension Connection {
    fileprivate func changedRowStatement(_ watch: TableWatch) throws -> Statement {
        let (key, cache) = (ObjectIdentifier(watch.table), captureCache)
        if let known = cache.changedRowStatements[key], known.extraColumns == watch.extraColumns {
            return known.statement
        }
        let statement = try Statement(watch.selectSQL, on: self)
        cache.changedRowStatements[key] = (watch.extraColumns, statement)
        return statement
    }
}
