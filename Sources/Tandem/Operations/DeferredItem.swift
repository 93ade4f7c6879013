import Foundation

/// A server item that could not be written into its row when it arrived.
package struct DeferredItem: Sendable, Hashable {
    /// The reason why it could not be written.
    package enum Reason: Int, Sendable {
        /// The object has changes that were not sent: the server's side of a conflict.
        case pending = 1
        /// Another object here has its unique value, or the item can't be read for the model.
        case refused = 2
    }

    /// The object's ID on the server.
    package let serverID: ServerID
    /// The local ID of the object, or `nil` if there is none.
    package let localID: LocalID?
    /// The server's concurrency token.
    package let version: String?
    /// The time of the last change on the server.
    package let updatedAt: Date?
    /// Whether it is a tombstone.
    package let isDeleted: Bool
    /// The whole item, as ``ServerItem/source``.
    package let source: [UInt8]
    /// The reason why it was deferred.
    package let reason: Reason
    /// The obstacle in a sentence, if there was one.
    package let message: String?

    /// Creates a deferred item.
    package init(
        serverID: ServerID, localID: LocalID?, version: String?, updatedAt: Date?, isDeleted: Bool, source: [UInt8],
        reason: Reason, message: String? = nil
    ) {
        self.serverID = serverID
        self.localID = localID
        self.version = version
        self.updatedAt = updatedAt
        self.isDeleted = isDeleted
        self.source = source
        self.reason = reason
        self.message = message
    }
}

extension ReadTransaction {
    /// Returns the deferred item for an operation's object: the newest if there are several.
    package func deferredItem(of operation: PendingOperation.ID) throws -> DeferredItem? {
        guard
            let table = try connectionForReading(searching: false).value(
                "SELECT \"table\" FROM \"__operations\" WHERE \"id\" = ?", binding: [.integer(operation)]),
            case .text(let name) = table
        else { return nil }
        return try deferredItems(
            in: name,
            where: """
                k."object" = (SELECT "object" FROM "__operations" WHERE "id" = ?2) ORDER BY k."updatedAt" DESC LIMIT 1
                """, binding: [.integer(operation)]
        ).first
    }

    /// Returns a table's deferred items that may be received now. They clashed with a unique value, or their operation
    /// has ended. A pull must retry them, because its delta token has passed them.
    ///
    /// - Parameter serverID: The ID after which to begin, in the order of the IDs, or `nil` to begin with the first.
    package func deferredItemsWithoutOperation(
        in table: String, after serverID: ServerID? = nil, limit: Int
    ) throws -> [DeferredItem] {
        try deferredItems(
            in: table,
            where: """
                k."serverID" > ?2 AND NOT EXISTS (SELECT 1 FROM "__operations" o WHERE o."table" = k."table" \
                AND o."object" = k."object") ORDER BY k."serverID" LIMIT ?3
                """, binding: [.text(serverID?.rawValue ?? ""), .integer(Int64(limit))])
    }

    private func deferredItems(
        in table: String, where condition: String, binding values: [StorageValue]
    ) throws -> [DeferredItem] {
        guard let layout = store.schema.table(named: table) else { return [] }
        return try connectionForReading(searching: false).rows(
            """
            SELECT k."serverID", t."localID", k."version", k."updatedAt", k."deleted", k."item", k."reason", \
            k."message" FROM "__server_items" k LEFT JOIN \(layout.quotedTable) t ON t."__rid" = k."object" \
            WHERE k."table" = ?1 AND \(condition)
            """, binding: [.text(table)] + values
        ) { row in
            guard let reason = DeferredItem.Reason(rawValue: Int(row.integer(6))) else {
                throw TandemError(
                    damage: InvalidEncoding("a deferred item", code: .malformed, problem: "its reason has no meaning"),
                    store: store.path)
            }
            return DeferredItem(
                serverID: ServerID(try row.text(0)), localID: try row.optionalText(1).map { LocalID($0) },
                version: try row.optionalText(2),
                updatedAt: row.isNull(3) ? nil : Date(timeIntervalSinceReferenceDate: row.real(3)),
                isDeleted: row.integer(4) != 0, source: Array(row.bytes(5)), reason: reason,
                message: try row.optionalText(7))
        }
    }
}
