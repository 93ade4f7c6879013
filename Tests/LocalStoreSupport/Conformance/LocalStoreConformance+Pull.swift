import Foundation
import Tandem
import TandemSync

extension LocalStoreConformance {
    static let receivingRequirements: [Requirement] = [
        Requirement(
            "a received item is stored without an operation",
            inOne: { local in
                var item = ServerItem.modelItem("s", ["count": 4], version: "v", extras: [1])
                item.createdAt = Date(timeIntervalSince1970: 3)
                let receipt = try local.applyServerItem(item, in: modelTable, identity: .client)
                guard case .inserted("s") = receipt else { return try expect(false, "it is \(receipt)") }
                let object = try unwrap(try local.object("s", in: modelTable), "object")
                try expect(
                    object.serverID == "s" && object.version == "v" && object.createdAt == item.createdAt
                        && object.updatedAt == item.updatedAt && object.extras == [1] && object.values["count"] == 4
                        && object.values["note"] == "", "it is \(object)")
                try expect(try local.countOfOperations() == 0 && local.isSynced("s"), "it has an operation")
            }),
        Requirement(
            "a received item changes only different values",
            inOne: { local in
                try local.syncedModel("s", ["count": 4])
                try local.edit("s", ["note": "mine"])
                var receipt = try local.applyServerItem(
                    .modelItem("s", ["count": 4]), in: modelTable, identity: .client)
                guard case .unchanged = receipt else { return try expect(false, "the same is \(receipt)") }
                receipt = try local.applyServerItem(
                    .modelItem("s", ["count": 5], version: "2"), in: modelTable, identity: .client)
                guard case .updated("s") = receipt else { return try expect(false, "another is \(receipt)") }
                try expect(
                    try local.value("count", of: "s") == 5 && local.value("note", of: "s") == "mine"
                        && local.object("s", in: modelTable)?.version == "2", "it is not what was sent")
                receipt = try local.applyServerItem(
                    .modelItem("s", ["count": 6], version: "2"), in: modelTable, identity: .client)
                guard case .updated = receipt else {
                    return try expect(false, "an unchanged version with other values is \(receipt)")
                }
                let part = ServerItem(serverID: "s", version: "3", values: ["name": "m"])
                _ = try local.applyServerItem(part, in: modelTable, identity: .client)
                try expect(try local.value("count", of: "s") == 6, "a missing value was changed")
            }),
        Requirement(
            "a received item with a taken local ID gets a new one",
            inOne: { local in
                try local.insertModel("x")
                let receipt = try local.applyServerItem(
                    .modelItem("x"), in: modelTable, identity: .server(localID: nil))
                guard case .inserted(let id) = receipt else { return try expect(false, "it is \(receipt)") }
                try expect(try id != "x" && local.serverID(of: id, in: modelTable) == "x", "it is \(id)")
            }),
        Requirement(
            "a tombstone removes the object, and has no effect without one",
            inOne: { local in
                try local.syncedModel("s")
                var receipt = try local.applyServerItem(
                    .modelItem("s", isDeleted: true), in: modelTable, identity: .client)
                guard case .removed("s") = receipt else { return try expect(false, "it is \(receipt)") }
                try expect(
                    try !local.hasObject("s", in: modelTable) && local.countOfOperations() == 0, "it still exists")
                receipt = try local.applyServerItem(.modelItem("s", isDeleted: true), in: modelTable, identity: .client)
                guard case .unknownTombstone = receipt else { return try expect(false, "again it is \(receipt)") }
            }),
        Requirement(
            "the items of a page are received in their order",
            inOne: { local in
                try local.syncedModel("s")
                var broken = ServerItem.modelItem("u")
                broken.unreadable = TandemError(.invalidValue, message: "It is odd.", advice: "None.")
                let items: [ServerItem] = [
                    .modelItem("a", ["count": 1]), .modelItem("s", ["next": "a"], version: "2"), broken,
                    .modelItem("a", ["count": 2], version: "2"), .modelItem("b", isDeleted: true),
                    .modelItem("b", ["next": "c", "code": "1"]), .modelItem("c"), .modelItem("d", ["code": "1"]),
                    .modelItem("e", ["next": "b"]), .modelItem("a", ["count": 3], version: "3"),
                    .modelItem("c", isDeleted: true),
                ]
                let receipts = try local.applyServerItems(
                    items.map { ($0, IdentityRule.client) }, in: modelTable)
                let outcomes = receipts.map { receipt in
                    switch receipt {
                    case .inserted(let id): "+\(id)"
                    case .updated(let id): "=\(id)"
                    case .removed(let id): "-\(id)"
                    case .unchanged: "same"
                    case .unknownTombstone: "none"
                    case .deferred: "deferred"
                    case .refused(let error): error.code == .invalidValue ? "unreadable" : "refused"
                    }
                }
                let expected = [
                    "+a", "=s", "unreadable", "=a", "none", "+b", "+c", "refused", "+e", "=a", "-c",
                ]
                try expect(outcomes == expected, "they are \(outcomes)")
                try expect(
                    try local.value("count", of: "a") == 3 && local.value("next", of: "s") == "a"
                        && local.value("next", of: "e") == "b" && !local.isThere("d") && !local.isThere("c"),
                    "they are not what the last items say")
                let kept = try local.deferredItemsWithoutOperation(in: modelTable, after: nil, limit: 9)
                try expect(kept.map(\.serverID) == ["d", "u"], "it has kept \(kept)")
                try expect(try local.countOfOperations() == 0, "something is to be sent")
            }),
        Requirement(
            "a received item is deferred if its object has an operation",
            inOne: { local in
                try local.syncedModel("s")
                try local.edit("s", ["count": 2])
                let id = try local.op("s").id
                let receipt = try local.applyServerItem(
                    .modelItem("s", ["count": 7], version: "2"), in: modelTable, identity: .client)
                guard case .deferred(id) = receipt else { return try expect(false, "it is \(receipt)") }
                let kept = try unwrap(try local.deferredItem(of: id), "kept item")
                try expect(
                    kept.serverID == "s" && kept.localID == "s" && kept.version == "2" && kept.reason == .pending
                        && !kept.isDeleted && kept.source == Array("s 2".utf8), "it is \(kept)")
                try expect(
                    try local.value("count", of: "s") == 2 && local.object("s", in: modelTable)?.version == "1"
                        && local.op("s").base == ["count": 0], "the object was written")
                try expect(
                    try local.deferredItemsWithoutOperation(in: modelTable, after: nil, limit: 9).isEmpty,
                    "it is without operation")
                let tombstone = try local.applyServerItem(
                    .modelItem("s", version: "3", isDeleted: true), in: modelTable, identity: .client)
                guard case .deferred = tombstone else { return try expect(false, "a tombstone is \(tombstone)") }
                try expect(
                    try local.isThere("s") && local.deferredItem(of: id)?.isDeleted == true,
                    "the newest item is not deferred")
            }),
        Requirement(
            "a received item equal to the operation's base removes the deferred item",
            inOne: { local in
                try local.syncedModel("s")
                try local.edit("s", ["count": 2])
                let id = try local.op("s").id
                _ = try local.applyServerItem(
                    .modelItem("s", ["count": 7], version: "2"), in: modelTable, identity: .client)
                let receipt = try local.applyServerItem(
                    .modelItem("s", version: "1"), in: modelTable, identity: .client)
                guard case .unchanged = receipt else { return try expect(false, "it is \(receipt)") }
                try expect(try local.deferredItem(of: id) == nil, "the deferred item still exists")
            }),
        Requirement(
            "a deferred item is removed once its operation is based on it",
            inOne: { local in
                for id in ["a", "b", "c"] as [ServerID] {
                    try local.syncedModel(id)
                    try local.edit(LocalID(id.rawValue), ["count": 2])
                    _ = try local.applyServerItem(
                        .modelItem(id, ["code": .text(id.rawValue)], version: "2"), in: modelTable, identity: .client)
                }
                let c = try local.op("c").id
                _ = try local.rebase(
                    try local.op("a").id, onto: .modelItem("a", ["code": "a"], version: "2"), takingServers: []
                ) { $1 }
                _ = try local.discard(try local.op("b").id, for: .modelItem("b", ["code": "b"], version: "2"))
                try expect(try local.deferredItem(of: try local.op("a").id) == nil, "it still exists after a rebase")
                try expect(
                    try local.deferredItemsWithoutOperation(in: modelTable, after: nil, limit: 9).isEmpty,
                    "it still exists after a discard")
                // A deferred item is not newer than the item that has replaced it since.
                _ = try local.applyServerItem(
                    .modelItem("c", ["code": "d"], version: "3"), in: modelTable, identity: .client)
                var old = ServerItem.modelItem("c", ["code": "c"], version: "2")
                old.wasDeferred = true
                _ = try local.rebase(c, onto: old, takingServers: []) { $1 }
                try expect(try local.deferredItem(of: c)?.version == "3", "the newer deferred item is lost")
            }),
        Requirement(
            "a deferred item without operation can be received",
            inOne: { local in
                for id in ["b", "a"] as [ServerID] {
                    try local.syncedModel(id)
                    try local.edit(LocalID(id.rawValue), ["count": 2])
                    _ = try local.applyServerItem(
                        .modelItem(id, ["count": 7], version: "2"), in: modelTable, identity: .client)
                    _ = try local.discard(try local.op(LocalID(id.rawValue)).id, for: nil)
                }
                let kept = try local.deferredItemsWithoutOperation(in: modelTable, after: nil, limit: 9)
                try expect(kept.map(\.serverID) == ["a", "b"], "they are \(kept.map(\.serverID))")
                let rest = try local.deferredItemsWithoutOperation(in: modelTable, after: "a", limit: 1)
                try expect(rest.map(\.serverID) == ["b"], "after the first they are \(rest.map(\.serverID))")
                _ = try local.applyServerItem(
                    .modelItem("a", ["count": 7], version: "2"), in: modelTable, identity: .client)
                try expect(
                    try local.deferredItemsWithoutOperation(in: modelTable, after: nil, limit: 9).count == 1,
                    "it is still deferred")
            }),
        Requirement(
            "a received item without a required value is refused",
            inOne: { local in
                try expect(.invalidValue, "it") {
                    _ = try local.applyServerItem(
                        ServerItem(serverID: "s", version: "1", values: ["count": 1]), in: modelTable, identity: .client
                    )
                }
                try expect(try local.localIDs(in: modelTable).isEmpty, "it exists")
            }),
    ]

