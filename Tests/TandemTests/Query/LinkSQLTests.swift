import Foundation
import TandemTesting
import TestSupport
import Testing

@testable import Tandem

@Suite("References and links are joins and subqueries", .ownThreads)
struct LinkSQLTests {
    @Test(arguments: StoreKind.memoryAndEncrypted)
    func `a reference is joined once for all its conditions`(kind: StoreKind) throws {
        let things = try makeQueryStore(kind: kind).objects(Thing.self)
        try expectSQL(
            things.where { $0.owner.name == "Ада" && $0.owner.age > 3 },
            """
            "Thing" AS t0
            LEFT JOIN "Owner" AS t1 ON t1."localID" = t0."owner" AND t1."deleted" = 0
            WHERE t0."deleted" = 0 AND t1."name" = ? AND t1."age" > ?
            ORDER BY t0."localID"
            'Ада', 3
            """)
    }

    @Test(arguments: StoreKind.memoryAndEncrypted)
    func `references are followed through references`(kind: StoreKind) throws {
        let things = try makeQueryStore(kind: kind).objects(Thing.self)
        try expectSQL(
            things.where { $0.owner.boss.name.matches("боб") },
            """
            "Thing" AS t0
            WHERE t0."deleted" = 0 AND t0."owner" IN (SELECT "localID" FROM "Owner"
            WHERE "boss" IN (SELECT "localID" FROM "Owner"
            WHERE "__rid" IN (SELECT "rowid" FROM "__search_Owner"
            WHERE "__search_name" GLOB ?) AND "deleted" = 0) AND "deleted" = 0)
            ORDER BY t0."localID"
            '*боб*'
            """)
    }

    @Test(arguments: StoreKind.memoryAndEncrypted)
    func `a condition on a reference itself needs no join`(kind: StoreKind) throws {
        let things = try makeQueryStore(kind: kind).objects(Thing.self)
        try expectSQL(
            things.where { $0.owner == Owner("x").identified(by: "o1") },
            """
            "Thing" AS t0
            WHERE t0."deleted" = 0 AND t0."owner" = ?
            ORDER BY t0."localID"
            'o1'
            """)
        try expectSQL(
            things.where { $0.owner == nil || $0.owner != Reference(localID: "o2") },
            """
            "Thing" AS t0
            WHERE t0."deleted" = 0 AND (t0."owner" IS NULL OR t0."owner" IS NOT ?)
            ORDER BY t0."localID"
            'o2'
            """)
        try expectSQL(
            things.where { $0.owner.in([Reference(localID: "o1"), nil]) },
            """
            "Thing" AS t0
            WHERE t0."deleted" = 0 AND (t0."owner" IN (?) OR t0."owner" IS NULL)
            ORDER BY t0."localID"
            'o1'
            """)
    }

    @Test(arguments: StoreKind.memoryAndEncrypted)
    func `any, all and none are subqueries with their own tables`(kind: StoreKind) throws {
        let things = try makeQueryStore(kind: kind).objects(Thing.self)
        try expectSQL(
            things.where { $0.tags.any { $0.rank > 1 || $0.isNew } },
            """
            "Thing" AS t0
            WHERE t0."deleted" = 0
            AND EXISTS (SELECT 1 FROM "__links_Thing_tags" AS t1 JOIN "Tag" AS t2
            WHERE t1."object" = t0."__rid" AND t2."localID" = t1."target" AND t2."deleted" = 0 AND (t2."rank" > ? \
            OR t2."isNew" = 1))
            ORDER BY t0."localID"
            1
            """)
        try expectSQL(
            things.where { $0.tags.all { $0.isNew } },
            """
            "Thing" AS t0
            WHERE t0."deleted" = 0 AND NOT EXISTS (SELECT 1 FROM "__links_Thing_tags" AS t1 JOIN "Tag" AS t2
            WHERE t1."object" = t0."__rid" AND t2."localID" = t1."target" AND t2."deleted" = 0 AND (t2."isNew" = \
            1) IS NOT TRUE)
            ORDER BY t0."localID"
            """)
        try expectSQL(
            things.where { $0.tags.none { $0.name == "n" } },
            """
            "Thing" AS t0
            WHERE t0."deleted" = 0 AND NOT EXISTS (SELECT 1 FROM "__links_Thing_tags" AS t1 JOIN "Tag" AS t2
            WHERE t1."object" = t0."__rid" AND t2."localID" = t1."target" AND t2."deleted" = 0 AND t2."name" = ?)
            ORDER BY t0."localID"
            'n'
            """)
    }

    @Test(arguments: StoreKind.memoryAndEncrypted)
    func `lists can be counted and their objects queried`(kind: StoreKind) throws {
        let things = try makeQueryStore(kind: kind).objects(Thing.self)
        try expectSQL(
            things.where { $0.tags.count > 2 },
            """
            "Thing" AS t0
            WHERE t0."deleted" = 0 AND (SELECT COUNT(*) FROM "__links_Thing_tags" AS t1 JOIN "Tag" AS t2
            WHERE t1."object" = t0."__rid" AND t2."localID" = t1."target" AND t2."deleted" = 0) > ?
            ORDER BY t0."localID"
            2
            """)
        try expectSQL(
            things.where { $0.tags.isEmpty },
            """
            "Thing" AS t0
            WHERE t0."deleted" = 0 AND NOT EXISTS (SELECT 1 FROM "__links_Thing_tags" AS t1 JOIN "Tag" AS t2
            WHERE t1."object" = t0."__rid" AND t2."localID" = t1."target" AND t2."deleted" = 0)
            ORDER BY t0."localID"
            """)
        try expectSQL(
            things.where { $0.tags.contains(Reference(localID: "t1")) },
            """
            "Thing" AS t0
            WHERE t0."deleted" = 0
            AND EXISTS (SELECT 1 FROM "__links_Thing_tags" AS t1 JOIN "Tag" AS t2
            WHERE t1."object" = t0."__rid" AND t2."localID" = t1."target" AND t2."deleted" = 0 AND t2."localID" = ?)
            ORDER BY t0."localID"
            't1'
            """)
    }

