import Foundation
import Tandem
import TandemSync

extension LocalStoreConformance {
    static let conflictLaws: [Law] = [
        Law(
            "the sides of a conflict tell what each has changed",
            inOne: { local in
                try local.syncedPart("p")
                try local.syncedThing("s", ["count": 1])
                try local.edit("s", ["count": 2, "name": "m", "owner": "p"])
                let item = ServerItem.thing("s", ["count": 3, "name": "m", "code": "x", "owner": "p"], version: "2")
                let id = try local.op("s").id
                let sides = try local.sides(of: id, against: item) { $1 }
                try expect(
                    sides.kind == .update && sides.base == ["count": 1, "name": "n", "owner": .null]
                        && sides.local["count"] == 2 && sides.local["note"] == nil && sides.server?["count"] == 3,
                    "they are \(sides)")
                try expect(sides.changedHere == ["count"], "here it is \(sides.changedHere)")
                try expect(sides.changedThere == ["count", "code"], "there it is \(sides.changedThere)")
                let tombstone = try local.sides(of: id, against: .thing("s", isDeleted: true)) { $1 }
                try expect(
                    tombstone.server == nil && tombstone.isConflict
                        && tombstone.changedHere == ["count", "name", "owner"],
                    "over a tombstone they are \(tombstone)")
                try expect(
                    try local.op("s").state == .pending && local.value("code", of: "s") == .null, "it was written")
            }),
        Law(
            "a rebase takes what was not changed here, and sends the rest on the new version",
            inOne: { local in
                try local.syncedThing("s", ["count": 1])
                try local.edit("s", ["count": 2, "name": "mine"])
                let id = try local.op("s").id
                let item = ServerItem.thing(
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
        Law(
            "a rebase that leaves nothing to be sent ends the operation",
            inOne: { local in
                try local.syncedThing("s")
                try local.edit("s", ["count": 2])
                let item = ServerItem.thing("s", ["count": 2, "name": "theirs"], version: "2")
                let outcome = try local.rebase(try local.op("s").id, onto: item, takingServers: []) { $1 }
                try expect(
                    try outcome == .adopted && local.isSynced("s") && local.value("name", of: "s") == "theirs"
                        && local.object("s", in: things)?.version == "2", "it is \(outcome)")
            }),
        Law(
            "an insert of what is there becomes an update",
            inOne: { local in
                try local.thing("t", ["name": "mine", "count": 2])
                let item = ServerItem.thing("t", ["name": "theirs", "count": 2], version: "2")
                let outcome = try local.rebase(try local.op("t").id, onto: item, takingServers: []) { $1 }
                let out = try local.sendable("t")
                try expect(
                    outcome == .pending && out.operation.kind == .update && out.changed == ["name"]
                        && out.serverID == "t",
                    "it is \(outcome), \(out)")
            }),
        Law(
            "over a tombstone all is to be sent",
            inOne: { local in
                try local.syncedThing("s")
                try local.edit("s", ["count": 2])
                let id = try local.op("s").id
                let outcome = try local.rebase(id, onto: .thing("s", version: "2", isDeleted: true), takingServers: [])
                { $1 }
                let out = try local.sendable("s")
                try expect(
                    try outcome == .pending && out.operation.kind == .update && out.changed.count == 7
                        && out.version == "2" && local.mayHaveDeleted(id) && !out.attemptedKinds.mayUndelete,
                    "it is \(outcome), \(out)")
            }),
        Law(
            "what an undelete has brought back is nobody's change, and all of what is here is to be sent",
            inOne: { local in
                try local.syncedThing("s", ["count": 1, "code": "x"])
                try local.delete("s")
                try local.leaveUncertainOnce(try local.send("s"))
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
        Law(
            "a rebased delete is one of what the server holds now; a tombstone is what it wanted",
            inOne: { local in
                for id in ["a", "b"] as [ServerID] { try local.syncedThing(id) }
                for id in ["a", "b"] as [LocalID] { try local.delete(id) }
                let live = ServerItem.thing("a", ["count": 9], version: "2")
                var outcome = try local.rebase(try local.op("a").id, onto: live, takingServers: []) { $1 }
                let out = try local.sendable("a")
                try expect(
                    outcome == .pending && out.operation.kind == .delete && out.version == "2"
                        && out.values["count"] == 9,
                    "it is \(outcome), \(out)")
                let tombstone = ServerItem.thing("b", isDeleted: true)
                outcome = try local.rebase(try local.op("b").id, onto: tombstone, takingServers: []) { $1 }
                try expect(try outcome == .adopted && !local.hasObject("b", in: things), "it is \(outcome)")
            }),
        Law(
            "a rebase onto another's unique value changes nothing",
            inOne: { local in
                try local.syncedThing("s", version: "1")
                try local.edit("s", ["count": 2])
                try local.thing("t", ["code": "x"])
                let before = try local.op("s")
                try expect(.duplicateValue, "it") {
                    let item = ServerItem.thing("s", ["code": "x", "name": "theirs"], version: "2")
                    _ = try local.rebase(before.id, onto: item, takingServers: []) { $1 }
                }
                try expect(
                    try local.op("s") == before && local.object("s", in: things)?.version == "1"
                        && local.value("name", of: "s") == "n", "a part of it was done")
            }),
        Law(
            "what the server keeps nothing of is inserted anew",
            inOne: { local in
                try local.syncedThing("s")
                try local.edit("s", ["count": 2])
                try local.makeInsert(try local.op("s").id)
                let out = try local.sendable("s")
                try expect(
                    out.operation.kind == .insert && out.serverID == nil && out.version == nil
                        && out.changed.count == 7,
                    "it is \(out)")
                try local.syncedThing("d")
                try local.delete("d")
                try expect(.staleOperation, "of a delete") { try local.makeInsert(try local.op("d").id) }
            }),
    ]

    static let discardingLaws: [Law] = [
        Law(
            "an insert that is given up takes its object along",
            inOne: { local in
                try local.thing("t", ["count": 3])
                try local.syncedThing("h")
                try local.edit("h", ["next": "t"])
                let lost = try local.discard(try local.op("t").id, for: nil)
                try expect(lost.count == 7 && lost["count"] == 3, "what is lost is \(lost)")
                try expect(
                    try !local.hasObject("t", in: things) && local.value("next", of: "h") == .null, "it is there")
                try expect(try local.countOfOperations() == 1, "its operation is there")
            }),
        Law(
            "an insert that may have arrived becomes a delete; one that was refused goes",
            inOne: { local in
                for id in ["a", "b"] as [LocalID] {
                    try local.thing(id)
                    try local.leaveUncertainOnce(try local.send(id))
                }
                try local.fail(try local.op("b").id, refusal, retry: false)
                for id in ["a", "b"] as [LocalID] { _ = try local.discard(try local.op(id).id, for: nil) }
                try expect(try local.op("a").kind == .delete && local.op("a").replaced == .insert, "it is not a delete")
                try expect(try !local.hasObject("b", in: things), "it is still there")
            }),
        Law(
            "an update that is given up returns to what the server last sent",
            inOne: { local in
                try local.syncedThing("s", ["count": 1])
                try local.edit("s", ["count": 2, "name": "m"])
                try local.send("s")
                try local.edit("s", ["count": 3])
                let lost = try local.discard(try local.op("s").id, for: nil)
                try expect(lost == ["count": 3, "name": "m"], "what is lost is \(lost)")
                try expect(
                    try local.isSynced("s") && local.value("count", of: "s") == 1
                        && local.value("name", of: "s") == "n",
                    "it is \(try local.object("s", in: things) as Any)")
            }),
        Law(
            "a delete that is given up comes back, as it was before its update",
            inOne: { local in
                try local.syncedThing("s", ["count": 1])
                try local.edit("s", ["count": 2])
                try local.delete("s")
                let lost = try local.discard(try local.op("s").id, for: nil)
                try expect(lost == ["count": 2], "what is lost is \(lost)")
                try expect(
                    try local.isThere("s") && local.isSynced("s") && local.value("count", of: "s") == 1,
                    "it is not back")
            }),
        Law(
            "what is given up for what the server holds becomes that",
            inOne: { local in
                for id in ["a", "b", "c"] as [ServerID] { try local.syncedThing(id) }
                try local.edit("a", ["count": 2])
                try local.delete("b")
                try local.edit("c", ["count": 2])
                for id in ["a", "b"] as [LocalID] {
                    let item = ServerItem.thing(ServerID(id.rawValue), ["count": 9], version: "2")
                    _ = try local.discard(try local.op(id).id, for: item)
                    try expect(
                        try local.isThere(id) && local.isSynced(id) && local.value("count", of: id) == 9
                            && local.object(id, in: things)?.version == "2", "\(id) is not what the server holds")
                }
                _ = try local.discard(try local.op("c").id, for: .thing("c", isDeleted: true))
                try expect(try !local.hasObject("c", in: things), "over a tombstone it is still there")
            }),
        Law(
            "what is given up, and known to be deleted there, goes, and is waited for",
            inOne: { local in
                try local.thing("t")
                try local.send("t")
                _ = try local.acknowledge(try local.op("t").id, attempt: 1, with: .thing("s"), keepsTombstones: true)
                try local.syncedThing("h", ["next": "s"])
                try local.edit("t", ["count": 2])
                _ = try local.receive(.thing("s", isDeleted: true), in: things, identity: .server(localID: nil))
                _ = try local.discard(try local.op("t").id, for: nil)
                try expect(try !local.hasObject("t", in: things), "it is still there")
                try local.syncedThing("s")
                try expect(try local.value("next", of: "h") == "s", "it was not found again under its server ID")
            }),
        Law(
            "giving up what clashes by now is refused, whole",
            inOne: { local in
                try local.syncedThing("s", ["code": "x"])
                try local.edit("s", ["code": "y"])
                try local.thing("t", ["code": "x"])
                let before = try local.op("s")
                try expect(.duplicateValue, "it") { _ = try local.discard(before.id, for: nil) }
                try expect(try local.op("s") == before && local.value("code", of: "s") == "y", "a part of it was done")
            }),
    ]
}
