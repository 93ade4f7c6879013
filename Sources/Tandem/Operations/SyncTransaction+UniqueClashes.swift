extension SyncTransaction {
    /// Applies server items that may block each other through unique values.
    ///
    /// A unique value may have moved between two objects on the server, or two objects may have swapped theirs. Each
    /// item then clashes with the other object's old value here.
    ///
    /// The method first applies each item. Then all refused objects without unsent changes release their unique values
    /// at once. The refused items are applied again, as long as that helps. An item that clashes with an object outside
    /// `items` stays refused, and is deferred.
    ///
    /// - Parameter items: Items of one table, at most one for each object.
    /// - Returns: The outcome of each item, in their order.
    /// - Complexity: O(*n* log *m*) for *n* items and *m* objects. One more pass for each item that waits for another
    ///   waiting item and is new.
    package func receiveTogether(
        _ items: [ServerItem], in tableName: String, identity: IdentityRule = .client
    ) throws -> [ServerReceipt] {
        var receipts: [Int: ServerReceipt] = [:]
        var refused = Array(items.indices)
        var hasGivenUp = false
        while !refused.isEmpty {
            let count = refused.count
            refused = try refused.filter { index in
                let receipt = try applyServerItem(items[index], in: tableName, identity: identity)
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

    /// Gives objects the unique values of their items, each of which another of these objects has.
    ///
    /// - Returns: Whether any object took its values.
    private func giveUpUniqueValues(_ items: [ServerItem], in tableName: String) throws -> Bool {
        guard let table = store.schema.table(named: tableName) else { return false }
        let unique = Set(
            table.definition.properties.filter(\.isUnique).map(\.name)
                + table.definition.indexes.filter(\.isUnique).flatMap(\.properties))
        var group: [(item: ServerItem, state: ObjectState)] = []
        for item in items where !item.isDeleted {
            guard let state = try state(at: find(item.serverID, in: table), in: table) else { continue }
            if state.isSynced { group.append((item, state)) }
        }
        while group.count > 1 {
            do {
                try savepoint {
                    var clashing: Set<Int64> = []
                    // Unique constraints ignore deleted rows, so each object can take a value that another one still
                    // has.
                    for (_, state) in group { try setHidden(true, state: state, in: table) }
                    for (item, state) in group {
                        let values = item.values(in: table).filter {
                            unique.contains(table.definition.properties[$0.property].name)
                        }
                        try applyServerValues(state, with: values, in: table)
                    }
                    for (_, state) in group {
                        do {
                            try setHidden(false, state: state, in: table)
                        } catch let error as TandemError where error.isConstraint {
                            clashing.insert(state.rowID)
                        }
                    }
                    guard clashing.isEmpty else {
                        throw Clash(rows: clashing, claimants: try claimants(group.map(\.state), in: table))
                    }
                }
                return true
            } catch let clash as Clash {
                let unresolvable = try unresolvableRows(clash, in: table)
                group.removeAll { unresolvable.contains($0.state.rowID) }
            }
        }
        return false
    }

    // MARK: Clashes

    private struct Clash: Error {
        /// The rows that can't take their unique values.
        let rows: Set<Int64>
        /// The rows by the unique values that they would have taken.
        let claimants: [UniqueKey: Int64]
    }

    /// A unique value, or several that are unique together.
    private struct UniqueKey: Hashable {
        let constraint: Int
        let values: [StorageValue]
    }

    private func claimants(_ states: [ObjectState], in table: TableLayout) throws -> [UniqueKey: Int64] {
        var claimants: [UniqueKey: Int64] = [:]
        for state in states {
            for key in try uniqueKeys(of: state.rowID, in: table) { claimants[key] = state.rowID }
        }
        return claimants
    }

    /// Returns the rows of a clash, and transitively the rows that would take their values.
    private func unresolvableRows(_ clash: Clash, in table: TableLayout) throws -> Set<Int64> {
        var unresolvable = clash.rows
        var next = Array(unresolvable)
        while let row = next.popLast() {
            for key in try uniqueKeys(of: row, in: table) {
                if let claimant = clash.claimants[key], unresolvable.insert(claimant).inserted { next.append(claimant) }
            }
        }
        return unresolvable
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
                    "SELECT \(column.quotedSQL) FROM \(table.quotedTable) WHERE \"__rid\" = ?",
                    binding: [.integer(rowID)])
                    ?? .null
            }
            // Nulls are distinct from each other.
            return values.contains(.null) ? nil : UniqueKey(constraint: constraint, values: values)
        }
    }

    private func setHidden(_ isHidden: Bool, state: ObjectState, in table: TableLayout) throws {
        transaction.knownTargets.removeAll()
        try connection.execute(
            "UPDATE \(table.quotedTable) SET \"deleted\" = ? WHERE \"__rid\" = ?",
            binding: [.integer(isHidden ? 1 : 0), .integer(state.rowID)])
    }
}
