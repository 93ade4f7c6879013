import Foundation
import TandemTesting
import TestSupport
import Testing

@testable import Tandem

@Suite("A predicate is SQL with bound values", .ownThreads)
struct PredicateSQLTests {
    @Test(arguments: StoreKind.memoryAndEncrypted)
    func `all live objects are read without a predicate`(kind: StoreKind) throws {
        let things = try makeQueryStore(kind: kind).objects(Thing.self)
        try expectSQL(
            things,
            """
            "Thing" AS t0
            WHERE t0."deleted" = 0
            ORDER BY t0."localID"
            """)
        try expectSQL(
            things.includingDeleted(),
            """
            "Thing" AS t0
            ORDER BY t0."localID"
            """)
        try expectSQL(
            things.onlyDeleted(),
            """
            "Thing" AS t0
            WHERE t0."deleted" = 1
            ORDER BY t0."localID"
            """)
    }

    @Test(arguments: StoreKind.memoryAndEncrypted)
    func `comparisons bind their values`(kind: StoreKind) throws {
        let things = try makeQueryStore(kind: kind).objects(Thing.self)
        try expectSQL(
            things.where { $0.int > 100 },
            """
            "Thing" AS t0
            WHERE t0."deleted" = 0 AND t0."int" > ?
            ORDER BY t0."localID"
            100
            """)
        try expectSQL(
            things.where { $0.color == .blue },
            """
            "Thing" AS t0
            WHERE t0."deleted" = 0 AND t0."color" = ?
            ORDER BY t0."localID"
            2
            """)
        try expectSQL(
            things.where { $0.price > 1.5 && $0.price <= 2 },
            """
            "Thing" AS t0
            WHERE t0."deleted" = 0 AND (t0."price" > ? AND t0."price" < X'FF') AND t0."price" <= ?
            ORDER BY t0."localID"
            X'81801E', X'818028'
            """)
    }

    @Test(arguments: StoreKind.memoryAndEncrypted)
    func `several where calls are joined by AND`(kind: StoreKind) throws {
        let things = try makeQueryStore(kind: kind).objects(Thing.self)
        try expectSQL(
            things.where { $0.int > 1 }.where { $0.flag },
            """
            "Thing" AS t0
            WHERE t0."deleted" = 0 AND t0."int" > ? AND t0."flag" = 1
            ORDER BY t0."localID"
            1
            """)
    }

    @Test(arguments: StoreKind.memoryAndEncrypted)
    func `and, or and not keep their structure`(kind: StoreKind) throws {
        let things = try makeQueryStore(kind: kind).objects(Thing.self)
        try expectSQL(
            things.where { $0.int == 1 || !($0.flag && $0.code != "x") },
            """
            "Thing" AS t0
            WHERE t0."deleted" = 0 AND (t0."int" = ? OR (t0."flag" = 1 AND t0."code" <> ?) IS NOT TRUE)
            ORDER BY t0."localID"
            1, 'x'
            """)
        try expectSQL(
            things.where { ($0.flag || $0.int < 3) && ($0.code == "a" || $0.isSynced) },
            """
            "Thing" AS t0
            WHERE t0."deleted" = 0 AND (t0."flag" = 1 OR t0."int" < ?) AND (t0."code" = ? OR t0."synced" = 1)
            ORDER BY t0."localID"
            3, 'a'
            """)
    }

    @Test(arguments: StoreKind.memoryAndEncrypted)
    func `nil is compared as in Swift`(kind: StoreKind) throws {
        let things = try makeQueryStore(kind: kind).objects(Thing.self)
        try expectSQL(
            things.where { $0.nickname == nil },
            """
            "Thing" AS t0
            WHERE t0."deleted" = 0 AND t0."nickname" IS NULL
            ORDER BY t0."localID"
            """)
        try expectSQL(
            things.where { $0.nickname != nil },
            """
            "Thing" AS t0
            WHERE t0."deleted" = 0 AND t0."nickname" IS NOT NULL
            ORDER BY t0."localID"
            """)
        try expectSQL(
            things.where { $0.nickname == "x" },
            """
            "Thing" AS t0
            WHERE t0."deleted" = 0 AND t0."nickname" = ?
            ORDER BY t0."localID"
            'x'
            """)
        try expectSQL(
            things.where { $0.nickname != "x" },
            """
            "Thing" AS t0
            WHERE t0."deleted" = 0 AND t0."nickname" IS NOT ?
            ORDER BY t0."localID"
            'x'
            """)
    }

