/// A recorder of the rows that a transaction changes, and of their old states. It uses SQLite's preupdate hook.
///
/// The hook is called for each row before each change. Unlike the update hook, it includes rows that are removed by a
/// REPLACE, a cascade or a statement without WHERE. Changes that are rolled back to a savepoint, or that fail half-way,
/// are reported and not undone. Therefore only the *first* image of a row counts, which is its state at the beginning
/// of the transaction. Its final state is read from the table.
///
/// Only the writing thread uses it.
final class ChangeCapture: RowObserver {
    let plan: WatchPlan
    let connection: Connection
    let tuning: LiveTuning
    private(set) var tables: [CapturedTable] = []
    /// The connection's count of changed rows at the beginning of the transaction.
    private let changesAtBegin: Int64
    /// Records the changes for other processes too.
    private let recorder: CommitRecorder?
    private let isHooked: Bool
    /// Whether the changes were made by other processes.
    private let isReplay: Bool

    private var reported = ReportedTables<CapturedTable>()

    init(_ plan: WatchPlan, on connection: Connection, tuning: LiveTuning, recorder: CommitRecorder? = nil) {
        self.plan = plan
        self.tuning = tuning
        self.connection = connection
        self.recorder = recorder
        isReplay = false
        isHooked = !plan.isEmpty || recorder != nil
        changesAtBegin = connection.totalChanges
        guard isHooked else { return }
        for watch in plan.tables.values { connection.findColumns(of: watch.table) }
        connection.observeRows(self)
    }

    /// Creates a capture of commits of other processes. The connection is in a transaction that sees them.
    init(_ plan: WatchPlan, replaying commits: [RecordedChanges], on connection: Connection, tuning: LiveTuning) {
        self.plan = plan
        self.tuning = tuning
        self.connection = connection
        recorder = nil
        isReplay = true
        isHooked = false
        changesAtBegin = connection.totalChanges
        for watch in plan.tables.values { connection.findColumns(of: watch.table) }
        for change in commits.lazy.flatMap(\.tables) {
            guard let watch = plan.tables[change.name] else { continue }
            let known = tables.first { $0.watch.table.table == change.name }
            // The connection's reusable records may be those of a transaction.
            let table = known ?? CapturedTable(watch)
            if known == nil {
                table.begin(watch, tuning: tuning)
                tables.append(table)
            }
            table.replay(change.rows, on: connection)
        }
    }

    /// Removes the hook. The code that began a capture must end it.
    func end() {
        guard isHooked else { return }
        connection.endObserving(self)
        for table in tables { table.end() }
    }

    /// Whether the transaction has written anything.
    var hasChanges: Bool { isReplay || connection.totalChanges != changesAtBegin }

    static var isAvailable: Bool { Connection.reportsRows }

    func willChange(_ change: RowChange, in name: UnsafePointer<CChar>) {
        recorder?.willChange(change, in: name)
        if plan.isEmpty { return }
        guard let table = reported.table(name, find: captured) else { return }
        switch change {
        case .insert(let row): table.willInsert(row)
        case .delete(let row): table.willChange(row, on: connection)
        case .update(let old, let new):
            table.willChange(old, on: connection)
            if new != old { table.willInsert(new) }
        }
    }

    /// Returns the capture of a table, or `nil` if the table is not watched.
    private func captured(_ name: String) -> CapturedTable? {
        if let table = tables.first(where: { $0.watch.table.table == name }) { return table }
        guard let watch = plan.tables[name] else { return nil }
        let cache = connection.captureCache
        let table = cache.capturedTables[name] ?? CapturedTable(watch)
        cache.capturedTables[name] = table
        table.begin(watch, tuning: tuning)
        tables.append(table)
        return table
    }
}

/// The changed rows of a table. A connection reuses it for the next transaction, so that a small one allocates nothing.
final class CapturedTable {
    private(set) var watch: TableWatch
    /// The set of the changed rows, once there are many.
    private var known: Set<Int64> = []
    private(set) var rowIDs: [Int64] = []
    /// Whether each row existed before.
    private(set) var existed: [Bool] = []
    /// The old values of the watched columns, row by row. Each row has the same number of values, even if it did not
    /// exist.
    private(set) var old = RowEncoder()
    /// A hash for each column of each row that existed, which detects changes.
    private(set) var digests: [UInt64] = []
    /// Whether too many rows have changed to record them.
    private(set) var isBulk = false

