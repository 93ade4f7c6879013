/// The object cache's part in a write transaction: it records the changed objects, and removes them with the commit.
///
/// The keys of an object do not change, except that its server ID can be set or changed. Therefore the old state of
/// each changed row has all keys under which the object may be cached. An inserted row has none.
final class CacheCommit: CommitParticipant, RowObserver {
    private let cache: ObjectCache
    private let connection: Connection
    /// The header at the beginning of the transaction, when it had the write lock.
    private let first: LogIndexHeader?
    private let changesAtBegin: Int64
    private let isRecording: Bool
    private let columns: IDColumns?

    private var hashes: [UInt64] = []
    /// Whether not all changes are recorded.
    private var isIncomplete = false

    /// More changes than this outdate all cached objects.
    private static let maximum = 20_000

    init(_ cache: ObjectCache, on connection: Connection) {
        self.cache = cache
        self.connection = connection
        first = cache.header()
        changesAtBegin = connection.totalChanges
        isRecording = cache.recordsChanges && Connection.reportsRows
        columns = isRecording ? cache.columns(on: connection) : nil
        if isRecording { connection.observeRows(self) }
    }

    func commit(_ transaction: WriteTransaction, with commit: () throws -> Void) throws {
        // A transaction that changed no row leaves the header as it is.
        let hasChanges = connection.totalChanges != changesAtBegin
        let isKnown = hasChanges ? isRecording && !isIncomplete : cache.isInMemory
        try cache.record(isKnown ? hashes : nil, since: first, commit: commit)
    }

    func end(_ transaction: WriteTransaction) {
        if isRecording { connection.endObserving(self) }
    }

    func willChange(_ change: RowChange, in table: UnsafePointer<CChar>) {
        if case .insert = change { return }
        guard !isIncomplete else { return }
        guard let table = columns?.table(named: table) else { return }
        guard hashes.count < Self.maximum, record(table.localID, kind: .localID, in: table.model),
            record(table.serverID, kind: .serverID, in: table.model)
        else {
            isIncomplete = true
            hashes = []
            return
        }
    }

    /// Records the key in a column of the row. Returns `false` if the column can't be read as a text.
    private func record(_ column: Int32, kind: CacheKey.Kind, in model: ObjectIdentifier) -> Bool {
        switch connection.oldValue(column) {
        case .text(let bytes): hashes.append(CacheKey.hash(bytes, model: model, kind: kind))
        case .null: break
        default: return false
        }
        return true
    }
}
