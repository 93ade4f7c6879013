import Foundation
import Tandem
import TandemSync

extension LocalStoreConformance {
    private static func filter(_ predicate: some Tandem.PredicateExpression<ConformanceModel>) throws -> LocalFilter {
        LocalFilter(
            node: predicate.asPredicate.node, remote: try RemoteFilter(predicate, format: WireFormat()))
    }

    private static func ids(_ rows: RowSet, _ local: any LocalReadTransaction) throws -> [ServerID] {
        try local.localIDs(in: modelTable).compactMap { try local.serverID(of: $0, in: modelTable) }.filter {
            try local.row(of: $0, in: modelTable).map { rows.contains($0) } ?? false
        }
    }

    static let sweepingRequirements: [Requirement] = [
        Requirement(
            "the synced rows are live objects with a server ID and without an operation",
            inOne: { local in
                for id in ["a", "b", "c"] as [ServerID] { try local.syncedModel(id) }
                try local.edit("a", ["count": 1])
                try local.delete("b")
                try local.insertModel("t")
                let rows = try local.syncedRows(in: modelTable, where: nil)
                try expect(try rows.count == 1 && ids(rows, local) == ["c"], "they are \(try ids(rows, local))")
                var found: [ServerID: Int64] = [:]
                try local.forEachSyncedRow(in: modelTable, where: nil) { row, id in found[id] = row }
                try expect(try found == ["c": local.row(of: "c", in: modelTable) ?? -1], "the IDs are \(found)")
                try expect(try local.row(of: "none", in: modelTable) == nil, "a missing object has a row")
            }),
        Requirement(
            "the items of the server are counted once, whatever changes here",
            inOne: { local in
                func count() throws -> Int { try local.countOfServerItems(in: modelTable) }
                try expect(try count() == 0, "an empty table has \(try count())")
                for id in ["a", "b", "c"] as [ServerID] { try local.syncedModel(id) }
                try local.edit("a", ["count": 1])
                try local.delete("b")
                try local.insertModel("t")
                try expect(try count() == 3, "without deferred items, they are \(try count())")
                // An item for an object with an edit, and one for an object that the server does not know yet.
                for id in ["a", "t"] as [ServerID] {
                    let receipt = try local.applyServerItem(
                        .modelItem(id, ["count": 9], version: "9"), in: modelTable, identity: .client)
                    guard case .deferred = receipt else { return try expect(false, "\(id) is \(receipt)") }
                }
                try expect(try count() == 4, "with deferred items, they are \(try count())")
                _ = try local.applyServerItem(
                    .modelItem("t", version: "10", isDeleted: true), in: modelTable, identity: .client)
                try expect(try count() == 3, "with a deferred tombstone, they are \(try count())")
            }),
        Requirement(
            "a filter finds the same rows as on the server",
            inOne: { local in
                let item = ConformanceModel.Columns()
                try local.syncedModel("a", ["count": 1, "name": "Ab", "at": .real(100)])
                try local.syncedModel("b", ["count": 2, "name": "ab", "code": "x", "at": .real(200)])
                try local.syncedModel("c", ["count": 3, "name": "b"])
                let cases: [(LocalFilter, [ServerID])] = [
                    (try filter(item.count > 1), ["b", "c"]),
                    (try filter(item.count == 1 || item.count >= 3), ["a", "c"]),
                    (try filter(item.code == nil), ["a", "c"]), (try filter(item.code != "x"), ["a", "c"]),
                    (try filter(!(item.name == "b")), ["a", "b"]), (try filter(item.name.hasPrefix("a")), ["b"]),
                    (try filter(item.name.contains("b") && item.count < 3), ["a", "b"]),
                    (try filter(item.at < Date(timeIntervalSinceReferenceDate: 150)), ["a"]),
                ]
                for (filter, expected) in cases {
                    let found = try ids(try local.syncedRows(in: modelTable, where: filter), local)
                    try expect(found == expected, "\(filter.remote) finds \(found)")
                }
            }),
        Requirement(
            "only synced objects are removed, and their references stay unresolved",
            inOne: { local in
                for id in ["a", "b", "c"] as [ServerID] { try local.syncedModel(id) }
                try local.syncedModel("h", ["next": "a"])
                try local.edit("b", ["count": 1])
                let rows = try ["a", "b"].compactMap { try local.row(of: ServerID($0), in: modelTable) }
                try expect(
                    try local.removeSynced(rows + rows + [99999], in: modelTable) == 1, "the wrong number was removed")
                try expect(
                    try !local.hasObject("a", in: modelTable) && local.isThere("b") && local.isThere("c"),
                    "the wrong object was removed")
                try expect(
                    try local.isSynced("h") && local.countOfOperations() == 1,
                    "the removal counts as a change of the app")
                try local.syncedModel("a")
                try expect(try local.value("next", of: "h") == "a", "its reference is not resolved")
            }),
        Requirement(
            "an unlisted object is removed, and its deferred item stays",
            inOne: { local in
                try local.syncedModel("a", ["code": "x"])
                try local.syncedModel("b", ["code": "y"])
                _ = try local.applyServerItem(
                    .modelItem("b", ["code": "x"], version: "2"), in: modelTable, identity: .client)
                let row = try unwrap(try local.row(of: "b", in: modelTable), "the row of b")
                try expect(try local.removeUnlisted([row], in: modelTable) == 1, "the wrong number was removed")
                try expect(try !local.hasObject("b", in: modelTable), "it still exists")
                let kept = try local.deferredItemsWithoutOperation(in: modelTable, after: nil, limit: 9)
                try expect(kept.map(\.serverID) == ["b"] && kept.first?.localID == nil, "what is kept is \(kept)")
                try local.syncedModel("c")
                try local.edit("c", ["count": 1])
                let changed = try unwrap(try local.row(of: "c", in: modelTable), "the row of c")
                try expect(
                    try local.removeUnlisted([changed, row], in: modelTable) == 0, "a changed object was removed")
            }),
        Requirement(
            "a store has only data of its own models",
            inOne: { local in
                try local.syncedModel("a")
                try local.insertModel("t")
                try local.setSyncToken(SyncToken(digest: [1]), of: "q", in: modelTable)
                try expect(try local.exchangedTablesWithoutModel().isEmpty, "it has")
            }),
        Requirement(
            "operations are dropped with their objects",
            inOne: { local in
                try local.syncedModel("s")
                try local.syncedModel("d")
                try local.syncedModel("k")
                try local.edit("s", ["count": 1])
                try local.delete("d")
                try local.insertModel("t")
                try local.part("p")
                try expect(try local.dropOperations(in: [modelTable], where: nil) == 3, "the wrong number")
                try expect(
                    try local.localIDs(in: modelTable) == ["k"] && local.countOfOperations(in: modelTable) == 0
                        && local.countOfOperations() == 1, "left are \(try local.localIDs(in: modelTable))")
            }),
        Requirement(
            "operations are dropped by a filter",
            inOne: { local in
                try local.insertModel("a", ["count": 1])
                try local.insertModel("b", ["count": 2])
                let some = try filter(ConformanceModel.Columns().count == 2)
                try expect(try local.dropOperations(in: [modelTable], where: some) == 1, "the wrong number")
                try expect(
                    try local.localIDs(in: modelTable) == ["a"], "left are \(try local.localIDs(in: modelTable))")
            }),
        Requirement(
            "dropping a denied operation is refused and changes nothing",
            inOne: { local in
                try local.insertModel("a")
                try local.insertModel("b")
                try local.part("p", ["home": "b"])
                try local.syncedModel("s")
                try local.edit("s", ["count": 1])
                try expect(.deleteDenied, "it") { _ = try local.dropOperations(in: [modelTable], where: nil) }
                try expect(
                    try Set(local.localIDs(in: modelTable)) == ["a", "b", "s"]
                        && local.countOfOperations(in: modelTable) == 3,
                    "left are \(try local.localIDs(in: modelTable))")
            }),
        Requirement(
            "dropping operations together includes the objects that deny each other",
            inOne: { local in
                try local.insertModel("a")
                try local.part("p", ["home": "a"])
                try expect(try local.dropOperations(in: [modelTable, parts], where: nil) == 2, "the wrong number")
                try expect(
                    try local.localIDs(in: modelTable).isEmpty && local.localIDs(in: parts).isEmpty
                        && local.countOfOperations() == 0, "some are left")
            }),
    ]

