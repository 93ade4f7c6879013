extension WriteTransaction {
    /// The number of objects that are deleted together if other objects can refer to them. If a live object refers to
    /// any of them, all of them are deleted one by one.
    private static let heldBatch = 256

    /// Deletes the objects with the given keys. The result equals that of deleting each object, in that order.
    ///
    /// - Returns: The number of deleted objects. Objects that do not exist, or are deleted already, do not count.
    func delete(_ keys: [(localID: LocalID, rowID: Int64)], in table: TableLayout) throws -> Int {
        guard !table.holders.isEmpty else {
            return try poisoningOnError {
                var count = 0
                try RowIDList.batches(of: keys) { count += try deleteTogether($0.map(\.rowID), in: table) }
                return count
            }
        }
        // A delete rule can refuse a later object.
        return try savepoint {
            var count = 0
            try RowIDList.batches(of: keys, count: Self.heldBatch) { batch in
                if try areHeld(RowIDList(batch.lazy.map(\.rowID)), in: table) {
                    for key in batch where try delete(key.localID, in: table) { count += 1 }
                } else {
                    count += try deleteTogether(batch.map(\.rowID), in: table)
                }
            }
            return count
        }
    }

    /// Returns whether live objects refer to any of the given objects.
    private func areHeld(_ rows: RowIDList, in table: TableLayout) throws -> Bool {
        for holder in table.holders {
            let property = holder.table.definition.properties[holder.property]
            let chosen: SQL = """
                json_each(\(bind: rows.json)) AS "chosen" CROSS JOIN \(name: table.table) AS "target" \
                ON "target"."__rid" = "chosen"."value"
                """
            let holders: SQL
            if holder.isToMany {
                holders = """
                    CROSS JOIN \(name: holder.table.definition.linkTable(property)) AS "link" \
                    ON "link"."target" = "target"."localID" CROSS JOIN \(name: holder.table.table) AS "holder" \
                    ON "holder"."__rid" = "link"."object"
                    """
            } else {
                holders = """
                    CROSS JOIN \(name: holder.table.table) AS "holder" \
                    ON "holder".\(name: property.column) = "target"."localID"
                    """
            }
            var isHeld = false
            let query: SQL = "SELECT 1 FROM \(chosen) \(holders) WHERE \"holder\".\"deleted\" = 0 LIMIT 1"
            try connection.forEachRow(of: query) { _ in isHeld = true }
            if isHeld { return true }
        }
        return false
    }

    // MARK: Objects without holders

    /// An object to delete.
    private struct Doomed {
        let state: ObjectState
        let texts: [String?]
        /// Whether it has an operation.
        let isQueued: Bool
    }

    /// Deletes objects to which no live object refers.
    private func deleteTogether(_ rowIDs: [Int64], in table: TableLayout) throws -> Int {
        let doomed = try self.doomed(rowIDs, in: table)
        guard !doomed.isEmpty else { return 0 }
        knownTargets.removeAll()
        var (kept, erased): ([Int64], [Doomed]) = ([], [])
        var sent: [Int64] = []
        for object in doomed {
            if table.isLocalOnly {
                erased.append(object)
            } else if object.isQueued {
                if try delegate.willDelete(object.state, in: table, by: self) {
                    kept.append(object.state.rowID)
                } else {
                    erased.append(object)
                }
            } else if object.state.serverID != nil {
                sent.append(object.state.rowID)
            } else {
                erased.append(object)
            }
        }
        if !sent.isEmpty { try queueDeletes(of: RowIDList(sent), in: table) }
        kept += sent
        if !kept.isEmpty {
            try connection.run(
                """
                UPDATE OR FAIL \(name: table.table) SET "deleted" = 1, "synced" = 0 \
                WHERE "__rid" IN (SELECT "value" FROM json_each(\(bind: RowIDList(kept).json)))
                """)
        }
        if !erased.isEmpty { try erase(erased, in: table) }
        return doomed.count
    }

    /// Returns the live objects with the given rowids, in that order.
    private func doomed(_ rowIDs: [Int64], in table: TableLayout) throws -> [Doomed] {
        var doomed: [Doomed] = []
        let texts = table.searched.compactMap(\.searchColumn).map { ", \"target\".\(name: $0)" as SQL }.joined("")
        let query: SQL = """
            SELECT "target"."__rid", "target"."localID", "target"."serverID", "target"."synced", \
            "target"."synced" = 0 AND EXISTS (SELECT 1 FROM "__operations" \
            WHERE "table" = \(bind: .text(table.table)) AND "object" = "target"."__rid")\(texts) \
            FROM json_each(\(bind: RowIDList(rowIDs).json)) AS "chosen" CROSS JOIN \(name: table.table) AS "target" \
            ON "target"."__rid" = "chosen"."value" WHERE "target"."deleted" = 0
            """
        try connection.forEachRow(of: query) { statement in
            var state = ObjectState(localID: LocalID(try statement.text(1)))
            state.rowID = statement.integer(0)
            state.serverID = try statement.optionalText(2).map { ServerID($0) }
            state.isSynced = statement.integer(3) != 0
            let texts = try table.searched.indices.map { try statement.optionalText(Int32($0 + 5)) }
            doomed.append(Doomed(state: state, texts: texts, isQueued: statement.integer(4) != 0))
        }
        return doomed
    }

    /// Queues the deletes of objects without an operation.
    private func queueDeletes(of rows: RowIDList, in table: TableLayout) throws {
        try connection.run(
            """
            INSERT INTO "__operations" ("table", "object", "localID", "kind", "changedAt") \
            SELECT \(bind: .text(table.table)), "target"."__rid", "target"."localID", \
            \(raw: String(PendingOperation.Kind.delete.rawValue)), \
            \(bind: .real(now.timeIntervalSinceReferenceDate)) \
            FROM json_each(\(bind: rows.json)) AS "chosen" CROSS JOIN \(name: table.table) AS "target" \
            ON "target"."__rid" = "chosen"."value" WHERE "target"."deleted" = 0
            """)
        touched.recordOperation(of: table)
    }

    /// Removes rows with their links, unresolved references and server data.
    private func erase(_ objects: [Doomed], in table: TableLayout) throws {
        let rows = RowIDList(objects.lazy.map(\.state.rowID))
        let isErased: SQL = "IN (SELECT \"value\" FROM json_each(\(bind: rows.json)))"
        for link in table.links where link.isToMany {
            let name = table.definition.linkTable(table.definition.properties[link.property])
            try connection.run("DELETE FROM \(name: name) WHERE \"object\" \(isErased)")
        }
        if try hasUnresolved() {
            try connection.run(
                "DELETE FROM \"__unresolved\" WHERE \"table\" = \(bind: .text(table.table)) AND \"object\" \(isErased)")
        }
        for object in objects {
            if !table.searched.isEmpty {
                pendingSearch.recordChange(table, row: object.state.rowID, indexed: object.texts)
            }
            try delegate.willErase(object.state.rowID, in: table, by: self)
        }
        try connection.run("DELETE FROM \(name: table.table) WHERE \"__rid\" \(isErased)")
        if pendingSearch.count > pendingSearchLimit { try flushSearch() }
    }
}
