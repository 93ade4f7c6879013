import Foundation

// Data that sync stores beside the objects: server items that could not be written, and members that a model does not
// know.

/// Whether such data exists. The cache limits an app that never syncs, and a pull without conflicts, to one query per
/// transaction.
final class DeferredItemCache: TransactionSlot {
    /// `nil` until the first query.
    var hasDeferredItems: Bool?
    var hasExtras: Bool?

    func didRollBackToSavepoint() {
        hasDeferredItems = nil
        hasExtras = nil
    }
}

extension SyncTransaction {
    /// Stores an item beside its object, and replaces the previous one: the newest counts. An item that is stored
    /// already is not written again.
    ///
    /// - Parameter rowID: The object's row, or `nil` if there is none.
    func deferItem(
        _ item: ServerItem, of rowID: Int64?, in table: TableLayout, reason: DeferredItem.Reason,
        message: String? = nil
    ) throws {
        try connection.execute(
            """
            INSERT INTO "__server_items" ("table", "serverID", "object", "version", "updatedAt", "deleted", "item", \
            "reason", "message") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT ("table", "serverID") DO UPDATE SET \
            "object" = excluded."object", "version" = excluded."version", "updatedAt" = excluded."updatedAt", \
            "deleted" = excluded."deleted", "item" = excluded."item", "reason" = excluded."reason", \
            "message" = excluded."message" WHERE "item" IS NOT excluded."item" \
            OR "version" IS NOT excluded."version" OR "deleted" IS NOT excluded."deleted" \
            OR "updatedAt" IS NOT excluded."updatedAt" OR "object" IS NOT excluded."object" \
            OR "reason" IS NOT excluded."reason" OR "message" IS NOT excluded."message"
            """,
            binding: [
                .text(table.table), .text(item.serverID.rawValue), rowID.map { .integer($0) } ?? .null,
                item.version.map { .text($0) } ?? .null,
                item.updatedAt.map { .real($0.timeIntervalSinceReferenceDate) } ?? .null,
                .integer(item.isDeleted ? 1 : 0), .blob(item.source), .integer(Int64(reason.rawValue)),
                message.map { .text($0) } ?? .null,
            ])
        transaction.deferredItemCache.hasDeferredItems = true
        if connection.changes > 0 { transaction.touched.recordOperation(of: table) }
    }

    /// Deletes the deferred items for an object, by its row or by its server ID.
    func dropDeferred(of rowID: Int64, serverID: ServerID?, in table: TableLayout) throws {
        guard try transaction.hasDeferredItems() else { return }
        try connection.execute(
            "DELETE FROM \"__server_items\" WHERE \"table\" = ?1 AND (\"object\" = ?2 OR \"serverID\" = ?3)",
            binding: [.text(table.table), .integer(rowID), serverID.map { .text($0.rawValue) } ?? .null])
        if connection.changes > 0 { transaction.touched.recordOperation(of: table) }
    }

    /// Deletes the deferred item beside an object if a newer one has arrived. Versions have no order, and a server's
    /// clock may step back. The last item to arrive is the newest, because syncs run one after another. A deferred item
    /// does not count as newer than an item that replaced it since it was read.
    func dropDeferred(knowing item: ServerItem, of rowID: Int64, in table: TableLayout) throws {
        guard try transaction.hasDeferredItems() else { return }
        try connection.execute(
            """
            DELETE FROM "__server_items" WHERE "table" = ?1 AND ("object" = ?2 OR "serverID" = ?3) \
            AND (?4 = 0 OR "item" = ?5)
            """,
            binding: [
                .text(table.table), .integer(rowID), .text(item.serverID.rawValue),
                .integer(item.wasDeferred ? 1 : 0), item.wasDeferred ? .blob(item.source) : .null,
            ])
        if connection.changes > 0 { transaction.touched.recordOperation(of: table) }
    }

    func dropDeferredTombstone(of rowID: Int64, in table: TableLayout) throws {
        guard try transaction.hasDeferredItems() else { return }
        try connection.execute(
            "DELETE FROM \"__server_items\" WHERE \"table\" = ? AND \"object\" = ? AND \"deleted\" = 1",
            binding: [.text(table.table), .integer(rowID)])
    }