    static let rememberingRequirements: [Requirement] = [
        Requirement("a query's token is stored until it is removed") { bench in
            let date = Date(timeIntervalSince1970: 1_795_000_000.25)
            let token = SyncToken(digest: [1, 2], time: "2026-11-21T03:14:34.003Z", isSettled: true, lastSuccess: date)
            try await bench.write { local in
                try local.setSyncToken(token, of: "a", in: modelTable)
                try local.setSyncToken(SyncToken(digest: [3]), of: "b", in: modelTable)
                try local.setSyncToken(SyncToken(digest: [3]), of: "a", in: parts)
            }
            try await bench.read { local in
                try expect(try local.syncToken(of: "a", in: modelTable) == token, "it is another")
                try expect(try local.syncToken(of: "c", in: modelTable) == nil, "an unset token exists")
                try expect(try local.lastSuccesses() == [modelTable: date], "successes: \(try local.lastSuccesses())")
            }
            try await bench.write { local in
                try local.setSyncToken(nil, of: "b", in: modelTable)
                try expect(try local.syncToken(of: "b", in: modelTable) == nil, "it was not removed")
                try local.removeSyncTokens(of: modelTable)
                try expect(try local.syncToken(of: "a", in: modelTable) == nil, "the table's tokens were not removed")
                try expect(try local.syncToken(of: "a", in: parts) != nil, "another table's token was removed")
            }
        },
        Requirement(
            "the last success of a table is the latest of its queries",
            inOne: { local in
                for (query, seconds) in [("a", 100.0), ("b", 300), ("c", 200)] {
                    let date = Date(timeIntervalSince1970: seconds)
                    try local.setSyncToken(SyncToken(digest: [1], lastSuccess: date), of: query, in: modelTable)
                }
                try expect(try local.lastSuccesses() == [modelTable: Date(timeIntervalSince1970: 300)], "it is not")
            }),
        Requirement(
            "a setting is stored until it is removed",
            inOne: { local in
                for key in SyncSetting.allCases { try local.setSyncSetting(key, to: "of \(key.rawValue)") }
                for key in SyncSetting.allCases {
                    try expect(try local.syncSetting(key) == "of \(key.rawValue)", "\(key) is another's")
                }
                try local.setSyncSetting(.user, to: nil)
                try expect(
                    try local.syncSetting(.user) == nil && local.syncSetting(.server) != nil, "it was not removed")
            }),
    ]
}