    @Test(arguments: StoreKind.memoryAndEncrypted)
    func `NaN is neither less nor greater nor equal`(kind: StoreKind) throws {
        let things = try makeQueryStore(kind: kind).objects(Thing.self)
        try expectSQL(
            things.where { $0.ratio > 1 },
            """
            "Thing" AS t0
            WHERE t0."deleted" = 0 AND (t0."ratio" > ? AND t0."ratio" < X'')
            ORDER BY t0."localID"
            1.0
            """)
        try expectSQL(
            things.where { $0.ratio < 1 },
            """
            "Thing" AS t0
            WHERE t0."deleted" = 0 AND t0."ratio" < ?
            ORDER BY t0."localID"
            1.0
            """)
        try expectSQL(
            things.where { $0.ratio == .nan },
            """
            "Thing" AS t0
            WHERE t0."deleted" = 0 AND 0
            ORDER BY t0."localID"
            """)
        try expectSQL(
            things.where { $0.ratio != .nan },
            """
            "Thing" AS t0
            WHERE t0."deleted" = 0 AND 1
            ORDER BY t0."localID"
            """)
    }

    @Test(arguments: StoreKind.memoryAndEncrypted)
    func `properties are compared with each other`(kind: StoreKind) throws {
        let things = try makeQueryStore(kind: kind).objects(Thing.self)
        try expectSQL(
            things.where { $0.text == $0.code },
            """
            "Thing" AS t0
            WHERE t0."deleted" = 0 AND t0."text" = t0."code"
            ORDER BY t0."localID"
            """)
        try expectSQL(
            things.where { $0.nickname == $0.owner.name },
            """
            "Thing" AS t0
            LEFT JOIN "Owner" AS t1 ON t1."localID" = t0."owner" AND t1."deleted" = 0
            WHERE t0."deleted" = 0 AND t0."nickname" IS t1."name"
            ORDER BY t0."localID"
            """)
        try expectSQL(
            things.where { $0.day < $0.updatedAt },
            """
            "Thing" AS t0
            WHERE t0."deleted" = 0 AND (t0."day" < t0."updatedAt" AND t0."updatedAt" < X'')
            ORDER BY t0."localID"
            """)
        try expectSQL(
            things.where { $0.ratio == $0.ratio },
            """
            "Thing" AS t0
            WHERE t0."deleted" = 0 AND (t0."ratio" = t0."ratio" AND typeof(t0."ratio") <> 'blob')
            ORDER BY t0."localID"
            """)
    }

    @Test(arguments: StoreKind.memoryAndEncrypted)
    func `membership binds each value`(kind: StoreKind) throws {
        let things = try makeQueryStore(kind: kind).objects(Thing.self)
        try expectSQL(
            things.where { $0.code.in(["a", "b"]) },
            """
            "Thing" AS t0
            WHERE t0."deleted" = 0 AND t0."code" IN (?, ?)
            ORDER BY t0."localID"
            'a', 'b'
            """)
        try expectSQL(
            things.where { $0.nickname.in(["a", nil]) },
            """
            "Thing" AS t0
            WHERE t0."deleted" = 0 AND (t0."nickname" IN (?) OR t0."nickname" IS NULL)
            ORDER BY t0."localID"
            'a'
            """)
        try expectSQL(
            things.where { $0.code.in([]) },
            """
            "Thing" AS t0
            WHERE t0."deleted" = 0 AND 0
            ORDER BY t0."localID"
            """)
    }

    @Test(arguments: StoreKind.memoryAndEncrypted)
    func `ranges are two comparisons`(kind: StoreKind) throws {
        let things = try makeQueryStore(kind: kind).objects(Thing.self)
        try expectSQL(
            things.where { $0.int.contains(1..<5) && $0.amount.contains(1...5) },
            """
            "Thing" AS t0
            WHERE t0."deleted" = 0 AND t0."int" >= ? AND t0."int" < ? AND t0."amount" >= ? AND t0."amount" <= ?
            ORDER BY t0."localID"
            1, 5, X'8101', X'8105'
            """)
        try expectSQL(
            things.where { $0.int.contains(3...) && $0.day.contains(..<Date(timeIntervalSinceReferenceDate: 5)) },
            """
            "Thing" AS t0
            WHERE t0."deleted" = 0 AND t0."int" >= ? AND t0."day" < ?
            ORDER BY t0."localID"
            3, 5.0
            """)
    }

    @Test(arguments: StoreKind.memoryAndEncrypted)
    func `a prefix is a range that an index can serve`(kind: StoreKind) throws {
        let things = try makeQueryStore(kind: kind).objects(Thing.self)
        try expectSQL(
            things.where { $0.code.hasPrefix("Ма") },
            """
            "Thing" AS t0
            WHERE t0."deleted" = 0 AND (t0."code" >= ? AND t0."code" < CAST(? AS TEXT))
            ORDER BY t0."localID"
            'Ма', X'D09CD0B1'
            """)
        try expectSQL(
            things.where { $0.code.hasPrefix("") },
            """
            "Thing" AS t0
            WHERE t0."deleted" = 0 AND t0."code" IS NOT NULL
            ORDER BY t0."localID"
            """)
    }

