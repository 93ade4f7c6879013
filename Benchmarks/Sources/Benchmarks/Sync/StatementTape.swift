import Foundation
import GRDBSQLite

/// Records the statements of a connection with their values, as SQLite traces them, to replay them in SQLite alone. The
/// replay shows SQLite's share of the work.
///
/// Statements that SQLite's own extensions run within another statement, such as the search index, are not recorded.
/// They run again with that statement.
///
/// `@unchecked Sendable`: only the trace of one connection writes it, which one thread at a time uses. It is read after
/// the trace has ended.
final class StatementTape: @unchecked Sendable {
    private enum Value {
        case null
        case integer(Int64)
        case real(Double)
        /// The position of the bytes.
        case text(at: Int, count: Int32)
        case blob(at: Int, count: Int32)
    }

    private var statements: [String] = []
    private var places: [String: Int] = [:]
    /// The indexes of the statements that ran, and their numbers of values.
    private var runs: [(statement: Int, values: Int)] = []
    private var values: [Value] = []
    private var bytes: [UInt8] = []
    /// The first statement that could not be parsed.
    private var unreadable: String?

    var isEmpty: Bool { runs.isEmpty }
    /// The number of recorded statements.
    var count: Int { runs.count }

    // MARK: Recording

    /// Starts recording the statements of a connection.
    func begin(_ handle: OpaquePointer) {
        sqlite3_trace_v2(
            handle, UInt32(SQLITE_TRACE_STMT),
            { _, tape, statement, _ in
                guard let tape, let statement else { return 0 }
                Unmanaged<StatementTape>.fromOpaque(tape).takeUnretainedValue().note(OpaquePointer(statement))
                return 0
            }, Unmanaged.passUnretained(self).toOpaque())
    }

    func end(_ handle: OpaquePointer) {
        OpenConnections.noteClosing(of: handle)
    }

    private func note(_ statement: OpaquePointer) {
        guard let sql = sqlite3_sql(statement), let expanded = sqlite3_expanded_sql(statement) else { return }
        defer { sqlite3_free(expanded) }
        let whole = UnsafeRawBufferPointer(start: expanded, count: strlen(expanded))
        // SQLite marks nested statements like this.
        if whole.starts(with: "-- ".utf8) { return }
        let text = String(cString: sql)
        let place = places[text, default: statements.count]
        if place == statements.count {
            places[text] = place
            statements.append(text)
        }
        let first = values.count
        values += repeatElement(.null, count: Int(sqlite3_bind_parameter_count(statement)))
        var reader = ExpandedStatement(text, whole: whole)
        while let (parameter, value) = reader.next() { values[first + parameter - 1] = stored(value) }
        if !reader.isAtEnd { unreadable = text }
        runs.append((place, values.count - first))
    }

    private func stored(_ value: ExpandedStatement.Value) -> Value {
        switch value {
        case .null: return .null
        case .integer(let value): return .integer(value)
        case .real(let value): return .real(value)
        case .text(let text):
            bytes += text
            return .text(at: bytes.count - text.count, count: Int32(text.count))
        case .blob(let blob):
            bytes += blob
            return .blob(at: bytes.count - blob.count, count: Int32(blob.count))
        }
    }

    // MARK: Running

    /// Replays all statements on a connection. Returns the processor time in seconds, without preparing the statements.
    func run(on handle: OpaquePointer) throws -> Double {
        if let unreadable {
            throw UsageError(problem: "the trace of this statement has an unknown format: \(unreadable)")
        }
        let prepared = try statements.map { sql in
            var statement: OpaquePointer?
            let code = sqlite3_prepare_v3(handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil)
            guard code == SQLITE_OK, let statement else {
                throw RawError(code: code, message: String(cString: sqlite3_errmsg(handle)))
            }
            return statement
        }
        defer { for statement in prepared { sqlite3_finalize(statement) } }
        return try ProcessTime.measure {
            try bytes.withUnsafeBytes { bytes in
                var next = 0
                for (place, count) in runs {
                    let statement = prepared[place]
                    for index in 0..<count {
                        Self.bind(values[next + index], to: statement, at: Int32(index + 1), in: bytes)
                    }
                    next += count
                    var code = sqlite3_step(statement)
                    while code == SQLITE_ROW { code = sqlite3_step(statement) }
                    sqlite3_reset(statement)
                    guard code == SQLITE_DONE else {
                        throw RawError(code: code, message: String(cString: sqlite3_errmsg(handle)))
                    }
                }
            }
        }
    }

    @inline(__always)
    private static func bind(
        _ value: Value, to statement: OpaquePointer, at index: Int32, in bytes: UnsafeRawBufferPointer
    ) {
        switch value {
        case .null: sqlite3_bind_null(statement, index)
        case .integer(let value): sqlite3_bind_int64(statement, index, value)
        case .real(let value): sqlite3_bind_double(statement, index, value)
        case .text(let place, let count):
            sqlite3_bind_text(
                statement, index, bytes.baseAddress!.advanced(by: place).assumingMemoryBound(to: CChar.self), count, nil
            )
        case .blob(let place, let count):
            sqlite3_bind_blob(statement, index, bytes.baseAddress!.advanced(by: place), count, nil)
        }
    }
}