    private var columns: TableColumns?
    private var tuning = LiveTuning()
    /// The watch between transactions, without parts.
    private let unwatched: TableWatch
    let digestCount: Int
    private(set) var askedCount = 0

    init(_ watch: TableWatch) {
        self.watch = watch
        unwatched = TableWatch(watch.table)
        digestCount = RowDecoder.stateColumns.count + watch.table.definition.properties.count
    }

    /// Prepares for a transaction that changes the table.
    func begin(_ watch: TableWatch, tuning: LiveTuning) {
        self.watch = watch
        self.tuning = tuning
        askedCount = watch.asked.columns.count
        columns = nil
    }

    /// Discards the data of the transaction and its watches.
    func end() {
        watch = unwatched
        isBulk = false
        if rowIDs.isEmpty { return }
        let isSmall = rowIDs.count <= Self.keptRows
        if isSmall, old.bytes.count <= Self.keptBytes { old.removeAll() } else { old = RowEncoder() }
        known.removeAll(keepingCapacity: isSmall)
        rowIDs.removeAll(keepingCapacity: isSmall)
        existed.removeAll(keepingCapacity: isSmall)
        digests.removeAll(keepingCapacity: isSmall)
    }

    /// Memory beyond these numbers of rows or bytes is released.
    private static let keptRows = 16
    private static let keptBytes = 1 << 16

    var count: Int { rowIDs.count }

    func willInsert(_ row: Int64) {
        guard !isBulk, recordChange(row, existed: false) else { return }
        for _ in 0..<askedCount { old.appendNull() }
        for _ in 0..<digestCount { digests.append(0) }
    }

    func willChange(_ row: Int64, on connection: Connection) {
        guard !isBulk, recordChange(row, existed: true) else { return }
        let columns = columns ?? connection.columns(of: watch)
        self.columns = columns
        for column in columns.digested {
            guard let value = connection.oldValue(column), !columns.isLacking(column, value: value) else {
                return becomeBulk()
            }
            digests.append(value.digest)
        }
        for column in columns.asked {
            guard let value = connection.oldValue(column), !columns.isLacking(column, value: value) else {
                return becomeBulk()
            }
            old.append(value)
        }
    }

    /// Records the rows that a commit of another process has changed, or that any row may have changed.
    func replay(_ rows: [RecordedChanges.Row]?, on connection: Connection) {
        guard let rows else { return becomeBulk() }
        let columns = columns ?? connection.columns(of: watch)
        self.columns = columns
        for row in rows {
            guard let values = row.old else {
                willInsert(row.rowID)
                continue
            }
            guard !isBulk, recordChange(row.rowID, existed: true) else { continue }
            guard (columns.digested + columns.asked).allSatisfy({ values.indices.contains(Int($0)) }) else {
                return becomeBulk()
            }
            for column in columns.digested { digests.append(values[Int(column)].withView(\.digest)) }
            for column in columns.asked { values[Int(column)].withView { old.append($0) } }
        }
    }

    /// Records that a row changes. Returns `false` if it is already recorded.
    private func recordChange(_ row: Int64, existed wasThere: Bool) -> Bool {
        if rowIDs.count >= tuning.bulkLimit {
            if known.isEmpty ? !rowIDs.contains(row) : !known.contains(row) { becomeBulk() }
            return false
        }
        // For few rows, a linear search is faster than hashing.
        if rowIDs.count < Self.scannedRows {
            if rowIDs.contains(row) { return false }
        } else {
            if known.isEmpty { known.formUnion(rowIDs) }
            if !known.insert(row).inserted { return false }
        }
        rowIDs.append(row)
        existed.append(wasThere)
        return true
    }

    private static let scannedRows = 8

    private func becomeBulk() {
        isBulk = true
        known = []
        rowIDs = []
        existed = []
        digests = []
        old = RowEncoder()
    }
}

/// The indices of a table's recorded columns.
struct TableColumns {
    /// The names of the watched columns.
    let names: [String]
    let digested: [Int32]
    let asked: [Int32]
    /// The columns that were added with a default other than NULL.
    let defaulted: Set<Int32>

