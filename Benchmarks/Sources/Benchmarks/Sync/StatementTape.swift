import Foundation
import GRDBSQLite

/// The statements that a connection has run, with their values, as SQLite itself tells them: to be run again by SQLite
/// alone, so that it shows how much of a work is SQLite's.
///
/// What SQLite's own parts run within a statement, such as the search index, is not on it: it comes with that statement.
///
/// `@unchecked Sendable`: it is written by the trace of one connection, which one thread at a time steps, and read when
/// that is over.
final class StatementTape: @unchecked Sendable {
    private enum Value {
        case null
        case integer(Int64)
        case real(Double)
        /// Where its bytes are.
        case text(Int, Int32)
        case blob(Int, Int32)
    }

    private var statements: [String] = []
    private var places: [String: Int] = [:]
    /// The statements that were run, by their places, and how many values each has.
    private var runs: [(statement: Int, values: Int)] = []
    private var values: [Value] = []
    private var bytes: [UInt8] = []
    /// A statement that could not be read.
    private var unreadable: String?

    var isEmpty: Bool { runs.isEmpty }
    /// How many statements there are on it.
    var count: Int { runs.count }

    // MARK: Recording

    /// Notes all that a connection runs from now on.
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
        // So SQLite marks what runs within another statement.
        if whole.starts(with: "-- ".utf8) { return }
        let text = String(cString: sql)
        let place = places[text, default: statements.count]
        if place == statements.count {
            places[text] = place
            statements.append(text)
        }
        let first = values.count
        values += repeatElement(.null, count: Int(sqlite3_bind_parameter_count(statement)))
        var reader = ExpandedStatement(text, whole)
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
            return .text(bytes.count - text.count, Int32(text.count))
        case .blob(let blob):
            bytes += blob
            return .blob(bytes.count - blob.count, Int32(blob.count))
        }
    }

    // MARK: Running

    /// Runs all of it on a connection, and tells how long the process has run for it, in seconds. Preparing the
    /// statements does not count.
    func run(on handle: OpaquePointer) throws -> Double {
        if let unreadable { throw UsageError(problem: "SQLite tells this statement in a way not known: \(unreadable)") }
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
                    for index in 0..<count { Self.bind(values[next + index], statement, Int32(index + 1), bytes) }
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
        _ value: Value, _ statement: OpaquePointer, _ index: Int32, _ bytes: UnsafeRawBufferPointer
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
