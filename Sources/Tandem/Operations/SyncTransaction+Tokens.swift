import Foundation

/// The progress of the pulls of a query.
package struct SyncToken: Hashable, Sendable {
    /// The digest of the query's filter. Each query ID has one filter.
    package var digest: [UInt8]
    /// The time up to which all items are fetched and no more can arrive, in the server's format; `nil` without one.
    package var time: String?
    /// Whether all items of exactly that time are fetched too, and no more can arrive. The next pull then starts after
    /// it.
    package var isSettled: Bool
    /// The local time when the query was last pulled to its end.
    package var lastSuccess: Date?

    /// Creates a token.
    package init(digest: [UInt8], time: String? = nil, isSettled: Bool = false, lastSuccess: Date? = nil) {
        self.digest = digest
        self.time = time
        self.isSettled = isSettled
        self.lastSuccess = lastSuccess
    }
}

extension ReadTransaction {
    /// Returns the token of a query, or `nil` if the next pull must begin from the start.
    package func syncToken(of queryID: String, in table: String) throws -> SyncToken? {
        try connectionForReading(searching: false).rows(
            """
            SELECT "digest", "time", "settled", "lastSuccess" FROM "__sync_tokens" WHERE "table" = ? AND "queryID" = ?
            """, binding: [.text(table), .text(queryID)]
        ) { row in
            SyncToken(
                digest: Array(row.bytes(0)), time: try row.optionalText(1), isSettled: row.integer(2) != 0,
                lastSuccess: row.isNull(3) ? nil : Date(timeIntervalSinceReferenceDate: row.real(3)))
        }.first
    }

    /// Returns the local time at which a pull of each table last completed.
    package func lastSuccesses() throws -> [String: Date] {
        let dates = try connectionForReading(searching: false).rows(
            "SELECT \"table\", max(\"lastSuccess\") FROM \"__sync_tokens\" WHERE \"lastSuccess\" IS NOT NULL GROUP BY 1"
        ) { (try $0.text(0), Date(timeIntervalSinceReferenceDate: $0.real(1))) }
        return Dictionary(dates) { $1 }
    }

    /// Returns a sync setting: the data's owner or server.
    package func syncSetting(_ key: SyncSetting) throws -> String? {
        let found = try connectionForReading(searching: false).setting(key.rawValue)
        switch found {
        case nil: return nil
        case .text(let text): return text
        default:
            throw TandemError(
                .corrupt, message: "The store's setting \"\(key.rawValue)\" is damaged.", advice: "Restore a backup.",
                store: store.path)
        }
    }
}

/// A setting that sync stores for the whole store.
package enum SyncSetting: String, CaseIterable, Sendable {
    /// The user who owns the data.
    case user = "sync.user"
    /// The name that the app gave the server of the data. (Earlier versions stored its address as `sync.remote`, which
    /// is no longer read.)
    case server = "sync.server"
}

extension SyncTransaction {
    /// Stores the progress of a query, in the same transaction as the pulled items. Pass `nil` to pull the query from
    /// the start.
    package func setSyncToken(_ token: SyncToken?, of queryID: String, in table: String) throws {
        try checkUsable()
        guard let token else {
            return try connection.execute(
                "DELETE FROM \"__sync_tokens\" WHERE \"table\" = ? AND \"queryID\" = ?",
                binding: [.text(table), .text(queryID)])
        }
        try connection.execute(
            """
            INSERT INTO "__sync_tokens" ("table", "queryID", "digest", "time", "settled", "lastSuccess") \
            VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT ("table", "queryID") DO UPDATE SET "digest" = excluded."digest", \
            "time" = excluded."time", "settled" = excluded."settled", "lastSuccess" = excluded."lastSuccess"
            """,
            binding: [
                .text(table), .text(queryID), .blob(token.digest), token.time.map { .text($0) } ?? .null,
                .integer(token.isSettled ? 1 : 0),
                token.lastSuccess.map { .real($0.timeIntervalSinceReferenceDate) } ?? .null,
            ])
    }

    /// Removes the tokens of a table's queries.
    package func removeSyncTokens(of table: String) throws {
        try checkUsable()
        try connection.execute("DELETE FROM \"__sync_tokens\" WHERE \"table\" = ?", binding: [.text(table)])
    }

    /// Sets a sync setting, or removes it if the value is `nil`.
    package func setSyncSetting(_ key: SyncSetting, to value: String?) throws {
        try checkUsable()
        guard let value else {
            return try connection.execute(
                "DELETE FROM \"__settings\" WHERE \"key\" = ?", binding: [.text(key.rawValue)])
        }
        try connection.execute(
            """
            INSERT INTO "__settings" ("key", "value") VALUES (?, ?) \
            ON CONFLICT ("key") DO UPDATE SET "value" = excluded."value"
            """, binding: [.text(key.rawValue), .text(value)])
    }
}
