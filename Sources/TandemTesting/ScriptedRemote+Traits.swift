import Tandem
import TandemSync

extension ScriptedRemote {
    /// The behavior that not every server has.
    public struct Traits: OptionSet, Sendable {
        /// The bits of the set.
        public let rawValue: Int

        /// Creates a set from its bits.
        public init(rawValue: Int) {
            self.rawValue = rawValue
        }

        /// An insert restores a deleted item with the same ID.
        public static let insertRestoresDeleted = Traits(rawValue: 1)
        /// Pages have the generation of their table: `RemotePage.generation`.
        public static let generations = Traits(rawValue: 2)
        /// Tables have a tag that differs after each change: `Remote.changeTag(of:)`.
        public static let changeTags = Traits(rawValue: 4)
        /// A position after the newest item of a table is not valid: `RemoteFailure.outdatedPosition`.
        public static let checksPositions = Traits(rawValue: 8)
    }

    /// Whether an insert restores a deleted item with the same ID.
    public var insertRestoresDeleted: Bool { traits.contains(.insertRestoresDeleted) }

    /// Returns the table's tag, with the planned fault if any; `nil` without ``Traits/changeTags``.
    ///
    /// - Parameter table: The table.
    /// - Throws: `RemoteFailure`, by a planned fault.
    public func changeTag(of table: RemoteTableName) async throws(RemoteFailure) -> String? {
        guard traits.contains(.changeTags) else { return nil }
        let request = RecordedRequest(kind: .changeTag, table: table, id: nil, version: nil, members: [])
        return try await exchange(request) { state throws(RemoteFailure) in
            "\(state.generations[table] ?? 0)-\(state.changes[table] ?? 0)"
        }
    }

    // MARK: Backups

    /// The items of all tables at a time.
    public struct Backup: Sendable {
        let tables: [RemoteTableName: [ServerID: RemoteItem]]
        let changes: [RemoteTableName: Int]
    }

    /// Returns the items of all tables as they are now.
    public func backup() -> Backup {
        state.withLock { Backup(tables: $0.tables, changes: $0.changes) }
    }

    /// Replaces the items of all tables with those of a backup. Versions, times and change tags return to earlier
    /// values.
    public func restore(_ backup: Backup) {
        state.withLock { ($0.tables, $0.changes) = (backup.tables, backup.changes) }
    }

    /// Removes a table with its tombstones, and creates it again without items.
    public func recreate(_ table: RemoteTableName) {
        state.withLock { state in
            state.tables[table] = nil
            state.changes[table] = nil
            state.generations[table, default: 0] += 1
        }
    }

    /// Sets the backoff in each successful response from now on; `nil` for none.
    public func setBackoff(_ backoff: Duration?) {
        state.withLock { $0.backoff = backoff }
    }

    // MARK: -

    /// Throws if a page begins after the newest item of its table.
    static func checkPosition(_ request: PageRequest, among items: [RemoteItem]) throws(RemoteFailure) {
        guard case .updatedAt(let position?) = request.order else { return }
        guard let newest = items.compactMap(\.updatedAt).max(), position <= newest else {
            throw .outdatedPosition(status: 400, message: "Invalid value for _since")
        }
    }
}