    static let clashRequirements: [Requirement] = [
        Requirement(
            "a received item with a duplicate unique value is refused and deferred",
            inOne: { local in
                try local.insertModel("t", ["code": "x"])
                let receipt = try local.applyServerItem(
                    .modelItem("s", ["code": "x"]), in: modelTable, identity: .client)
                guard case .refused(let error) = receipt else { return try expect(false, "it is \(receipt)") }
                try expect(error.code == .duplicateValue && error.property == "code", "it is \(error)")
                try expect(try !local.hasObject("s", in: modelTable), "it exists")
                let kept = try local.deferredItemsWithoutOperation(in: modelTable, after: nil, limit: 9)
                try expect(
                    kept.map(\.serverID) == ["s"] && kept.first?.reason == .refused && kept.first?.localID == nil
                        && kept.first?.message != nil, "what is kept is \(kept)")
                try local.delete("t")
                guard
                    case .inserted = try local.applyServerItem(
                        .modelItem("s", ["code": "x"]), in: modelTable, identity: .client)
                else {
                    return try expect(false, "it is still refused")
                }
                try expect(
                    try local.deferredItemsWithoutOperation(in: modelTable, after: nil, limit: 9).isEmpty,
                    "it is still deferred")
            }),
        Requirement(
            "a refused item leaves the object unchanged",
            inOne: { local in
                try local.syncedModel("a", ["code": "x"])
                try local.syncedModel("b")
                let receipt = try local.applyServerItem(
                    .modelItem("b", ["code": "x", "count": 5], version: "2"), in: modelTable, identity: .client)
                guard case .refused = receipt else { return try expect(false, "it is \(receipt)") }
                try expect(
                    try local.value("count", of: "b") == 0 && local.object("b", in: modelTable)?.version == "1",
                    "it is changed")
            }),
        Requirement(
            "items that exchange unique values are received together",
            inOne: { local in
                for (id, code) in [("a", "1"), ("b", "2"), ("c", "3")] {
                    try local.syncedModel(ServerID(id), ["code": .text(code)])
                }
                let swapped = [("a", "2"), ("b", "1"), ("d", "3"), ("c", "4")].map { id, code in
                    ServerItem.modelItem(ServerID(id), ["code": .text(code)], version: "2")
                }
                let receipts = try local.receiveTogether(swapped, in: modelTable, identity: .client)
                try expect(receipts.count == 4, "there are \(receipts.count) receipts")
                for receipt in receipts {
                    if case .refused(let error) = receipt { try expect(false, "one is refused: \(error)") }
                }
                let codes = try ["a", "b", "c", "d"].map { try local.value("code", of: LocalID($0)) }
                try expect(codes == ["2", "1", "4", "3"], "they are \(codes)")
                try expect(
                    try local.countOfOperations() == 0
                        && local.deferredItemsWithoutOperation(in: modelTable, after: nil, limit: 9).isEmpty,
                    "something is left")
            }),
        Requirement(
            "items that conflict with an object outside the group stay refused",
            inOne: { local in
                try local.insertModel("t", ["code": "9"])
                for (id, code) in [("a", "1"), ("b", "2")] {
                    try local.syncedModel(ServerID(id), ["code": .text(code)])
                }
                let items = [("a", "2"), ("b", "9")].map { id, code in
                    ServerItem.modelItem(ServerID(id), ["code": .text(code)], version: "2")
                }
                let receipts = try local.receiveTogether(items, in: modelTable, identity: .client)
                for receipt in receipts {
                    guard case .refused = receipt else { return try expect(false, "one is \(receipt)") }
                }
                try expect(
                    try local.value("code", of: "a") == "1" && local.value("code", of: "b") == "2"
                        && local.isThere("a") && local.isThere("b"), "they were changed")
                try expect(
                    try local.deferredItemsWithoutOperation(in: modelTable, after: nil, limit: 9).count == 2,
                    "they are not deferred")
            }),
    ]
}
