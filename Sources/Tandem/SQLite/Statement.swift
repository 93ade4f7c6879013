import GRDBSQLite

/// A prepared statement of a connection. Only the thread that has the connection uses it.
///
/// Tandem binds and steps statements directly: a point read through GRDB's records costs eleven to twenty times as much
/// (see ARCHITECTURE.md, "Rejected ideas").
final class Statement {
    let handle: OpaquePointer
    private unowned let connection: Connection

    init(_ sql: String, on connection: Connection) throws {
        var handle: OpaquePointer?
        var sql = sql
        let code = sql.withUTF8 {
            sqlite3_prepare_v3(
                connection.sqlite, UnsafeRawPointer($0.baseAddress!).assumingMemoryBound(to: CChar.self),
                Int32($0.count), UInt32(SQLITE_PREPARE_PERSISTENT), &handle, nil)
        }
        guard code == SQLITE_OK, let handle else { throw connection.error(code, sql: sql) }
        self.handle = handle
        self.connection = connection
    }

    deinit {
        finalize()
    }

    /// Finalizes the statement early, if the connection is returned while this object still lives.
    func finalize() {
        guard !isFinalized else { return }
        isFinalized = true
        sqlite3_finalize(handle)
    }

    private var isFinalized = false
    /// SQLite's result code for a value that it rejected. It would run the statement with NULL instead.
    private var refusal = SQLITE_OK

    /// Executes a step. Returns `true` if it is at a row.
    @inline(__always)
    func step() throws -> Bool {
        guard refusal == SQLITE_OK else { throw refused() }
        let code = sqlite3_step(handle)
        if code == SQLITE_ROW { return true }
        if code == SQLITE_DONE { return false }
        throw failure(code)
    }

    private func refused() -> any Error {
        defer { refusal = SQLITE_OK }
        return connection.error(refusal, sql: nil)
    }

    private func failure(_ code: Int32) -> any Error {
        let error = connection.error(code, sql: sqlite3_sql(handle).map { String(cString: $0) })
        sqlite3_reset(handle)
        return error
    }

    /// Ends an execution, so that the statement can be bound again, and its locks are released.
    @inline(__always)
    func reset() {
        sqlite3_reset(handle)
    }

    /// Runs a statement that returns no rows.
    func run() throws {
        defer { reset() }
        while try step() {}
    }

    /// Clears the bound values, which may point into memory that is about to be freed.
    func clearBindings() {
        sqlite3_clear_bindings(handle)
    }

    /// Whether it changes nothing.
    var isReadOnly: Bool { sqlite3_stmt_readonly(handle) != 0 }

    /// The number of values to bind.
    var parameterCount: Int { Int(sqlite3_bind_parameter_count(handle)) }

    /// The number of columns of its rows, or 0 if it returns no rows.
    var columnCount: Int { Int(sqlite3_column_count(handle)) }

    /// The names of the columns of its rows.
    var columnNames: [String] {
        (0..<Int32(columnCount)).map { sqlite3_column_name(handle, $0).map { String(cString: $0) } ?? "" }
    }

    // MARK: Binding. Indexes begin at 1. SQLite copies texts and blobs, except where stated otherwise.

    func bindNull(_ index: Int32) {
        sqlite3_bind_null(handle, index)
    }

    func bind(_ index: Int32, to value: Int64) {
        sqlite3_bind_int64(handle, index, value)
    }

    func bind(_ index: Int32, to value: Bool) {
        sqlite3_bind_int64(handle, index, value ? 1 : 0)
    }

    func bind(_ index: Int32, to value: Double) {
        sqlite3_bind_double(handle, index, value)
    }

    func bind(_ index: Int32, to value: String) {
        var value = value
        value.withUTF8 { bindText(index, to: $0, copied: true) }
    }

    func bind(_ index: Int32, to value: String?) {
        if let value { bind(index, to: value) } else { bindNull(index) }
    }

    func bind(_ index: Int32, blob: [UInt8]) {
        blob.withUnsafeBufferPointer { bindBlob(index, to: $0, copied: true) }
    }

