import Foundation
import Tandem
import TandemSync

extension LocalStoreConformance {
    static let conflictRequirements: [Requirement] = [
        Requirement(
            "the sides of a conflict contain the changes of each side",
            inOne: { local in
                try local.syncedPart("p")
                try local.syncedModel("s", ["count": 1])
                try local.edit("s", ["count": 2, "name": "m", "owner": "p"])
                let item = ServerItem.modelItem(
                    "s", ["count": 3, "name": "m", "code": "x", "owner": "p"], version: "2")
                let id = try local.op("s").id
                let sides = try local.sides(of: id, against: item) { $1 }
                try expect(
                    sides.kind == .update && sides.base == ["count": 1, "name": "n", "owner": .null]
                        && sides.local["count"] == 2 && sides.local["note"] == nil && sides.server?["count"] == 3,
                    "they are \(sides)")
                try expect(sides.changedHere == ["count"], "here it is \(sides.changedHere)")
                try expect(sides.changedThere == ["count", "code"], "there it is \(sides.changedThere)")
                let tombstone = try local.sides(of: id, against: .modelItem("s", isDeleted: true)) { $1 }
                try expect(
                    tombstone.server == nil && tombstone.isConflict
                        && tombstone.changedHere == ["count", "name", "owner"],
                    "over a tombstone they are \(tombstone)")
                try expect(
                    try local.op("s").state == .pending && local.value("code", of: "s") == .null, "it was written")
            }),
        Requirement(
            "a rebase adopts unchanged properties and keeps local changes on the new version",
            inOne: { local in
                try local.syncedModel("s", ["count": 1])
                try local.edit("s", ["count": 2, "name": "mine"])
                let id = try local.op("s").id
                let item = ServerItem.modelItem(
                    "s", ["count": 3, "name": "theirs", "code": "x"], version: "2", extras: [4])
                let outcome = try local.rebase(id, onto: item, takingServers: ["name"]) { $1 }
                let out = try local.sendable("s")
                try expect(outcome == .pending && out.changed == ["count"], "it is \(outcome), \(out.changed)")
                try expect(
                    out.version == "2" && out.operation.base == ["count": 3] && out.operation.id == id
                        && out.extras == [4] && out.operation.state == .pending, "it is \(out)")
                try expect(
                    out.values["count"] == 2 && out.values["name"] == "theirs" && out.values["code"] == "x",
                    "its values are \(out.values)")
            }),
        Requirement(
            "a rebase without remaining changes ends the operation",
            inOne: { local in
                try local.syncedModel("s")
                try local.edit("s", ["count": 2])
                let item = ServerItem.modelItem("s", ["count": 2, "name": "theirs"], version: "2")
                let outcome = try local.rebase(try local.op("s").id, onto: item, takingServers: []) { $1 }
                try expect(
                    try outcome == .adopted && local.isSynced("s") && local.value("name", of: "s") == "theirs"
                        && local.object("s", in: modelTable)?.version == "2", "it is \(outcome)")
            }),
        Requirement(
            "an insert of an existing item becomes an update",
            inOne: { local in
                try local.insertModel("t", ["name": "mine", "count": 2])
                let item = ServerItem.modelItem("t", ["name": "theirs", "count": 2], version: "2")
                let outcome = try local.rebase(try local.op("t").id, onto: item, takingServers: []) { $1 }
                let out = try local.sendable("t")
                try expect(
                    outcome == .pending && out.operation.kind == .update && out.changed == ["name"]
                        && out.serverID == "t",
                    "it is \(outcome), \(out)")
            }),
        Requirement(
            "a rebase onto a tombstone sends the whole object",
            inOne: { local in
                try local.syncedModel("s")
                try local.edit("s", ["count": 2])
                let id = try local.op("s").id
                let outcome = try local.rebase(
                    id, onto: .modelItem("s", version: "2", isDeleted: true), takingServers: []
                ) { $1 }
                let out = try local.sendable("s")
                try expect(
                    try outcome == .pending && out.operation.kind == .update && out.changed.count == 7
                        && out.version == "2" && local.mayHaveDeleted(id) && !out.attemptedKinds.mayUndelete,
                    "it is \(outcome), \(out)")
            }),
        Requirement(
            "the values after an undelete are not a foreign change, and the whole object is sent",
            inOne: { local in
                try local.syncedModel("s", ["count": 1, "code": "x"])
                try local.delete("s")
                try local.markOutcomeUnknownOnce(try local.send("s"))
                try local.edit("s", ["count": 1])
                let id = try local.op("s").id
                var item = ServerItem(
                    serverID: "s", version: "3", values: ["count": 0, "code": .null, "owner": .null, "at": .null])
                item.wasUndeleted = true
                let sides = try local.sides(of: id, against: item) { $1 }
                try expect(
                    !sides.isConflict && sides.changedHere == ["name", "count", "code", "next", "parts"],
                    "they are \(sides)")
                let outcome = try local.rebase(id, onto: item, takingServers: []) { $1 }
                let out = try local.sendable("s")
                try expect(
                    outcome == .pending && out.operation.kind == .update && out.version == "3"
                        && out.changed == ["name", "count", "code", "next", "parts"], "it is \(outcome), \(out)")
                try expect(
                    out.values["name"] == "n" && out.values["count"] == 1 && out.values["code"] == "x"
                        && out.attemptedKinds.isEmpty, "its values are \(out.values)")
            }),
        Requirement(
            "a rebased delete applies to the new version, and a tombstone completes it",
            inOne: { local in
                for id in ["a", "b"] as [ServerID] { try local.syncedModel(id) }
                for id in ["a", "b"] as [LocalID] { try local.delete(id) }
                let live = ServerItem.modelItem("a", ["count": 9], version: "2")
                var outcome = try local.rebase(try local.op("a").id, onto: live, takingServers: []) { $1 }
                let out = try local.sendable("a")
                try expect(
                    outcome == .pending && out.operation.kind == .delete && out.version == "2"
                        && out.values["count"] == 9,
                    "it is \(outcome), \(out)")
                let tombstone = ServerItem.modelItem("b", isDeleted: true)
                outcome = try local.rebase(try local.op("b").id, onto: tombstone, takingServers: []) { $1 }
                try expect(try outcome == .adopted && !local.hasObject("b", in: modelTable), "it is \(outcome)")
            }),
        Requirement(
            "a rebase onto a duplicate unique value changes nothing",
            inOne: { local in
                try local.syncedModel("s", version: "1")
                try local.edit("s", ["count": 2])
                try local.insertModel("t", ["code": "x"])
                let before = try local.op("s")
                try expect(.duplicateValue, "it") {
                    let item = ServerItem.modelItem("s", ["code": "x", "name": "theirs"], version: "2")
                    _ = try local.rebase(before.id, onto: item, takingServers: []) { $1 }
                }
                try expect(
                    try local.op("s") == before && local.object("s", in: modelTable)?.version == "1"
                        && local.value("name", of: "s") == "n", "a part of it was done")
            }),
        Requirement(
            "an object unknown to the server is inserted again",
            inOne: { local in
                try local.syncedModel("s")
                try local.edit("s", ["count": 2])
                try local.makeInsert(try local.op("s").id)
                let out = try local.sendable("s")
                try expect(
                    out.operation.kind == .insert && out.serverID == nil && out.version == nil
                        && out.changed.count == 7,
                    "it is \(out)")
                try local.syncedModel("d")
                try local.delete("d")
                try expect(.staleOperation, "of a delete") { try local.makeInsert(try local.op("d").id) }
            }),
    ]