    /// Returns whether a row may lack a column's value, because it was written before the column was added. A query of
    /// the row returns the default, but ``Connection/oldValue(_:)`` may return NULL.
    @inline(__always)
    func isLacking(_ column: Int32, value: ColumnView) -> Bool {
        guard !defaulted.isEmpty, case .null = value else { return false }
        return defaulted.contains(column)
    }
}

extension Connection {
    /// Looks up the indices of a table's columns, which depend on the table's history. It runs in advance, because a
    /// hook must not run statements.
    func findColumns(of table: TableLayout) {
        let cache = captureCache
        guard cache.columnPlaces[ObjectIdentifier(table)] == nil else { return }
        var places: [String: Int32] = [:]
        var defaulted: Set<Int32> = []
        let state = Set(RowDecoder.stateColumns)
        let sql = "SELECT name, cid, coalesce(upper(dflt_value), 'NULL') <> 'NULL' FROM pragma_table_info(?)"
        if let statement = try? uncachedStatement(sql) {
            statement.bind(1, to: table.table)
            while (try? statement.step()) == true {
                guard let name = try? statement.text(0) else { continue }
                places[name] = Int32(statement.integer(1))
                if statement.integer(2) != 0, !state.contains(name) { defaulted.insert(Int32(statement.integer(1))) }
            }
        }
        cache.defaultedColumns[ObjectIdentifier(table)] = defaulted
        // A column that could not be looked up has no index, and the hook detects that.
        let isWhole = table.definition.properties.allSatisfy { places[$0.column] != nil }
        cache.columnPlaces[ObjectIdentifier(table)] = isWhole ? places : nil
    }

    fileprivate func columns(of watch: TableWatch) -> TableColumns {
        let (key, cache) = (ObjectIdentifier(watch.table), captureCache)
        if let known = cache.tableColumns[key], known.names == watch.asked.columns { return known }
        let places = cache.columnPlaces[key] ?? [:]
        let names = RowDecoder.stateColumns + watch.table.definition.properties.map(\.column)
        let columns = TableColumns(
            names: watch.asked.columns, digested: names.map { places[$0] ?? -1 },
            asked: watch.asked.columns.map { places[$0] ?? -1 }, defaulted: cache.defaultedColumns[key] ?? [])
        cache.tableColumns[key] = columns
        return columns
    }
}

extension ColumnView {
    /// A hash that differs if values differ, with a collision probability of about 2^-64.
    ///
    /// It includes random keys of the process, so that collisions can't be prepared. The mixing is a variant of
    /// wyhash's (Wang Yi, https://github.com/wangyi-fudan/wyhash).
    var digest: UInt64 {
        let keys = digestKeys
        func mix(_ hash: UInt64, with word: UInt64) -> UInt64 {
            let product = (hash ^ keys.0).multipliedFullWidth(by: word ^ keys.1)
            return product.low ^ product.high ^ (hash << 23 | hash >> 41)
        }
        func bytes(_ seed: UInt64, bytes: UnsafeBufferPointer<UInt8>) -> UInt64 {
            var hash = mix(seed, with: UInt64(bytes.count))
            let raw = UnsafeRawBufferPointer(bytes)
            var offset = 0
            while offset + 8 <= raw.count {
                hash = mix(hash, with: raw.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
                offset += 8
            }
            var tail: UInt64 = 0
            while offset < raw.count {
                tail = tail << 8 | UInt64(raw[offset])
                offset += 1
            }
            return mix(hash, with: tail)
        }
        return switch self {
        case .null: 0x6A09_E667_F3BC_C908
        case .integer(let value): mix(0xBB67_AE85_84CA_A73B, with: UInt64(bitPattern: value))
        case .real(let value): mix(0x3C6E_F372_FE94_F82B, with: value.bitPattern)
        case .text(let text): bytes(0xA54F_F53A_5F1D_36F1, bytes: text)
        case .blob(let blob): bytes(0x510E_527F_ADE6_82D1, bytes: blob)
        }
    }
}

/// The keys of ``ColumnView/digest``, which are random in each process.
private let digestKeys = (UInt64.random(in: .min ... .max), UInt64.random(in: .min ... .max))
