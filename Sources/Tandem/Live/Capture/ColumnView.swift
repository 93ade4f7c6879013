import GRDBSQLite

/// A view of a value in SQLite's memory. Its bytes are valid until its source moves on.
enum ColumnView {
    case null
    case integer(Int64)
    case real(Double)
    case text(UnsafeBufferPointer<UInt8>)
    case blob(UnsafeBufferPointer<UInt8>)
}

/// A row whose columns are accessed by slots. Slots are small numbers that reader and source share (see
/// ``ColumnSlots``).
protocol ColumnSource {
    func view(_ slot: Int) -> ColumnView
}

/// The row at which a statement is positioned. Slot 0 is a given column.
struct StatementColumns: ColumnSource {
    let statement: OpaquePointer
    var first: Int32 = 0

    @inline(__always)
    func view(_ slot: Int) -> ColumnView {
        let column = first + Int32(truncatingIfNeeded: slot)
        switch sqlite3_column_type(statement, column) {
        case SQLITE_INTEGER: return .integer(sqlite3_column_int64(statement, column))
        case SQLITE_FLOAT: return .real(sqlite3_column_double(statement, column))
        case SQLITE_TEXT:
            let text = sqlite3_column_text(statement, column)
            return .text(UnsafeBufferPointer(start: text, count: Int(sqlite3_column_bytes(statement, column))))
        case SQLITE_BLOB:
            let bytes = sqlite3_column_blob(statement, column)?.assumingMemoryBound(to: UInt8.self)
            return .blob(UnsafeBufferPointer(start: bytes, count: Int(sqlite3_column_bytes(statement, column))))
        default: return .null
        }
    }
}

/// The watched columns of a table, each with its own slot. Slots are assigned once and never change.
struct ColumnSlots: Sendable {
    private(set) var columns: [String] = []
    private var slots: [String: Int] = [:]

    /// Returns the slot of a column, by its name in the table. A new column gets a new slot.
    mutating func slot(of column: String) -> Int {
        if let slot = slots[column] { return slot }
        slots[column] = columns.count
        columns.append(column)
        return columns.count - 1
    }
}