    static let discardingRequirements: [Requirement] = [
        Requirement(
            "discarding an insert removes its object",
            inOne: { local in
                try local.insertModel("t", ["count": 3])
                try local.syncedModel("h")
                try local.edit("h", ["next": "t"])
                let lost = try local.discard(try local.op("t").id, for: nil)
                try expect(lost.count == 7 && lost["count"] == 3, "what is lost is \(lost)")
                try expect(
                    try !local.hasObject("t", in: modelTable) && local.value("next", of: "h") == .null,
                    "it still exists")
                try expect(try local.countOfOperations() == 1, "its operation still exists")
            }),
        Requirement(
            "discarding an insert that may have arrived makes it a delete, a refused one is removed",
            inOne: { local in
                for id in ["a", "b"] as [LocalID] {
                    try local.insertModel(id)
                    try local.markOutcomeUnknownOnce(try local.send(id))
                }
                try local.fail(try local.op("b").id, with: refusal, retry: false)
                for id in ["a", "b"] as [LocalID] { _ = try local.discard(try local.op(id).id, for: nil) }
                try expect(try local.op("a").kind == .delete && local.op("a").replaced == .insert, "it is not a delete")
                try expect(try !local.hasObject("b", in: modelTable), "it still exists")
            }),
        Requirement(
            "discarding an update restores the server's last values",
            inOne: { local in
                try local.syncedModel("s", ["count": 1])
                try local.edit("s", ["count": 2, "name": "m"])
                try local.send("s")
                try local.edit("s", ["count": 3])
                let lost = try local.discard(try local.op("s").id, for: nil)
                try expect(lost == ["count": 3, "name": "m"], "what is lost is \(lost)")
                try expect(
                    try local.isSynced("s") && local.value("count", of: "s") == 1
                        && local.value("name", of: "s") == "n",
                    "it is \(try local.object("s", in: modelTable) as Any)")
            }),
        Requirement(
            "discarding a delete restores the object as before its update",
            inOne: { local in
                try local.syncedModel("s", ["count": 1])
                try local.edit("s", ["count": 2])
                try local.delete("s")
                let lost = try local.discard(try local.op("s").id, for: nil)
                try expect(lost == ["count": 2], "what is lost is \(lost)")
                try expect(
                    try local.isThere("s") && local.isSynced("s") && local.value("count", of: "s") == 1,
                    "it is not back")
            }),
        Requirement(
            "discarding an operation for the server's item adopts that item",
            inOne: { local in
                for id in ["a", "b", "c"] as [ServerID] { try local.syncedModel(id) }
                try local.edit("a", ["count": 2])
                try local.delete("b")
                try local.edit("c", ["count": 2])
                for id in ["a", "b"] as [LocalID] {
                    let item = ServerItem.modelItem(ServerID(id.rawValue), ["count": 9], version: "2")
                    _ = try local.discard(try local.op(id).id, for: item)
                    try expect(
                        try local.isThere(id) && local.isSynced(id) && local.value("count", of: id) == 9
                            && local.object(id, in: modelTable)?.version == "2", "\(id) is not what the server holds")
                }
                _ = try local.discard(try local.op("c").id, for: .modelItem("c", isDeleted: true))
                try expect(try !local.hasObject("c", in: modelTable), "it still exists despite a tombstone")
            }),
        Requirement(
            "discarding a change of an object deleted on the server leaves its references unresolved",
            inOne: { local in
                try local.insertModel("t")
                try local.send("t")
                _ = try local.acknowledge(
                    try local.op("t").id, attempt: 1, with: .modelItem("s"), keepsTombstones: true)
                try local.syncedModel("h", ["next": "s"])
                try local.edit("t", ["count": 2])
                _ = try local.applyServerItem(
                    .modelItem("s", isDeleted: true), in: modelTable, identity: .server(localID: nil))
                _ = try local.discard(try local.op("t").id, for: nil)
                try expect(try !local.hasObject("t", in: modelTable), "it still exists")
                try local.syncedModel("s")
                try expect(try local.value("next", of: "h") == "s", "it was not found again under its server ID")
            }),
        Requirement(
            "a discard with a duplicate unique value is refused and changes nothing",
            inOne: { local in
                try local.syncedModel("s", ["code": "x"])
                try local.edit("s", ["code": "y"])
                try local.insertModel("t", ["code": "x"])
                let before = try local.op("s")
                try expect(.duplicateValue, "it") { _ = try local.discard(before.id, for: nil) }
                try expect(try local.op("s") == before && local.value("code", of: "s") == "y", "a part of it was done")
            }),
    ]
}