    @Test(arguments: StoreKind.memoryAndEncrypted)
    func `suffixes, parts and patterns compare every scalar`(kind: StoreKind) throws {
        let things = try makeQueryStore(kind: kind).objects(Thing.self)
        try expectSQL(
            things.where { $0.code.hasSuffix("Ма") },
            """
            "Thing" AS t0
            WHERE t0."deleted" = 0 AND substr(CAST(t0."code" AS BLOB), -4) = ?
            ORDER BY t0."localID"
            X'D09CD0B0'
            """)
        try expectSQL(
            things.where { $0.code.contains("Ма") },
            """
            "Thing" AS t0
            WHERE t0."deleted" = 0 AND instr(t0."code", ?) > 0
            ORDER BY t0."localID"
            'Ма'
            """)
        try expectSQL(
            things.where { $0.code.like("*x") },
            """
            "Thing" AS t0
            WHERE t0."deleted" = 0 AND __tandem_like(?, t0."code")
            ORDER BY t0."localID"
            '*x'
            """)
        try expectSQL(
            things.where { $0.nickname.like("Ма*?") },
            """
            "Thing" AS t0
            WHERE t0."deleted" = 0 AND ((t0."nickname" >= ? AND t0."nickname" < CAST(? AS TEXT)) AND \
            __tandem_like(?, t0."nickname"))
            ORDER BY t0."localID"
            'Ма', X'D09CD0B1', 'Ма*?'
            """)
    }

    @Test(arguments: StoreKind.memoryAndEncrypted)
    func `collections are queried for elements and count`(kind: StoreKind) throws {
        let things = try makeQueryStore(kind: kind).objects(Thing.self)
        try expectSQL(
            things.where { $0.labels.contains("x") && $0.labels.count > 2 },
            """
            "Thing" AS t0
            WHERE t0."deleted" = 0 AND __tandem_contains(?, t0."labels") AND json_array_length(t0."labels") > ?
            ORDER BY t0."localID"
            '"x"', 2
            """)
        try expectSQL(
            things.where { !$0.labels.isEmpty },
            """
            "Thing" AS t0
            WHERE t0."deleted" = 0 AND (json_array_length(t0."labels") = ?) IS NOT TRUE
            ORDER BY t0."localID"
            0
            """)
    }

    @Test(arguments: StoreKind.memoryAndEncrypted)
    func `the state is queried like properties`(kind: StoreKind) throws {
        let things = try makeQueryStore(kind: kind).objects(Thing.self)
        try expectSQL(
            things.where { $0.serverID == nil && !$0.isSynced && $0.version != "e" },
            """
            "Thing" AS t0
            WHERE t0."deleted" = 0 AND t0."serverID" IS NULL AND t0."synced" = 0 AND t0."version" IS \
            NOT ?
            ORDER BY t0."localID"
            'e'
            """)
        try expectSQL(
            things.where { $0.localID == "x" },
            """
            "Thing" AS t0
            WHERE t0."deleted" = 0 AND t0."localID" = ?
            ORDER BY t0."localID"
            'x'
            """)
    }

    @Test(arguments: StoreKind.memoryAndEncrypted)
    func `constants stay constants`(kind: StoreKind) throws {
        let things = try makeQueryStore(kind: kind).objects(Thing.self)
        try expectSQL(
            things.where { _ in .true }.where { _ in .false },
            """
            "Thing" AS t0
            WHERE t0."deleted" = 0 AND 1 AND 0
            ORDER BY t0."localID"
            """)
    }

    @Test(arguments: StoreKind.memoryAndEncrypted)
    func `words of three scalars use the index and shorter ones a scan`(kind: StoreKind) throws {
        let things = try makeQueryStore(kind: kind).objects(Thing.self)
        try expectSQL(
            things.where { $0.text.matches("маг") },
            """
            "Thing" AS t0
            WHERE t0."deleted" = 0 AND t0."__rid" IN (SELECT "rowid" FROM "__search_Thing"
            WHERE "__search_text" GLOB ?)
            ORDER BY t0."localID"
            '*маг*'
            """)
        try expectSQL(
            things.where { $0.text.matches("маг ab abc") },
            """
            "Thing" AS t0
            WHERE t0."deleted" = 0 AND (t0."__rid" IN (SELECT "rowid" FROM "__search_Thing"
            WHERE "__search_text" GLOB ? AND "__search_text" GLOB ?) AND instr(t0."__search_text", ?) > 0)
            ORDER BY t0."localID"
            '*маг*', '*abc*', 'ab'
            """)
        try expectSQL(
            things.where { $0.text.matches("") },
            """
            "Thing" AS t0
            WHERE t0."deleted" = 0 AND 0
            ORDER BY t0."localID"
            """)
    }
}
