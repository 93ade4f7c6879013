import Foundation
import Tandem
import TandemSync

extension LocalStoreConformance {
    static let responseRequirements: [Requirement] = [
        Requirement(
            "an acknowledged insert is synced and has the server's values",
            inOne: { local in
                try local.insertModel("t", ["count": 1])
                let attempt = try local.send("t")
                var item = ServerItem.modelItem("s", ["count": 5], version: "v", extras: [1])
                item.createdAt = Date(timeIntervalSince1970: 7)
                let outcome = try local.acknowledge(attempt.id, attempt: 1, with: item, keepsTombstones: true)
                try expect(outcome == .done, "it is \(outcome)")
                let object = try unwrap(try local.object("t", in: modelTable), "object")
                try expect(
                    object.serverID == "s" && object.version == "v" && object.createdAt == item.createdAt
                        && object.updatedAt == item.updatedAt && object.extras == [1] && object.values["count"] == 5,
                    "it is \(object)")
                try expect(
                    try local.isSynced("t") && local.serverID(of: "t", in: modelTable) == "s", "it is not synced")
            }),
        Requirement(
            "a change during an attempt stays pending on the new version",
            inOne: { local in
                try local.syncedModel("s")
                try local.edit("s", ["count": 1])
                let attempt = try local.send("s")
                try local.edit("s", ["name": "m"])
                let item = ServerItem.modelItem("s", ["count": 1, "code": "x", "name": "theirs"], version: "2")
                let outcome = try local.acknowledge(attempt.id, attempt: 1, with: item, keepsTombstones: true)
                try expect(outcome == .stillPending, "it is \(outcome)")
                let out = try local.sendable("s")
                try expect(
                    out.version == "2" && out.changed == ["name"] && out.operation.base == ["name": "theirs"]
                        && out.operation.id == attempt.id && out.attemptedKinds.isEmpty, "it is \(out)")
                try expect(
                    try local.value("name", of: "s") == "m" && local.value("code", of: "s") == "x",
                    "its values are wrong")
            }),
        Requirement(
            "the response to an object deleted meanwhile leaves its delete pending",
            inOne: { local in
                try local.insertModel("t")
                let attempt = try local.send("t")
                try local.edit("t", ["count": 1])
                try local.delete("t")
                let outcome = try local.acknowledge(
                    attempt.id, attempt: 1, with: .modelItem("s"), keepsTombstones: true)
                let operation = try local.op("t")
                try expect(
                    outcome == .stillPending && operation.kind == .delete && operation.replaced == .update
                        && operation.state == .pending, "it is \(outcome), \(operation)")
                try expect(try local.serverID(of: "t", in: modelTable) == "s", "it is not known")
            }),
        Requirement(
            "an acknowledged delete removes the object",
            inOne: { local in
                try local.syncedModel("s")
                try local.delete("s")
                let attempt = try local.send("s")
                let outcome = try local.acknowledge(attempt.id, attempt: 1, with: nil, keepsTombstones: true)
                try expect(
                    try outcome == .done && !local.hasObject("s", in: modelTable) && local.countOfOperations() == 0,
                    "it is \(outcome)")
            }),
        Requirement(
            "an object restored during its delete is undeleted on the server",
            inOne: { local in
                try local.syncedModel("s")
                try local.delete("s")
                let attempt = try local.send("s")
                try local.edit("s", ["count": 1])
                let outcome = try local.acknowledge(
                    attempt.id, attempt: 1, with: .modelItem("s", version: "2", isDeleted: true), keepsTombstones: true)
                let out = try local.sendable("s")
                try expect(
                    outcome == .stillPending && out.operation.kind == .update && out.changed.count == 7
                        && out.serverID == "s" && out.version == "2", "it is \(outcome), \(out)")
                try expect(try local.mayHaveDeleted(attempt.id), "the delete on the server is forgotten")
                try expect(try local.deferredItem(of: attempt.id)?.isDeleted == true, "the tombstone is not kept")
            }),
        Requirement(
            "an object restored during its delete is inserted if the server keeps no tombstones",
            inOne: { local in
                try local.syncedModel("s")
                try local.delete("s")
                let attempt = try local.send("s")
                try local.edit("s", ["count": 1])
                let outcome = try local.acknowledge(attempt.id, attempt: 1, with: nil, keepsTombstones: false)
                let out = try local.sendable("s")
                try expect(
                    outcome == .stillPending && out.operation.kind == .insert && out.serverID == nil
                        && out.version == nil
                        && out.attemptedKinds.isEmpty, "it is \(outcome), \(out)")
            }),
        Requirement(
            "the response to a completed attempt changes nothing",
            inOne: { local in
                try local.insertModel("t")
                let attempt = try local.send("t")
                try local.send("t")
                let outcome = try local.acknowledge(
                    attempt.id, attempt: 1, with: .modelItem("s"), keepsTombstones: true)
                try expect(try outcome == .stale && local.serverID(of: "t", in: modelTable) == nil, "it is \(outcome)")
                try expect(
                    try local.acknowledge(999, attempt: 1, with: .modelItem("s"), keepsTombstones: true) == .stale,
                    "no operation")
            }),
        Requirement(
            "the response to an insert or update must be a live item",
            inOne: { local in
                try local.insertModel("t")
                let attempt = try local.send("t")
                for item in [nil, ServerItem.modelItem("t", isDeleted: true)] {
                    try expect(.invalidValue, "a response with \(String(describing: item))") {
                        _ = try local.acknowledge(attempt.id, attempt: 1, with: item, keepsTombstones: true)
                    }
                }
                try expect(try local.op("t").state == .attempted, "it is \(try local.op("t").state)")
            }),
        Requirement(
            "the response to an operation held in flight counts, and its rest stays held",
            inOne: { local in
                for id in ["a", "b"] as [LocalID] {
                    try local.insertModel(id)
                    try local.send(id)
                    try local.hold(try local.op(id).id)
                }
                try local.edit("b", ["count": 1])
                let outcomes = try ["a", "b"].map { id in
                    try local.acknowledge(
                        try local.op(LocalID(id)).id, attempt: 1, with: .modelItem(ServerID(id)), keepsTombstones: true)
                }
                try expect(
                    try outcomes == [.done, .stillPending] && local.op("b").state == .held, "they are \(outcomes)")
            }),
        Requirement(
            "a response with a duplicate unique value is deferred, and the change is not resent",
            inOne: { local in
                try local.insertModel("a", ["code": "x"])
                try local.insertModel("b")
                let attempt = try local.send("b")
                let outcome = try local.acknowledge(
                    attempt.id, attempt: 1, with: .modelItem("b", ["code": "x"], version: "5"), keepsTombstones: true)
                try expect(outcome == .refusedHere, "it is \(outcome)")
                try expect(try local.isSynced("b") && local.value("code", of: "b") == .null, "it is to be sent again")
                try expect(try local.object("b", in: modelTable)?.version == nil, "it has the version of other values")
                let kept = try local.deferredItemsWithoutOperation(in: modelTable, after: nil, limit: 9)
                try expect(kept.map(\.serverID) == ["b"] && kept.first?.reason == .refused, "what is kept is \(kept)")
            }),
    ]

