import Foundation
import Tandem
import TandemSync

extension LocalStoreConformance {
    private static func filter(_ predicate: some Tandem.PredicateExpression<Thing>) throws -> LocalFilter {
        LocalFilter(
            node: predicate.asPredicate.node, remote: try RemoteFilter(predicate, format: WireFormat()))
    }

    private static func ids(_ rows: RowSet, _ local: any LocalReading) throws -> [ServerID] {
        try local.localIDs(in: things).compactMap { try local.serverID(of: $0, in: things) }.filter {
            try local.row(of: $0, in: things).map { rows.contains($0) } ?? false
        }
    }

    static let sweepingLaws: [Law] = [
        Law(
            "the synced rows are live objects with a server ID and without an operation",
            inOne: { local in
                for id in ["a", "b", "c"] as [ServerID] { try local.syncedThing(id) }
                try local.edit("a", ["count": 1])
                try local.delete("b")
                try local.thing("t")
                let rows = try local.syncedRows(in: things, where: nil)
                try expect(try rows.count == 1 && ids(rows, local) == ["c"], "they are \(try ids(rows, local))")
                var found: [ServerID: Int64] = [:]
                try local.forEachSyncedRow(in: things, where: nil) { row, id in found[id] = row }
                try expect(try found == ["c": local.row(of: "c", in: things) ?? -1], "the IDs are \(found)")
                try expect(try local.row(of: "none", in: things) == nil, "a missing object has a row")
            }),
        Law(
            "a filter finds the same rows as on the server",
            inOne: { local in
                let thing = Thing.Columns()
                try local.syncedThing("a", ["count": 1, "name": "Ab", "at": .real(100)])
                try local.syncedThing("b", ["count": 2, "name": "ab", "code": "x", "at": .real(200)])
                try local.syncedThing("c", ["count": 3, "name": "b"])
                let cases: [(LocalFilter, [ServerID])] = [
                    (try filter(thing.count > 1), ["b", "c"]),
                    (try filter(thing.count == 1 || thing.count >= 3), ["a", "c"]),
                    (try filter(thing.code == nil), ["a", "c"]), (try filter(thing.code != "x"), ["a", "c"]),
                    (try filter(!(thing.name == "b")), ["a", "b"]), (try filter(thing.name.hasPrefix("a")), ["b"]),
                    (try filter(thing.name.contains("b") && thing.count < 3), ["a", "b"]),
                    (try filter(thing.at < Date(timeIntervalSinceReferenceDate: 150)), ["a"]),
                ]
                for (filter, expected) in cases {
                    let found = try ids(try local.syncedRows(in: things, where: filter), local)
                    try expect(found == expected, "\(filter.remote) finds \(found)")
                }
            }),
        Law(
            "only synced objects are removed, and their references stay unresolved",
            inOne: { local in
                for id in ["a", "b", "c"] as [ServerID] { try local.syncedThing(id) }
                try local.syncedThing("h", ["next": "a"])
                try local.edit("b", ["count": 1])
                let rows = try ["a", "b"].compactMap { try local.row(of: ServerID($0), in: things) }
                try expect(
                    try local.removeSynced(rows + rows + [99999], in: things) == 1, "the wrong number was removed")
                try expect(
                    try !local.hasObject("a", in: things) && local.isThere("b") && local.isThere("c"),
                    "the wrong object was removed")
                try expect(
                    try local.isSynced("h") && local.countOfOperations() == 1,
                    "the removal counts as a change of the app")
                try local.syncedThing("a")
                try expect(try local.value("next", of: "h") == "a", "its reference is not resolved")
            }),
        Law(
            "an unlisted object is removed, and its deferred item stays",
            inOne: { local in
                try local.syncedThing("a", ["code": "x"])
                try local.syncedThing("b", ["code": "y"])
                _ = try local.receive(.thing("b", ["code": "x"], version: "2"), in: things, identity: .client)
                let row = try unwrap(try local.row(of: "b", in: things), "the row of b")
                try expect(try local.removeUnlisted([row], in: things) == 1, "the wrong number was removed")
                try expect(try !local.hasObject("b", in: things), "it still exists")
                let kept = try local.keptItemsWithoutOperation(in: things, after: nil, limit: 9)
                try expect(kept.map(\.serverID) == ["b"] && kept.first?.localID == nil, "what is kept is \(kept)")
                try local.syncedThing("c")
                try local.edit("c", ["count": 1])
                let changed = try unwrap(try local.row(of: "c", in: things), "the row of c")
                try expect(try local.removeUnlisted([changed, row], in: things) == 0, "a changed object was removed")
            }),
        Law(
            "a store has only data of its own models",
            inOne: { local in
                try local.syncedThing("a")
                try local.thing("t")
                try local.setSyncToken(SyncToken(digest: [1]), of: "q", in: things)
                try expect(try local.exchangedTablesWithoutModel().isEmpty, "it has")
            }),
        Law(
            "operations are dropped with their objects",
            inOne: { local in
                try local.syncedThing("s")
                try local.syncedThing("d")
                try local.syncedThing("k")
                try local.edit("s", ["count": 1])
                try local.delete("d")
                try local.thing("t")
                try local.part("p")
                try expect(try local.dropOperations(in: [things], where: nil) == 3, "the wrong number")
                try expect(
                    try local.localIDs(in: things) == ["k"] && local.countOfOperations(in: things) == 0
                        && local.countOfOperations() == 1, "left are \(try local.localIDs(in: things))")
            }),
        Law(
            "operations are dropped by a filter",
            inOne: { local in
                try local.thing("a", ["count": 1])
                try local.thing("b", ["count": 2])
                let some = try filter(Thing.Columns().count == 2)
                try expect(try local.dropOperations(in: [things], where: some) == 1, "the wrong number")
                try expect(try local.localIDs(in: things) == ["a"], "left are \(try local.localIDs(in: things))")
            }),
        Law(
            "dropping a denied operation is refused and changes nothing",
            inOne: { local in
                try local.thing("a")
                try local.thing("b")
                try local.part("p", ["home": "b"])
                try local.syncedThing("s")
                try local.edit("s", ["count": 1])
                try expect(.deleteDenied, "it") { _ = try local.dropOperations(in: [things], where: nil) }
                try expect(
                    try Set(local.localIDs(in: things)) == ["a", "b", "s"] && local.countOfOperations(in: things) == 3,
                    "left are \(try local.localIDs(in: things))")
            }),
        Law(
            "dropping operations together includes the objects that deny each other",
            inOne: { local in
                try local.thing("a")
                try local.part("p", ["home": "a"])
                try expect(try local.dropOperations(in: [things, parts], where: nil) == 2, "the wrong number")
                try expect(
                    try local.localIDs(in: things).isEmpty && local.localIDs(in: parts).isEmpty
                        && local.countOfOperations() == 0, "some are left")
            }),
    ]

