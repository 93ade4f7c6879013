extension WriteTransaction {
    /// Takes items of a server into the store that may stand in each other's way: where a unique value was passed on
    /// there from one object to another, or two have swapped theirs, each clashes here with what the other one has not
    /// given up yet.
    ///
    /// Each is received, again as long as that helps. Then those that are left, and have no unsent change, give up their
    /// unique values all at once. What clashes with an object that none of the items is of stays refused, and kept.
    ///
    /// - Parameter items: Of one table, no two of one object.
    /// - Returns: What became of each, in their order.
    /// - Complexity: O(*k* *n* log *m*) for *n* items, *m* objects, and the longest chain *k* of items that clash.
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
            guard refused.count == count else {
                hasGivenUp = false
                continue
            }
            guard !hasGivenUp, try giveUpUniqueValues(refused.map { items[$0] }, in: tableName) else { break }
            hasGivenUp = true
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
            var clashing: Set<Int64> = []
            do {
                try savepoint {
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
                    if !clashing.isEmpty { throw Clash() }
                }
                return true
            } catch is Clash {
                group.removeAll { clashing.contains($0.state.rowID) }
            }
        }
        return false
    }

    private struct Clash: Error {}

    private func setHidden(_ isHidden: Bool, _ state: ObjectState, _ table: TableLayout) throws {
        knownTargets.removeAll()
        try connection.execute(
            "UPDATE \(table.quotedTable) SET \"deleted\" = ? WHERE \"__rid\" = ?",
            [.integer(isHidden ? 1 : 0), .integer(state.rowID)])
    }
}
