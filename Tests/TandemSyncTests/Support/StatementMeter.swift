import GRDBSQLite
import Synchronization

@testable import Tandem

/// A meter of SQLite's work for an in-memory store, which has a single connection. It represents the time on an idle
/// machine.
final class StatementMeter: Sendable {
    struct Work: Sendable {
        /// The instructions of SQLite's virtual machine.
        var instructions = 0
        /// The number of page requests.
        var pages = 0
        /// The rows scanned without an index, by statement.
        var scans: [String: Int] = [:]
        /// The number of executions, by statement.
        var executions: [String: Int] = [:]

        /// Returns the number of executed statements that begin with a word and name a table.
        func count(_ verb: String, of table: String) -> Int {
            executions.filter { $0.key.hasPrefix("\(verb) ") && $0.key.contains("\"\(table)\"") }.values.reduce(0, +)
        }
    }

    private let work = Mutex(Work())

    private init() {}

    /// Returns the work of a store during a block.
    static func measure(_ store: Store, _ body: () async throws -> Void) async throws -> Work {
        let meter = StatementMeter()
        try await store.write { meter.begin($0.connection.sqlite) }
        do {
            try await body()
        } catch {
            try await meter.end(store)
            throw error
        }
        try await meter.end(store)
        return meter.work.withLock { $0 }
    }

    private func end(_ store: Store) async throws {
        try await store.write { tx in
            sqlite3_trace_v2(tx.connection.sqlite, 0, nil, nil)
            let pages = Self.takePages(tx.connection.sqlite)
            self.work.withLock { $0.pages = pages }
        }
    }

    /// Returns the number of page requests since the last call.
    private static func takePages(_ database: OpaquePointer) -> Int {
        [SQLITE_DBSTATUS_CACHE_HIT, SQLITE_DBSTATUS_CACHE_MISS].reduce(0) { sum, counter in
            var (count, highest): (Int32, Int32) = (0, 0)
            sqlite3_db_status(database, counter, &count, &highest, 1)
            return sum + Int(count)
        }
    }

    private func begin(_ database: OpaquePointer) {
        // Discard the earlier counts of statements.
        var statement = sqlite3_next_stmt(database, nil)
        while let next = statement {
            _ = Self.take(next)
            statement = sqlite3_next_stmt(database, next)
        }
        _ = Self.takePages(database)
        // Called at each statement's end. The meter lives as long as the trace, because its creator retains it.
        sqlite3_trace_v2(
            database, UInt32(SQLITE_TRACE_PROFILE),
            { _, context, statement, _ in
                guard let context, let statement else { return 0 }
                Unmanaged<StatementMeter>.fromOpaque(context).takeUnretainedValue().note(OpaquePointer(statement))
                return 0
            }, Unmanaged.passUnretained(self).toOpaque())
    }

    private func note(_ statement: OpaquePointer) {
        let (instructions, scanned) = Self.take(statement)
        let sql = sqlite3_sql(statement).map { String(cString: $0) } ?? "?"
        work.withLock { work in
            work.instructions += instructions
            work.executions[sql, default: 0] += 1
            if scanned > 0 { work.scans[sql, default: 0] += scanned }
        }
    }

    /// Returns a statement's counts since the last call.
    private static func take(_ statement: OpaquePointer) -> (instructions: Int, scanned: Int) {
        (
            Int(sqlite3_stmt_status(statement, SQLITE_STMTSTATUS_VM_STEP, 1)),
            Int(sqlite3_stmt_status(statement, SQLITE_STMTSTATUS_FULLSCAN_STEP, 1))
        )
    }
}
