import Tandem

/// The history of a server's table, as far as it makes a stored position invalid.
///
/// A server may have been restored from a backup, or a table removed and created again. It then has items that no
/// position leads to, and no tombstones of former items. So the store records the history to which each position
/// belongs. If the table's history differs, the next pull of that query fetches everything.
///
/// It is stored among the sync tokens of the table, which purges, adoption and migrations remove: a token for the table
/// with the number of restarts, and one for each query. They exist only for servers that have generations, or that were
/// restored.
struct ServerHistory: Hashable, Sendable {
    /// The number of times that a pull of the table has found the server restored, or the table created again.
    var restarts: UInt64 = 0
    /// The server's own value: ``RemotePage/generation``.
    var generation: String?

    /// Returns whether a position of this history is valid in another one. A missing generation is unknown.
    func isValid(in other: ServerHistory) -> Bool {
        restarts == other.restarts && (generation == nil || other.generation == nil || generation == other.generation)
    }

    /// The query ID of the table's full pulls without a filter. No app uses this character in a query ID.
    static let everything = "\u{0}everything"

    private static let restartsKey = "\u{0}restarts"

    private static func key(of queryID: String) -> String { "\u{0}history \(queryID)" }

    // MARK: Reading

    /// Returns the number of restarts of a table.
    static func restarts(in table: String, local: any LocalReadTransaction) throws -> UInt64 {
        try local.syncToken(of: restartsKey, in: table).map { number($0.digest) } ?? 0
    }

    /// Returns the history to which the position of a query belongs.
    static func read(of queryID: String, in table: String, local: any LocalReadTransaction) throws -> ServerHistory {
        guard let token = try local.syncToken(of: key(of: queryID), in: table) else { return ServerHistory() }
        return ServerHistory(restarts: number(token.digest), generation: token.time)
    }

    // MARK: Writing

    /// Stores the history with the position of a query, in one transaction.
    func write(of queryID: String, in table: String, local: any LocalTransaction) throws {
        try local.setSyncToken(
            SyncToken(digest: Self.bytes(restarts), time: generation), of: Self.key(of: queryID), in: table)
    }

    /// Removes the history of a query.
    static func remove(of queryID: String, in table: String, local: any LocalTransaction) throws {
        try local.setSyncToken(nil, of: key(of: queryID), in: table)
    }

    /// Records a restart of a table: no position of the table is valid any more.
    static func recordRestart(of table: String, local: any LocalTransaction) throws {
        let restarts = try restarts(in: table, local: local) &+ 1
        try local.setSyncToken(SyncToken(digest: bytes(restarts)), of: restartsKey, in: table)
    }

    private static func bytes(_ number: UInt64) -> [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: number >> (8 * UInt64($0))) }
    }

    private static func number(_ bytes: [UInt8]) -> UInt64 {
        bytes.prefix(8).reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }
}
