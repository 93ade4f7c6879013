import Foundation
import TandemTesting
import TestSupport
import Testing

@testable import Tandem

@Suite("Orders, limits and distinct values in SQL", .ownThreads)
struct OrderSQLTests {
    @Test(arguments: StoreKind.memoryAndEncrypted)
    func `a folded text sorts by its sort key, then by local ID`(kind: StoreKind) throws {
        let things = try makeQueryStore(kind: kind).objects(Thing.self)
        try expectSQL(
            things.sorted(by: \.text),
            """
            "Thing" AS t0
            WHERE t0."deleted" = 0
            ORDER BY t0."__sort_text", t0."localID"
            """)
    }

    @Test(arguments: StoreKind.memoryAndEncrypted)
    func `the local ID always breaks ties in ascending order`(kind: StoreKind) throws {
        let things = try makeQueryStore(kind: kind).objects(Thing.self)
        try expectSQL(
            things.sorted(by: \.int, ascending: false),
            """
            "Thing" AS t0
            WHERE t0."deleted" = 0
            ORDER BY t0."int" DESC, t0."localID"
            """)
        try expectSQL(
            things.sorted(by: \.localID, ascending: false),
            """
            "Thing" AS t0
            WHERE t0."deleted" = 0
            ORDER BY t0."localID" DESC
            """)
    }

    @Test(arguments: StoreKind.memoryAndEncrypted)
    func `nils sort at the given end`(kind: StoreKind) throws {
        let things = try makeQueryStore(kind: kind).objects(Thing.self)
        try expectSQL(
            things.sorted(by: .ascending(\.small, nils: .last)),
            """
            "Thing" AS t0
            WHERE t0."deleted" = 0
            ORDER BY t0."small" NULLS LAST, t0."localID"
            """)
        try expectSQL(
            things.sorted(by: .descending(\.small, nils: .first)),
            """
            "Thing" AS t0
            WHERE t0."deleted" = 0
            ORDER BY t0."small" DESC NULLS FIRST, t0."localID"
            """)
        try expectSQL(
            things.sorted(by: .ascending(\.small), .descending(\.day)),
            """
            "Thing" AS t0
            WHERE t0."deleted" = 0
            ORDER BY t0."small", t0."day" DESC, t0."localID"
            """)
    }

    @Test(arguments: StoreKind.memoryAndEncrypted)
    func `a key can be behind a reference`(kind: StoreKind) throws {
        let things = try makeQueryStore(kind: kind).objects(Thing.self)
        try expectSQL(
            things.sorted(by: .descending(\.owner.name, nils: .first)),
            """
            "Thing" AS t0
            LEFT JOIN "Owner" AS t1 ON t1."localID" = t0."owner" AND t1."deleted" = 0
            WHERE t0."deleted" = 0
            ORDER BY t1."__sort_name" DESC NULLS FIRST, t0."localID"
            """)
    }

    @Test(arguments: StoreKind.memoryAndEncrypted)
    func `objects that match a predicate come first`(kind: StoreKind) throws {
        let things = try makeQueryStore(kind: kind).objects(Thing.self)
        try expectSQL(
            things.sorted(by: .matchingFirst { $0.tags.any { $0.rank == 1 } }, .matchingFirst { $0.flag }),
            """
            "Thing" AS t0
            WHERE t0."deleted" = 0
            ORDER BY (EXISTS (SELECT 1 FROM "__links_Thing_tags" AS t1 JOIN "Tag" AS t2
            WHERE t1."object" = t0."__rid" AND t2."localID" = t1."target" AND t2."deleted" = 0 AND t2."rank" = ?)) \
            IS TRUE DESC, (t0."flag" = 1) IS TRUE DESC, t0."localID"
            1
            """)
    }

    @Test(arguments: StoreKind.memoryAndEncrypted)
    func `distinct selects the first object of each value`(kind: StoreKind) throws {
        let things = try makeQueryStore(kind: kind).objects(Thing.self)
        try expectSQL(
            things.where { $0.flag }.sorted(by: \.int).distinct(by: \.code, \.owner.name).limit(3),
            """
            "Thing" AS t0
            WHERE t0."__rid" IN (SELECT "row" FROM (SELECT t1."__rid" AS "row", ROW_NUMBER() OVER (PARTITION BY \
            t1."code", t2."name"
            ORDER BY t1."int", t1."localID") AS "number" FROM "Thing" AS t1
            LEFT JOIN "Owner" AS t2 ON t2."localID" = t1."owner" AND t2."deleted" = 0
            WHERE t1."deleted" = 0 AND t1."flag" = 1)
            WHERE "number" = 1)
            ORDER BY t0."int", t0."localID" LIMIT ?
            3
            """)
    }

    @Test(arguments: StoreKind.memoryAndEncrypted)
    func `operators after a limit apply to the selected objects`(kind: StoreKind) throws {
        let things = try makeQueryStore(kind: kind).objects(Thing.self)
        try expectSQL(
            things.limit(10).where { $0.flag },
            """
            "Thing" AS t0
            WHERE t0."__rid" IN (SELECT t1."__rid" FROM "Thing" AS t1
            WHERE t1."deleted" = 0
            ORDER BY t1."localID" LIMIT ?) AND t0."flag" = 1
            ORDER BY t0."localID"
            10
            """)
        try expectSQL(
            things.limit(10).offset(5).limit(2),
            """
            "Thing" AS t0
            WHERE t0."__rid" IN (SELECT t1."__rid" FROM "Thing" AS t1
            WHERE t1."deleted" = 0
            ORDER BY t1."localID" LIMIT ?)
            ORDER BY t0."localID" LIMIT ? OFFSET ?
            10, 2, 5
            """)
    }

    @Test(arguments: StoreKind.memoryAndEncrypted)
    func `an offset needs no limit`(kind: StoreKind) throws {
        let things = try makeQueryStore(kind: kind).objects(Thing.self)
        try expectSQL(
            things.offset(2),
            """
            "Thing" AS t0
            WHERE t0."deleted" = 0
            ORDER BY t0."localID" LIMIT ? OFFSET ?
            -1, 2
            """)
    }
}