    func bind(_ index: Int32, to value: StorageValue) {
        switch value {
        case .null: bindNull(index)
        case .integer(let value): bind(index, to: value)
        case .real(let value):
            // SQLite would silently convert a NaN to NULL.
            if value.isNaN {
                var bits: [UInt8] = []
                NaNStorage.append(value, to: &bits)
                bind(index, blob: bits)
            } else {
                bind(index, to: value)
            }
        case .text(let value): bind(index, to: value)
        case .blob(let value): bind(index, blob: value)
        }
    }

    /// Binds values from index 1 on.
    func bind(_ values: [StorageValue]) {
        for (offset, value) in values.enumerated() { bind(Int32(offset + 1), to: value) }
    }

    /// Binds bytes as text with their length, so that U+0000 does not end the text.
    ///
    /// - Parameter copied: If `false`, SQLite keeps the pointer: the bytes must stay valid until the statement is
    ///   reset.
    func bindText(_ index: Int32, to bytes: UnsafeBufferPointer<UInt8>, copied: Bool) {
        let pointer = UnsafeRawPointer(bytes.baseAddress ?? Self.emptyBytes).assumingMemoryBound(to: CChar.self)
        guard let count = Int32(exactly: bytes.count) else {
            refusal = SQLITE_TOOBIG
            return
        }
        let code = sqlite3_bind_text(handle, index, pointer, count, copied ? Self.transient : nil)
        if code != SQLITE_OK { refusal = code }
    }

    /// Binds bytes as a blob, which may be empty. (A null pointer would bind NULL.)
    func bindBlob(_ index: Int32, to bytes: UnsafeBufferPointer<UInt8>, copied: Bool) {
        guard let count = Int32(exactly: bytes.count) else {
            refusal = SQLITE_TOOBIG
            return
        }
        let code = sqlite3_bind_blob(
            handle, index, bytes.baseAddress ?? Self.emptyBytes, count, copied ? Self.transient : nil)
        if code != SQLITE_OK { refusal = code }
    }

    /// Binds a value of a row. The row's bytes must not change until the statement is reset.
    @inline(__always)
    func bind(_ index: Int32, to slot: RowEncoder.Slot, in bytes: UnsafeBufferPointer<UInt8>) {
        switch slot.tag {
        case .null: sqlite3_bind_null(handle, index)
        case .integer: sqlite3_bind_int64(handle, index, Int64(bitPattern: slot.bits))
        case .real: sqlite3_bind_double(handle, index, Double(bitPattern: slot.bits))
        case .text:
            bindText(
                index, to: UnsafeBufferPointer(rebasing: bytes[Int(slot.bits)..<Int(slot.bits) + slot.count]),
                copied: false)
        case .blob:
            bindBlob(
                index, to: UnsafeBufferPointer(rebasing: bytes[Int(slot.bits)..<Int(slot.bits) + slot.count]),
                copied: false)
        }
    }

    private static let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
    // Proof: a non-null pointer for empty values, which is never read and never freed.
    nonisolated(unsafe) private static let emptyBytes = UnsafePointer(
        UnsafeMutablePointer<UInt8>.allocate(capacity: 1))

    // MARK: Reading

    /// Returns the current row for generated code.
    func row(base: Int32 = 0) -> RowDecoder {
        RowDecoder(statement: handle, base: base)
    }

    func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(handle, column) }
    func real(_ column: Int32) -> Double { sqlite3_column_double(handle, column) }
    func type(_ column: Int32) -> Int32 { sqlite3_column_type(handle, column) }
    func isNull(_ column: Int32) -> Bool { sqlite3_column_type(handle, column) == SQLITE_NULL }
    func text(_ column: Int32) throws -> String { try row().text(column) }
    func optionalText(_ column: Int32) throws -> String? { isNull(column) ? nil : try text(column) }
    func bytes(_ column: Int32) -> UnsafeRawBufferPointer { row().bytes(column) }
    func value(_ column: Int32) -> StorageValue { row().storageValue(column) }
}