    /// Returns whether the server is known to have deleted an object that has an operation here.
    func hasDeferredTombstone(of rowID: Int64, in table: TableLayout) throws -> Bool {
        guard try transaction.hasDeferredItems() else { return false }
        let found = try connection.value(
            "SELECT 1 FROM \"__server_items\" WHERE \"table\" = ? AND \"object\" = ? AND \"deleted\" = 1",
            binding: [.text(table.table), .integer(rowID)])
        return found != nil
    }

    // MARK: Members that the model does not know

    /// Stores the members of an object that its model does not know, and replaces the previous ones.
    func storeExtras(_ members: [UInt8]?, of rowID: Int64, in table: TableLayout) throws {
        guard let members else { return try transaction.dropExtras(of: rowID, in: table) }
        // Equal members are not written: a pull without changes writes nothing.
        try connection.execute(
            """
            INSERT INTO "__server_extras" ("table", "object", "members") VALUES (?, ?, ?) \
            ON CONFLICT ("table", "object") DO UPDATE SET "members" = excluded."members" \
            WHERE "members" IS NOT excluded."members"
            """, binding: [.text(table.table), .integer(rowID), .blob(members)])
        transaction.deferredItemCache.hasExtras = true
    }
}

extension WriteTransaction {
    /// Detaches deferred items from an object's row before its removal. A deferred item was never shown, and no pull
    /// fetches it again. The next pull receives it as a new object. A deferred tombstone has no further use.
    func leaveServerSide(of rowID: Int64, in table: TableLayout) throws {
        try dropExtras(of: rowID, in: table)
        guard try hasDeferredItems() else { return }
        try connection.execute(
            "DELETE FROM \"__server_items\" WHERE \"table\" = ? AND \"object\" = ? AND \"deleted\" = 1",
            binding: [.text(table.table), .integer(rowID)])
        try connection.execute(
            "UPDATE \"__server_items\" SET \"object\" = NULL WHERE \"table\" = ? AND \"object\" = ?",
            binding: [.text(table.table), .integer(rowID)])
    }

    /// A cache of the data that sync keeps besides the objects.
    fileprivate var deferredItemCache: DeferredItemCache { slot(DeferredItemCache.self) }

    /// Returns whether the store has deferred items.
    func hasDeferredItems() throws -> Bool {
        let cache = deferredItemCache
        if let known = cache.hasDeferredItems { return known }
        let found = try connection.value("SELECT EXISTS (SELECT 1 FROM \"__server_items\")") == .integer(1)
        cache.hasDeferredItems = found
        return found
    }

    /// Deletes the members of an object that its model does not know.
    func dropExtras(of rowID: Int64, in table: TableLayout) throws {
        guard try hasExtras() else { return }
        try connection.execute(
            "DELETE FROM \"__server_extras\" WHERE \"table\" = ? AND \"object\" = ?",
            binding: [.text(table.table), .integer(rowID)])
    }

    private func hasExtras() throws -> Bool {
        let cache = deferredItemCache
        if let known = cache.hasExtras { return known }
        let found = try connection.value("SELECT EXISTS (SELECT 1 FROM \"__server_extras\")") == .integer(1)
        cache.hasExtras = found
        return found
    }
}

extension ReadTransaction {
    /// Returns the members of an object that its model does not know, as the remote wrote them. Returns `nil` if there
    /// are none.
    package func extras(of localID: LocalID, in table: String) throws -> [UInt8]? {
        guard let layout = store.schema.table(named: table) else { return nil }
        let found = try connectionForReading(searching: false).value(
            """
            SELECT e."members" FROM "__server_extras" e JOIN \(layout.quotedTable) t ON t."__rid" = e."object" \
            WHERE e."table" = ? AND t."localID" = ?
            """, binding: [.text(table), .text(localID.rawValue)])
        guard case .blob(let members)? = found else { return nil }
        return members
    }
}
