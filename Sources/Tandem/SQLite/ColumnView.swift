import GRDBSQLite

/// A view of a value in SQLite's memory. Its bytes are valid until its source moves on.
enum ColumnView {
    case null
    case integer(Int64)
    case real(Double)
    case text(UnsafeBufferPointer<UInt8>)
    case blob(UnsafeBufferPointer<UInt8>)
}

extension ColumnView {
    /// Creates a view of a value that SQLite passes to a hook or a function. A missing value is NULL.
    init(_ value: OpaquePointer?) {
        guard let value else {
            self = .null
            return
        }
        switch sqlite3_value_type(value) {
        case SQLITE_INTEGER: self = .integer(sqlite3_value_int64(value))
        case SQLITE_FLOAT: self = .real(sqlite3_value_double(value))
        case SQLITE_TEXT:
            let text = sqlite3_value_text(value)
            self = .text(UnsafeBufferPointer(start: text, count: Int(sqlite3_value_bytes(value))))
        case SQLITE_BLOB:
            let bytes = sqlite3_value_blob(value)?.assumingMemoryBound(to: UInt8.self)
            self = .blob(UnsafeBufferPointer(start: bytes, count: Int(sqlite3_value_bytes(value))))
        default: self = .null
        }
    }
}

extension ColumnView {
    /// Creates a view of a column of a statement's current row.
    ///
    /// - Parameter handle: The statement's handle.
    @inline(__always)
    init(_ column: Int32, of handle: OpaquePointer) {
        switch sqlite3_column_type(handle, column) {
        case SQLITE_INTEGER: self = .integer(sqlite3_column_int64(handle, column))
        case SQLITE_FLOAT: self = .real(sqlite3_column_double(handle, column))
        case SQLITE_TEXT:
            let text = sqlite3_column_text(handle, column)
            self = .text(UnsafeBufferPointer(start: text, count: Int(sqlite3_column_bytes(handle, column))))
        case SQLITE_BLOB:
            let bytes = sqlite3_column_blob(handle, column)?.assumingMemoryBound(to: UInt8.self)
            self = .blob(UnsafeBufferPointer(start: bytes, count: Int(sqlite3_column_bytes(handle, column))))
        default: self = .null
        }
    }
}
