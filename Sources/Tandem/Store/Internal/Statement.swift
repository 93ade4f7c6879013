import GRDBSQLite

/// A prepared statement on one connection. Used by one thread at a time: the one that has the connection.
///
/// Tandem binds and steps statements itself: through GRDB's records a point read costs eleven to twenty times as
/// much (see ARCHITECTURE.md, "Rejected ideas").
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

    /// Gives the statement up before its time: where the connection is given back while this object still lives.
    func finalize() {
        guard !isFinalized else { return }
        isFinalized = true
        sqlite3_finalize(handle)
    }

    private var isFinalized = false
    /// What SQLite said to a value that it did not take: it would run the statement with NULL in its place.
    private var refusal = SQLITE_OK

    /// Takes a step. `true` if it stands on a row.
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

    /// Ends a run, so that the statement can be bound again, and its locks are given up.
    @inline(__always)
    func reset() {
        sqlite3_reset(handle)
    }

    /// Runs a statement that returns no rows.
    func run() throws {
        defer { reset() }
        while try step() {}
    }

    /// Forgets the values bound: those that point into memory about to be freed.
    func clearBindings() {
        sqlite3_clear_bindings(handle)
    }

    // MARK: Binding. Indexes begin at 1. Texts and blobs are copied by SQLite, save where said.

    func bindNull(_ index: Int32) {
        sqlite3_bind_null(handle, index)
    }

    func bind(_ index: Int32, _ value: Int64) {
        sqlite3_bind_int64(handle, index, value)
    }

    func bind(_ index: Int32, _ value: Bool) {
        sqlite3_bind_int64(handle, index, value ? 1 : 0)
    }

    func bind(_ index: Int32, _ value: Double) {
        sqlite3_bind_double(handle, index, value)
    }

    func bind(_ index: Int32, _ value: String) {
        var value = value
        value.withUTF8 { bindText(index, $0, copied: true) }
    }

    func bind(_ index: Int32, _ value: String?) {
        if let value { bind(index, value) } else { bindNull(index) }
    }

    func bind(_ index: Int32, blob: [UInt8]) {
        blob.withUnsafeBufferPointer { bindBlob(index, $0, copied: true) }
    }

    func bind(_ index: Int32, _ value: StorageValue) {
        switch value {
        case .null: bindNull(index)
        case .integer(let value): bind(index, value)
        case .real(let value):
            // SQLite would make NULL of a NaN without a word.
            if value.isNaN {
                var bits: [UInt8] = []
                NaNStorage.append(value, to: &bits)
                bind(index, blob: bits)
            } else {
                bind(index, value)
            }
        case .text(let value): bind(index, value)
        case .blob(let value): bind(index, blob: value)
        }
    }

    /// Binds values from 1 on.
    func bind(_ values: [StorageValue]) {
        for (offset, value) in values.enumerated() { bind(Int32(offset + 1), value) }
    }

    /// Binds bytes as text, with their length, so that U+0000 ends nothing.
    ///
    /// - Parameter copied: If `false`, SQLite keeps the pointer: the bytes must stay until the statement is reset.
    func bindText(_ index: Int32, _ bytes: UnsafeBufferPointer<UInt8>, copied: Bool) {
        let pointer = UnsafeRawPointer(bytes.baseAddress ?? Self.emptyBytes).assumingMemoryBound(to: CChar.self)
        guard let count = Int32(exactly: bytes.count) else {
            refusal = SQLITE_TOOBIG
            return
        }
        let code = sqlite3_bind_text(handle, index, pointer, count, copied ? Self.transient : nil)
        if code != SQLITE_OK { refusal = code }
    }

    /// Binds bytes as a blob, an empty one included (a null pointer would bind NULL).
    func bindBlob(_ index: Int32, _ bytes: UnsafeBufferPointer<UInt8>, copied: Bool) {
        guard let count = Int32(exactly: bytes.count) else {
            refusal = SQLITE_TOOBIG
            return
        }
        let code = sqlite3_bind_blob(
            handle, index, bytes.baseAddress ?? Self.emptyBytes, count, copied ? Self.transient : nil)
        if code != SQLITE_OK { refusal = code }
    }

    /// Binds a value of a row. The row's bytes must stay as they are until the statement is reset.
    @inline(__always)
    func bind(_ index: Int32, _ slot: RowBuffer.Slot, in bytes: UnsafeBufferPointer<UInt8>) {
        switch slot.tag {
        case .null: sqlite3_bind_null(handle, index)
        case .integer: sqlite3_bind_int64(handle, index, Int64(bitPattern: slot.bits))
        case .real: sqlite3_bind_double(handle, index, Double(bitPattern: slot.bits))
        case .text:
            bindText(
                index, UnsafeBufferPointer(rebasing: bytes[Int(slot.bits)..<Int(slot.bits) + slot.count]),
                copied: false)
        case .blob:
            bindBlob(
                index, UnsafeBufferPointer(rebasing: bytes[Int(slot.bits)..<Int(slot.bits) + slot.count]),
                copied: false)
        }
    }

    private static let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
    // A non-null pointer for values of no bytes; never read, never freed.
    nonisolated(unsafe) private static let emptyBytes = UnsafePointer(
        UnsafeMutablePointer<UInt8>.allocate(capacity: 1))

    // MARK: Reading

    /// The row that the statement stands on, as generated code reads it.
    func row(base: Int32 = 0) -> RowReader {
        RowReader(statement: handle, base: base)
    }

    func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(handle, column) }
    func real(_ column: Int32) -> Double { sqlite3_column_double(handle, column) }
    func isNull(_ column: Int32) -> Bool { sqlite3_column_type(handle, column) == SQLITE_NULL }
    func text(_ column: Int32) throws -> String { try row().text(column) }
    func optionalText(_ column: Int32) throws -> String? { isNull(column) ? nil : try text(column) }
    func bytes(_ column: Int32) -> UnsafeRawBufferPointer { row().bytes(column) }
    func value(_ column: Int32) -> StorageValue { row().storageValue(column) }
}