    @Test(arguments: StoreKind.memoryAndEncrypted)
    func `inverse links of a reference are found by its column`(kind: StoreKind) throws {
        let store = try makeQueryStore(kind: kind)
        try expectSQL(
            store.objects(Owner.self).where { $0.things.any { $0.owner.name == "x" } },
            """
            "Owner" AS t0
            WHERE t0."deleted" = 0
            AND EXISTS (SELECT 1 FROM "Thing" AS t1
            LEFT JOIN "Owner" AS t2 ON t2."localID" = t1."owner" AND t2."deleted" = 0
            WHERE likelihood(t1."owner" = t0."localID", 0.000004) AND t1."deleted" = 0 AND t2."name" = ?)
            ORDER BY t0."localID"
            'x'
            """)
        try expectSQL(
            store.objects(Owner.self).where { $0.things.count == 0 },
            """
            "Owner" AS t0
            WHERE t0."deleted" = 0 AND (SELECT COUNT(*) FROM "Thing" AS t1
            WHERE likelihood(t1."owner" = t0."localID", 0.000004) AND t1."deleted" = 0) = ?
            ORDER BY t0."localID"
            0
            """)
    }

    @Test func `inverse links are read by their own index, whatever their conditions are`() throws {
        let store = try Store.inMemory(models: Song.self, Star.self, Fan.self, Playlist.self)
        defer { store.close() }
        let ada = try store.write { try $0.insert(Fan(name: "Ада")) }
        let songs = store.objects(Song.self)
        for query in [
            songs.where { $0.stars.any { $0.fan == ada } }, songs.where { $0.stars.none { !$0.isSynced } },
            songs.where { $0.stars.any { !$0.isSynced && $0.fan == ada } }, songs.where { $0.stars.count > 3 },
        ] {
            let plan = try query.explain().plan
            #expect(plan.contains { $0.contains("USING INDEX __link_Star_song (song=?)") }, "\(plan)")
        }
        // A unique value is found faster than the stars of a song.
        let plan = try songs.where { $0.stars.contains(Reference(localID: "s")) }.explain().plan
        #expect(plan.contains { $0.contains("(localID=?)") }, "\(plan)")
    }

    @Test(arguments: StoreKind.memoryAndEncrypted)
    func `inverse links of a list are found by the link table`(kind: StoreKind) throws {
        let store = try makeQueryStore(kind: kind)
        try expectSQL(
            store.objects(Tag.self).where { $0.things.any { $0.int > 3 } },
            """
            "Tag" AS t0
            WHERE t0."deleted" = 0
            AND EXISTS (SELECT 1 FROM "__links_Thing_tags" AS t1 JOIN "Thing" AS t2
            WHERE t1."target" = t0."localID" AND t2."__rid" = t1."object" AND t2."deleted" = 0 AND t2."int" > ?)
            ORDER BY t0."localID"
            3
            """)
        try expectSQL(
            store.objects(Tag.self).where { $0.things.count >= 2 },
            """
            "Tag" AS t0
            WHERE t0."deleted" = 0 AND (SELECT COUNT(DISTINCT t2."__rid") FROM "__links_Thing_tags" AS t1 JOIN \
            "Thing" AS t2
            WHERE t1."target" = t0."localID" AND t2."__rid" = t1."object" AND t2."deleted" = 0) >= ?
            ORDER BY t0."localID"
            2
            """)
    }

    @Test(arguments: StoreKind.memoryAndEncrypted)
    func `links are followed through references`(kind: StoreKind) throws {
        let things = try makeQueryStore(kind: kind).objects(Thing.self)
        try expectSQL(
            things.where { $0.owner.things.any { $0.int > 3 } },
            """
            "Thing" AS t0
            LEFT JOIN "Owner" AS t1 ON t1."localID" = t0."owner" AND t1."deleted" = 0
            WHERE t0."deleted" = 0
            AND EXISTS (SELECT 1 FROM "Thing" AS t2
            WHERE likelihood(t2."owner" = t1."localID", 0.000004) AND t2."deleted" = 0 AND t2."int" > ?)
            ORDER BY t0."localID"
            3
            """)
    }

    @Test(arguments: StoreKind.memoryAndEncrypted)
    func `inverse links are results`(kind: StoreKind) throws {
        let store = try makeQueryStore(kind: kind)
        try expectSQL(
            store.objects(Owner("x").identified(by: "o1").things),
            """
            "Thing" AS t0
            WHERE t0."deleted" = 0 AND t0."owner" = ?
            ORDER BY t0."localID"
            'o1'
            """)
        try expectSQL(
            store.objects(Tag("x").identified(by: "t1").things),
            """
            "Thing" AS t0
            WHERE t0."deleted" = 0
            AND EXISTS (SELECT 1 FROM "__links_Thing_tags" AS t1 JOIN "Tag" AS t2
            WHERE t1."object" = t0."__rid" AND t2."localID" = t1."target" AND t2."deleted" = 0 AND t2."localID" = ?)
            ORDER BY t0."localID"
            't1'
            """)
    }
}
