extension WriteTransaction {
    /// Takes items of a server into the store that may stand in each other's way: where a unique value was passed on
    /// there from one object to another, or two have swapped theirs, each clashes here with what the other one has not
    /// given up yet.
    ///
    /// Each is received. Then those that are refused, and have no unsent change, give up their unique values all at once,
    /// and what is refused is received again, as long as that helps. What clashes with an object that none of the items
    /// is of stays refused, and kept.
    ///
    /// - Parameter items: Of one table, no two of one object.
    /// - Returns: What became of each, in their order.
    /// - Complexity: O(*n* log *m*) for *n* items and *m* objects; once more for each item that waits for one that waits
    ///   itself, and is new.
    package func receiveTogether(
        _ items: [ServerItem], in tableName: String, identity: ServerIdentity = .client
    ) throws -> [ServerReceipt] {
        var receipts: [Int: ServerReceipt] = [:]
        var refused = Array(items.indices)
        var hasGivenUp = false
        while !refused.isEmpty {
            let count = refused.count
            refused = try refused.filter { index in
                let receipt = try receive(items[index], in: tableName, identity: identity)
                receipts[index] = receipt
                return if case .refused = receipt { true } else { false }
            }
            let hasHelped = refused.count < count
            if hasGivenUp && !hasHelped { break }
            hasGivenUp = try giveUpUniqueValues(refused.map { items[$0] }, in: tableName)
            if !hasGivenUp && !hasHelped { break }
        }
        return items.indices.compactMap { receipts[$0] }
    }

    /// Has objects take the unique values of their items, each of which another of them has.
    ///
    /// - Returns: Whether any has.
    private func giveUpUniqueValues(_ items: [ServerItem], in tableName: String) throws -> Bool {
        guard let table = store.schema.table(named: tableName) else { return false }
        let unique = Set(
            table.definition.properties.filter(\.isUnique).map(\.name)
                + table.definition.indexes.filter(\.isUnique).flatMap(\.properties))
        var group: [(item: ServerItem, state: ObjectState)] = []
        for item in items where !item.isDeleted {
            guard let found = try find(item.serverID, in: table) else { continue }
            defer { found.reset() }
            let state = try self.state(of: found, table)
            if state.isSynced { group.append((item, state)) }
        }
        while group.count > 1 {
            do {
                try savepoint {
                    var clashing: Set<Int64> = []
                    // What is deleted is unique in nothing, so that each can take what another one still has.
                    for (_, state) in group { try setHidden(true, state, table) }
                    for (item, state) in group {
                        let values = item.values(in: table).filter {
                            unique.contains(table.definition.properties[$0.property].name)
                        }
                        try overwrite(state, with: values, in: table)
                    }
                    for (_, state) in group {
                        do {
                            try setHidden(false, state, table)
                        } catch let error as TandemError where error.isConstraint {
                            clashing.insert(state.rowID)
                        }
                    }
                    guard clashing.isEmpty else {
                        throw Clash(rows: clashing, takers: try takers(group.map(\.state), table))
                    }
                }
                return true
            } catch let clash as Clash {
                let stay = try thoseThatStay(clash, in: table)
                group.removeAll { stay.contains($0.state.rowID) }
            }
        }
        return false
    }

    // MARK: Those that can't take theirs

    private struct Clash: Error {
        /// The rows that can't take their unique values.
        let rows: Set<Int64>
        /// Which row would have taken which value.
        let takers: [UniqueKey: Int64]
    }

    /// A unique value, or several that are unique together.
    private struct UniqueKey: Hashable {
        let constraint: Int
        let values: [StorageValue]
    }

    private func takers(_ states: [ObjectState], _ table: TableLayout) throws -> [UniqueKey: Int64] {
        var takers: [UniqueKey: Int64] = [:]
        for state in states {
            for key in try uniqueKeys(of: state.rowID, in: table) { takers[key] = state.rowID }
        }
        return takers
    }

    /// The rows of a clash, those that would take what these have, and so on.
    private func thoseThatStay(_ clash: Clash, in table: TableLayout) throws -> Set<Int64> {
        var stay = clash.rows
        var next = Array(stay)
        while let row = next.popLast() {
            for key in try uniqueKeys(of: row, in: table) {
                if let taker = clash.takers[key], stay.insert(taker).inserted { next.append(taker) }
            }
        }
        return stay
    }

    private func uniqueKeys(of rowID: Int64, in table: TableLayout) throws -> [UniqueKey] {
        let properties = table.definition.properties
        let constraints =
            properties.filter(\.isUnique).map { [$0.uniqueColumn] }
            + table.definition.indexes.filter(\.isUnique).map { index in
                index.properties.compactMap { name in properties.first { $0.name == name }?.column }
            }
        return try constraints.enumerated().compactMap { constraint, columns in
            let values = try columns.map { column in
                try connection.value(
                    "SELECT \(column.quotedSQL) FROM \(table.quotedTable) WHERE \"__rid\" = ?", [.integer(rowID)])
                    ?? .null
            }
            // Null is as good as any other null.
            return values.contains(.null) ? nil : UniqueKey(constraint: constraint, values: values)
        }
    }

    private func setHidden(_ isHidden: Bool, _ state: ObjectState, _ table: TableLayout) throws {
        knownTargets.removeAll()
        try connection.execute(
            "UPDATE \(table.quotedTable) SET \"deleted\" = ? WHERE \"__rid\" = ?",
            [.integer(isHidden ? 1 : 0), .integer(state.rowID)])
    }
}
