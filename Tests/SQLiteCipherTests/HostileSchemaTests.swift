import Foundation
import GRDB
import TestSupport
import Testing

@testable import SQLiteCipher

@Suite("Salvage executes no SQL of the file", .ownThreads)
struct HostileSchemaTests {
    private static let schema = #"""
        CREATE TABLE victim (
            id INTEGER PRIMARY KEY AUTOINCREMENT, -- a comment, with (parentheses
            "a""); DROP TABLE kept; --" TEXT DEFAULT 'it''s' CHECK (length(randomblob(1)) = 1),
            [late one] INT NOT NULL DEFAULT -7 REFERENCES kept (k),
            made AS (abs(id)) STORED, computed TEXT AS (hex(id)), moment DEFAULT (random()),
            UNIQUE ("late one", id) CHECK (id > 0));
        CREATE TABLE kept (k VARCHAR(10) COLLATE NOCASE, n, PRIMARY KEY (k DESC)) WITHOUT ROWID;
        CREATE TABLE "odd""; DROP TABLE kept; --" (x REAL);
        CREATE INDEX computedIndex ON victim (abs(id)) WHERE id > 0;
        CREATE VIEW seen AS SELECT load_extension('evil');
        CREATE VIRTUAL TABLE words USING fts5(text);
        INSERT INTO kept VALUES ('Key', 1.5), ('9', 2);
        INSERT INTO victim (id, "a""); DROP TABLE kept; --", "late one") VALUES (3, 'first', 9);
        INSERT INTO "odd""; DROP TABLE kept; --" VALUES (0.5);
        CREATE TRIGGER gone AFTER INSERT ON kept BEGIN DELETE FROM victim; END;
        CREATE TRIGGER lost AFTER INSERT ON victim BEGIN DELETE FROM kept; END
        """#

    @Test(arguments: Profile.allCases)
    func `salvage finds rows without creating expressions, views, triggers or virtual tables`(_ kind: Profile) throws {
        let scratch = try Scratch()
        let database = try EncryptedDatabase(path: scratch.path("a.db"), key: testKey, profile: kind.profile)
        let queue = try database.openQueue()
        try queue.write { try $0.execute(sql: Self.schema) }
        try queue.close()
        let target = try EncryptedDatabase(path: scratch.path("b.db"), key: otherKey)
        let report = try database.salvage(to: target)
        #expect(report.isComplete, "\(report)")
        #expect(report.skippedStatements.count == 6, "\(report.skippedStatements)")
        try target.openQueue().read { db in
            #expect(try db.integrity() == ["ok"])
            #expect(try Row.fetchOne(db, sql: "SELECT k, n FROM kept WHERE k = 'KEY'") == ["k": "Key", "n": 1.5])
            let row = try #require(try Row.fetchOne(db, sql: "SELECT * FROM victim"))
            #expect(!row.hasColumn("computed"))
            #expect(row["id"] as Int == 3 && row["late one"] as Int == 9 && row["made"] as Int == 3)
            #expect(row["a\"); DROP TABLE kept; --"] as String == "first")
            #expect(try Double.fetchOne(db, sql: #"SELECT x FROM "odd""; DROP TABLE kept; --""#) == 0.5)
            let others = "SELECT count(*) FROM sqlite_master WHERE type <> 'table' AND sql IS NOT NULL"
            #expect(try Int.fetchOne(db, sql: others) == 0)
            let sql = try String.fetchAll(db, sql: "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL").joined()
            for word in ["random", "abs(", "hex(", "length(", "CHECK", "REFERENCES", "VIRTUAL"] {
                #expect(!sql.contains(word), "\(word)")
            }
        }
    }

    @Test func `rows from before a column was added are kept, and a STRICT table's values do not change`() throws {
        let scratch = try Scratch()
        let database = try EncryptedDatabase(path: scratch.path("a.db"), key: testKey)
        let queue = try database.openQueue()
        try queue.write { db in
            try db.execute(sql: "CREATE TABLE old (name); INSERT INTO old VALUES ('Пятёрочка'), ('Лента')")
            for (index, value) in ["x'8001'", "1e-05", "\"it's\""].enumerated() {
                try db.execute(sql: "ALTER TABLE old ADD COLUMN c\(index) NOT NULL DEFAULT \(value)")
            }
            try db.execute(sql: "CREATE TABLE codes (code ANY) STRICT; INSERT INTO codes VALUES ('00123'), (7)")
        }
        try queue.close()
        let target = try EncryptedDatabase(path: scratch.path("b.db"), key: otherKey)
        let report = try database.salvage(to: target)
        #expect(report.isComplete, "\(report)")
        try target.openQueue().read { db in
            let rows = try Row.fetchAll(db, sql: "SELECT * FROM old ORDER BY name")
            #expect(rows.map { $0["name"] as String } == ["Лента", "Пятёрочка"])
            #expect(rows.allSatisfy { $0.databaseValues.contains(Data([0x80, 0x01]).databaseValue) })
            #expect(rows.allSatisfy { $0.databaseValues.contains(1e-05.databaseValue) })
            #expect(rows.allSatisfy { $0.databaseValues.contains("it's".databaseValue) })
            let codes = try DatabaseValue.fetchAll(db, sql: "SELECT code FROM codes ORDER BY typeof(code)")
            #expect(codes == [7.databaseValue, "00123".databaseValue])
        }
    }

    @Test func `definition is rewritten from names, affinities, keys and literals only`() {
        func written(_ sql: String) -> String? { TableDefinition(sql)?.statement(name: "t") }
        #expect(
            written("CREATE TABLE x(a INTEGER PRIMARY KEY, b 'BIG INT' NOT NULL, c TEXT DEFAULT (f()), d DEFAULT 1e3)")
                == #"CREATE TABLE "t" ("a" INTEGER, "b" INT NOT NULL, "c" TEXT, "d" DEFAULT 1000.0, PRIMARY KEY ("a"))"#
        )
        #expect(
            written("CREATE TABLE x(a, b, CONSTRAINT k PRIMARY KEY (b, a), FOREIGN KEY (a) REFERENCES y (z))")
                == #"CREATE TABLE "t" ("a", "b", PRIMARY KEY ("b", "a"))"#)
        #expect(
            written("CREATE TABLE x(a NOT NULL DEFAULT x'80fF', b NOT NULL DEFAULT 1e-05, c NOT NULL DEFAULT \"it's\")")
                == """
                CREATE TABLE "t" ("a" NOT NULL DEFAULT x'80fF', "b" NOT NULL DEFAULT 1e-05, \
                "c" NOT NULL DEFAULT 'it''s')
                """)
        #expect(written("CREATE TABLE x(a NOT NULL DEFAULT (f()))") == #"CREATE TABLE "t" ("a")"#)
        #expect(written("CREATE TABLE x(a ANY, b INT) STRICT") == #"CREATE TABLE "t" ("a", "b" INT)"#)
        #expect(
            written("CREATE TABLE x(id INTEGER, y, PRIMARY KEY (ID AUTOINCREMENT))")
                == #"CREATE TABLE "t" ("id" INTEGER PRIMARY KEY AUTOINCREMENT, "y")"#)
        for bad in ["", "CREATE", "CREATE TABLE x(", "CREATE TABLE x(a 'b)", "CREATE TABLE x /*", "DROP TABLE (a)"] {
            #expect(written(bad) == nil, "\(bad)")
        }
    }
}