    static let lostResponseRequirements: [Requirement] = [
        Requirement(
            "an object pulled after a lost response is merged with its local original",
            inOne: { local in
                try local.insertModel("t", ["name": "mine"])
                let attempt = try local.send("t")
                try local.markOutcomeUnknownOnce(attempt)
                try local.syncedModel("s1", ["name": "mine"])
                try local.syncedModel("h", ["next": "s1"])
                try local.edit("s1", ["count": 4])
                let again = try local.send("t")
                let outcome = try local.acknowledge(
                    again.id, attempt: 2, with: .modelItem("s1", ["name": "mine"]), keepsTombstones: true)
                try expect(outcome == .stillPending, "a change of the pulled copy is lost: \(outcome)")
                try expect(
                    try local.localIDs(in: modelTable) == ["h", "t"], "they are \(try local.localIDs(in: modelTable))")
                try expect(
                    try local.op("t").kind == .update && local.op("t").base == ["count": 0]
                        && local.value("count", of: "t") == 4, "its operation is \(try local.op("t"))")
                try expect(try local.value("next", of: "h") == "t", "a reference leads to the removed object")
            }),
        Requirement(
            "a response with the ID of an older object is refused",
            inOne: { local in
                try local.syncedModel("s1")
                try local.insertModel("t")
                let attempt = try local.send("t")
                try expect(.duplicateID, "a response") {
                    _ = try local.acknowledge(attempt.id, attempt: 1, with: .modelItem("s1"), keepsTombstones: true)
                }
                try expect(
                    try local.op("t").state == .attempted && local.hasObject("s1", in: modelTable), "a part was done")
            }),
        Requirement(
            "each value sent since the last response counts as our own",
            inOne: { local in
                try local.syncedModel("s")
                for count in [1, 2, 3] as [Int64] {
                    try local.edit("s", ["count": .integer(count)])
                    try local.markOutcomeUnknownOnce(try local.send("s"))
                }
                try local.edit("s", ["count": 4])
                for count in [0, 1, 2, 3, 4] as [Int64] {
                    let item = ServerItem.modelItem("s", ["count": .integer(count)], version: "9")
                    let sides = try local.sides(of: try local.op("s").id, against: item) { $1 }
                    try expect(!sides.isConflict, "\(count) counts as a foreign change")
                }
                let other = ServerItem.modelItem("s", ["count": 9], version: "9")
                try expect(
                    try local.sides(of: local.op("s").id, against: other) { $1 }.isConflict, "9 counts as our own")
            }),
        Requirement(
            "a value of an attempt that was not carried out is not our own",
            inOne: { local in
                try local.syncedModel("s")
                try local.edit("s", ["count": 1])
                let attempt = try local.send("s")
                _ = try local.fail(attempt.id, attempt: 1, with: loss, retry: true, retryAt: nil)
                try local.edit("s", ["count": 2])
                let item = ServerItem.modelItem("s", ["count": 1], version: "9")
                try expect(try local.sides(of: attempt.id, against: item) { $1 }.isConflict, "it counts as our own")
            }),
        Requirement(
            "sent values are recognized in the server's rounded form",
            inOne: { local in
                try local.syncedModel("s")
                try local.edit("s", ["at": .real(5.75)])
                let cut: WireRounding = { property, value in
                    guard case .real(let time) = value else { return value }
                    return .real(time.rounded(.down))
                }
                _ = try local.beginAttempt(try local.op("s").id, leavingOut: [], rounding: cut)
                try local.markOutcomeUnknownOnce(try local.op("s"))
                try local.edit("s", ["at": .real(8.5)])
                let item = ServerItem.modelItem("s", ["at": .real(5)], version: "2")
                try expect(
                    try !local.sides(of: local.op("s").id, against: item, rounding: cut).isConflict,
                    "it counts as a foreign change")
            }),
        Requirement(
            "a pulled item is matched by the local ID that it carries",
            inOne: { local in
                try local.insertModel("a")
                try local.insertModel("b")
                for id in ["a", "b"] as [LocalID] { try local.markOutcomeUnknownOnce(try local.send(id)) }
                let carried = try local.applyServerItem(
                    .modelItem("s9"), in: modelTable, identity: .server(localID: "a"))
                guard case .deferred(let operation) = carried else { return try expect(false, "carried: \(carried)") }
                try expect(try operation == local.op("a").id, "it is another operation")
                let client = try local.applyServerItem(.modelItem("b"), in: modelTable, identity: .client)
                guard case .deferred = client else { return try expect(false, "made by a client: \(client)") }
                let unknown = try local.applyServerItem(
                    .modelItem("s8"), in: modelTable, identity: .server(localID: nil))
                guard case .inserted = unknown else { return try expect(false, "unknown: \(unknown)") }
            }),
    ]
}

extension LocalTransaction {
    func markOutcomeUnknownOnce(_ attempt: PendingOperation) throws {
        try expect(
            try markOutcomeUnknown(attempt.id, attempt: attempt.attempts, error: loss, retryAt: nil),
            "an attempt is not under way"
        )
    }
}