    static let rememberingLaws: [Law] = [
        Law("a query's token is stored until it is removed") { bench in
            let date = Date(timeIntervalSince1970: 1_795_000_000.25)
            let token = SyncToken(digest: [1, 2], time: "2026-11-21T03:14:34.003Z", isSettled: true, lastSuccess: date)
            try await bench.write { local in
                try local.setSyncToken(token, of: "a", in: things)
                try local.setSyncToken(SyncToken(digest: [3]), of: "b", in: things)
                try local.setSyncToken(SyncToken(digest: [3]), of: "a", in: parts)
            }
            try await bench.read { local in
                try expect(try local.syncToken(of: "a", in: things) == token, "it is another")
                try expect(try local.syncToken(of: "c", in: things) == nil, "an unset token exists")
                try expect(try local.lastSuccesses() == [things: date], "successes: \(try local.lastSuccesses())")
            }
            try await bench.write { local in
                try local.setSyncToken(nil, of: "b", in: things)
                try expect(try local.syncToken(of: "b", in: things) == nil, "it was not removed")
                try local.removeSyncTokens(of: things)
                try expect(try local.syncToken(of: "a", in: things) == nil, "the table's tokens were not removed")
                try expect(try local.syncToken(of: "a", in: parts) != nil, "another table's token was removed")
            }
        },
        Law(
            "the last success of a table is the latest of its queries",
            inOne: { local in
                for (query, seconds) in [("a", 100.0), ("b", 300), ("c", 200)] {
                    let date = Date(timeIntervalSince1970: seconds)
                    try local.setSyncToken(SyncToken(digest: [1], lastSuccess: date), of: query, in: things)
                }
                try expect(try local.lastSuccesses() == [things: Date(timeIntervalSince1970: 300)], "it is not")
            }),
        Law(
            "a setting is stored until it is removed",
            inOne: { local in
                for key in SyncSetting.allCases { try local.setSyncSetting(key, "of \(key.rawValue)") }
                for key in SyncSetting.allCases {
                    try expect(try local.syncSetting(key) == "of \(key.rawValue)", "\(key) is another's")
                }
                try local.setSyncSetting(.user, nil)
                try expect(
                    try local.syncSetting(.user) == nil && local.syncSetting(.server) != nil, "it was not removed")
            }),
    ]
}
