import GRDBSQLite
import Synchronization

/// A row of values that are not in a table, for code that reads SQLite rows.
///
/// Proof of `@unchecked Sendable`: only one thread uses a row at a time. A row of the pool is removed from it while it
/// is used. A row for an object never leaves the function that created it.
final class BoundRow: @unchecked Sendable {
    private let database: OpaquePointer?
    let handle: OpaquePointer

    /// The column of a single value.
    static let column: Int32 = 0

    /// Unused rows for one or two values.
    private static let pool = Mutex<[BoundRow]>([])
    private static let poolSize = 8

    /// Reads a single value: the function receives a reader with the value in column 0.
    static func reading<T>(_ value: StorageValue, read: (RowDecoder) throws -> T) throws -> T {
        try reading([value], read: read)
    }

    /// Reads at most two values, in the columns from 0 on.
    static func reading<T>(_ values: [StorageValue], read: (RowDecoder) throws -> T) throws -> T {
        let row = try pool.withLock { $0.popLast() } ?? BoundRow(columns: ["?", "?"])
        defer {
            row.clear()
            pool.withLock { if $0.count < poolSize { $0.append(row) } }
        }
        row.step(values)
        // The properties follow the columns of the state, which this row lacks.
        return try read(RowDecoder(statement: row.handle, base: -Int32(RowDecoder.stateColumns.count)))
    }

    /// Creates a row with an empty state, and the values of an object's properties.
    convenience init(object values: [StorageValue]) throws {
        let state = RowDecoder.stateColumns.map { $0 == "localID" ? "''" : "NULL" }
        try self.init(columns: state + values.map { _ in "?" })
        step(values)
    }

    private init(columns: [String]) throws {
        var database: OpaquePointer?
        var handle: OpaquePointer?
        let code = sqlite3_open_v2(":memory:", &database, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nil)
        guard code == SQLITE_OK,
            sqlite3_prepare_v2(database, "SELECT \(columns.joined(separator: ", "))", -1, &handle, nil) == SQLITE_OK,
            let handle
        else {
            sqlite3_close_v2(database)
            throw TandemError(
                .sql, message: "SQLite could not allocate memory for a row.", advice: "Free memory.", store: ":memory:")
        }
        self.database = database
        self.handle = handle
    }

    deinit {
        sqlite3_finalize(handle)
        sqlite3_close_v2(database)
    }

    private func step(_ values: [StorageValue]) {
        for (index, value) in values.enumerated() { bind(Int32(index + 1), to: value) }
        // If the statement has no row, its columns read as NULL and are reported as such.
        _ = sqlite3_step(handle)
    }

    private func clear() {
        sqlite3_reset(handle)
        sqlite3_clear_bindings(handle)
    }

    private func bind(_ index: Int32, to value: StorageValue) {
        let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
        switch value {
        case .null: sqlite3_bind_null(handle, index)
        case .integer(let value): sqlite3_bind_int64(handle, index, value)
        case .real(let value): sqlite3_bind_double(handle, index, value)
        case .text(let value):
            sqlite3_bind_text(handle, index, value, Int32(clamping: value.utf8.count), transient)
        case .blob(let value):
            // A null pointer would bind NULL.
            _ =
                value.isEmpty
                ? sqlite3_bind_zeroblob(handle, index, 0)
                : sqlite3_bind_blob(handle, index, value, Int32(clamping: value.count), transient)
        }
    }
}
