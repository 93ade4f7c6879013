import Foundation
import TestSupport
import Testing

@testable import Tandem
@testable import TandemTestScript

/// Direct SQL: read-only, with bound values.
@Suite(.ownThreads) struct SQLTests {
    let store: Store
    let folder: TestFolder

    init() throws {
        folder = try TestFolder()
        store = try Peer.open(folder.file())
        _ = try store.write { try $0.insert(PeerPerson(name: "Ада").identified(by: "1")) }
    }

    @Test(
        arguments: [
            .null, .integer(.min), .integer(.max), .real(0.1), .real(-0.0), .real(.infinity), .text(""),
            .text("a\u{0}b"),
            .text("'; DROP TABLE PeerPerson; --"), .text("e\u{301}"), .blob([]), .blob([0, 255]),
        ] as [StorageValue])
    func `values are bound and read back unchanged`(_ value: StorageValue) throws {
        #expect(try store.rows2("SELECT ?", [value]) == [[value]])
        #expect(try store.rows2("SELECT ?2, ?1", [1, value]) == [[value, 1]])
    }

    @Test func `columns are named`() throws {
        let row = try store.sql("SELECT localID AS a, name, name AS a FROM PeerPerson")[0]
        #expect(row.columns == ["a", "name", "a"])
        #expect(row["a"] == "1" && row["name"] == "Ада" && row["A"] == nil && row[2] == "Ада")
    }

    @Test func `the number of values must equal the number of parameters`() {
        for (sql, values) in [("SELECT 1", [1]), ("SELECT ?", []), ("SELECT ?, ?", [1]), ("SELECT ?3", [1, 2])]
            as [(String, [StorageValue])]
        {
            let error = expectError(.invalidQuery) { try store.sql(sql, binding: values) }
            #expect(error?.store == store.path)
        }
    }

    static let refused = [
        "INSERT INTO PeerPerson (localID, name) VALUES ('2', 'x')", "UPDATE PeerPerson SET name = 'x'",
        "UPDATE PeerPerson SET name = 'x' RETURNING name", "DELETE FROM PeerPerson RETURNING localID",
        "REPLACE INTO __settings VALUES ('a', 1)", "WITH t AS (SELECT 1) DELETE FROM PeerPerson RETURNING *",
        "DROP TABLE PeerPerson", "CREATE TABLE t (x)", "CREATE TEMP TABLE t (x)", "ALTER TABLE PeerPerson ADD x",
        "CREATE TEMP VIEW v AS SELECT 1", "VACUUM", "VACUUM INTO '/tmp/x'", "REINDEX", "ANALYZE",
        "BEGIN", "BEGIN IMMEDIATE", "COMMIT", "END", "ROLLBACK", "SAVEPOINT a", "RELEASE tandem", "ROLLBACK TO tandem",
        "ATTACH ':memory:' AS other", "DETACH main",
        "PRAGMA journal_mode = DELETE", "PRAGMA journal_mode(DELETE)", "PRAGMA user_version = 5",
        "PRAGMA application_id = 1",
        "PRAGMA busy_timeout = 0", "PRAGMA busy_timeout(0)", "pragma Busy_Timeout=0",
        "/* x */ PRAGMA main.busy_timeout = 0",
        "-- x\nPRAGMA locking_mode = EXCLUSIVE", "PRAGMA query_only = 0", "PRAGMA synchronous = OFF",
        "PRAGMA writable_schema = ON", "PRAGMA hard_heap_limit = 1000", "PRAGMA soft_heap_limit(1000)",
        "PRAGMA mmap_size = 0", "PRAGMA wal_autocheckpoint = 0", "PRAGMA journal_size_limit = 0", "PRAGMA threads = 8",
        "PRAGMA wal_checkpoint", "PRAGMA wal_checkpoint(TRUNCATE)", "PRAGMA optimize", "PRAGMA incremental_vacuum",
        "PRAGMA case_sensitive_like = ON", "PRAGMA temp_store = FILE", "PRAGMA secure_delete = 0",
        "EXPLAIN DELETE FROM PeerPerson",
        "SELECT 1; SELECT 2", "SELECT 1; DELETE FROM PeerPerson", "SELECT 1; garbage",
        "SELECT 1\u{0}; DELETE FROM PeerPerson",
        "", " ", "-- nothing", ";",
    ]

    @Test(arguments: refused)
    func `statements that do more than read are refused`(_ sql: String) throws {
        let before = try store.rows("SELECT * FROM PeerPerson")
        expectError(.invalidQuery) { try store.sql(sql) }
        try store.write { tx in
            _ = try tx.insert(PeerPerson(name: "in a transaction"))
            expectError(.invalidQuery) { try store.sql(sql) }
        }
        try store.read { _ in _ = expectError(.invalidQuery) { try store.sql(sql) } }
        #expect(try store.rows("SELECT * FROM PeerPerson").count == before.count + 1)
        #expect(try store.rows("PRAGMA busy_timeout") == [[60_000]])
    }

    @Test(arguments: [
        "SELECT 1", "  SELECT 1 ;  ", "SELECT 1 -- over", "/* x */ SELECT 1; /* y */ -- z", "VALUES (1), (2)",
        "WITH t AS (SELECT 1) SELECT * FROM t", "EXPLAIN SELECT 1", "EXPLAIN QUERY PLAN SELECT * FROM PeerPerson",
        "PRAGMA table_info(PeerPerson)", "PRAGMA main.index_list('PeerPerson')", "PRAGMA integrity_check",
        "PRAGMA integrity_check(1)", "PRAGMA synchronous", "PRAGMA user_version", "PRAGMA page_count",
        "PRAGMA busy_timeout",
        "SELECT * FROM pragma_table_info('PeerPerson')", "SELECT ';', 'x' -- ; DELETE",
    ])
    func `statements that only read are run`(_ sql: String) throws {
        #expect(try !store.sql(sql).isEmpty)
    }

    @Test(arguments: ["SELEC 1", "SELECT * FROM nothing", "SELECT 'open", "SELECT nothing()", "PRAGMA"])
    func `invalid SQL is an error of SQLite`(_ sql: String) throws {
        let error = expectError(.sql) { try store.sql(sql) }
        #expect(error?.store == store.path)
    }

    @Test func `a query sees the writes of its transaction`() throws {
        try store.write { tx in
            _ = try tx.insert(PeerPerson(name: "Боб"))
            #expect(try store.rows("SELECT count(*) FROM PeerPerson") == [[2]])
            #expect(
                try store.rows("SELECT count(*) FROM __search_PeerPerson WHERE __search_name GLOB '*боб*'") == [[1]])
        }
    }
}

extension Store {
    fileprivate func rows2(_ query: String, _ values: [StorageValue]) throws -> [[StorageValue]] {
        try sql(query, binding: values).map(\.values)
    }
}
