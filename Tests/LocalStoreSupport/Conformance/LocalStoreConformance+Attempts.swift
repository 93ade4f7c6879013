import Foundation
import Tandem
import TandemSync

extension LocalStoreConformance {
    static let sendingRequirements: [Requirement] = [
        Requirement(
            "an attempt is counted and contains the changes",
            inOne: { local in
                try local.syncedModel("s", ["count": 1], version: "7")
                try local.edit("s", ["count": 2])
                try local.fail(try local.op("s").id, with: refusal, retry: true)
                let out = try local.sendable("s")
                try expect(
                    out.serverID == "s" && out.version == "7" && out.changed == ["count"], "it goes out as \(out)")
                try expect(out.values["count"] == 2 && out.values["note"] == nil, "its values are \(out.values)")
                let attempt = try local.send("s")
                try expect(
                    attempt.state == .attempted && attempt.attempts == 1 && attempt.error == nil
                        && attempt.sent == ["count": 1] && attempt.base.isEmpty, "it is \(attempt)")
                try local.edit("s", ["name": "m", "count": 3])
                try expect(
                    try local.op("s").base == ["name": "n", "count": 2] && local.op("s").sent == ["count": 1],
                    "the changes since are \(try local.op("s"))")
                try expect(try local.sendable("s").changed == ["count", "name"], "it is not pending")
                try expect(try local.outgoing(999) == nil, "an unknown operation is sent")
            }),
        Requirement(
            "operations that are held or not in the queue are not sent",
            inOne: { local in
                try local.insertModel("g")
                let removed = try local.sendable("g")
                _ = try local.discard(removed.operation.id, for: nil)
                try expect(.staleOperation, "beginAttempt") {
                    _ = try local.beginAttempt(removed, leavingOut: []) { $1 }
                }
                try local.insertModel("t")
                try local.hold(try local.op("t").id)
                try expect(.staleOperation, "an attempt of a held operation") { try local.send("t") }
                try expect(.staleOperation, "fail") { try local.fail(999, with: refusal, retry: true) }
                try expect(.staleOperation, "hold") { try local.hold(999) }
                try expect(.staleOperation, "release") { try local.release(999) }
                try expect(.staleOperation, "discard") { _ = try local.discard(999, for: nil) }
                try expect(.staleOperation, "makeInsert") { try local.makeInsert(999) }
                try expect(.staleOperation, "sides") { _ = try local.sides(of: 999, against: .modelItem("s")) { $1 } }
                try expect(.staleOperation, "rebase") {
                    _ = try local.rebase(999, onto: .modelItem("s"), takingServers: []) { $1 }
                }
            }),
        Requirement(
            "a value that can't be encoded prevents the attempt",
            inOne: { local in
                try local.insertModel("t")
                do {
                    _ = try local.beginAttempt(try local.op("t").id, leavingOut: []) { _, _ in throw Undone() }
                    try expect(false, "it began")
                } catch is Undone {}
                try expect(
                    try local.op("t").state == .pending && local.op("t").attempts == 0, "it is \(try local.op("t"))")
            }),
        Requirement(
            "a reference omitted from an insert is sent as an update",
            inOne: { local in
                try local.insertModel("a")
                try local.insertModel("b", ["next": "a"])
                try local.edit("a", ["next": "b"])
                let attempt = try local.send("a", leavingOut: ["next"])
                let outcome = try local.acknowledge(
                    attempt.id, attempt: 1, with: .modelItem("a"), keepsTombstones: true)
                try expect(outcome == .stillPending, "it is \(outcome)")
                let operation = try local.op("a")
                try expect(operation.kind == .update && operation.base == ["next": .null], "it is \(operation)")
                try expect(try local.value("next", of: "a") == "b", "it was removed")
            }),
        Requirement(
            "an attempt with a temporary failure is retried at the server's time",
            inOne: { local in
                try local.syncedModel("s")
                try local.edit("s", ["count": 1])
                let attempt = try local.send("s")
                try local.edit("s", ["name": "m"])
                let later = Date(timeIntervalSince1970: 2_000_000_000)
                try expect(
                    try local.fail(attempt.id, attempt: 1, with: loss, retry: true, retryAt: later),
                    "it was not under way")
                let operation = try local.op("s")
                try expect(
                    operation.state == .pending && operation.retryAt == later && operation.error == loss
                        && operation.base == ["count": 0, "name": "n"] && operation.sent.isEmpty, "it is \(operation)")
                try expect(try local.sendable("s").attemptedKinds.isEmpty, "it counts as sent")
                try expect(
                    try !local.fail(attempt.id, attempt: 1, with: loss, retry: true, retryAt: nil),
                    "it failed a second time")
            }),
        Requirement(
            "a withdrawn attempt leaves no trace",
            inOne: { local in
                try local.insertModel("n")
                try local.syncedModel("s")
                try local.edit("s", ["count": 1])
                let later = Date(timeIntervalSince1970: 2_000_000_000)
                _ = try local.fail(
                    try local.send("s").id, attempt: 1, with: refusal, retry: true, retryAt: later)
                for id in ["n", "s"] as [LocalID] {
                    let before = try local.op(id)
                    let attempt = try local.send(id)
                    try expect(
                        try local.withdraw(
                            before.id, attempt: attempt.attempts, restoring: before.error, retryAt: before.retryAt),
                        "it was not under way")
                    let after = try local.op(id)
                    try expect(
                        after.state == .pending && after.attempts == before.attempts && after.error == before.error
                            && after.retryAt == before.retryAt && after.base == before.base && after.sent.isEmpty,
                        "it was \(before), and is \(after)")
                    try expect(try local.sendable(id).attemptedKinds.isEmpty, "it counts as sent")
                    try expect(
                        try !local.withdraw(before.id, attempt: attempt.attempts, restoring: nil, retryAt: nil),
                        "it was withdrawn a second time")
                }
                try local.delete("n")
                try expect(try !local.hasObject("n", in: modelTable), "the unsent object is not removed")
            }),
        Requirement(
            "a withdrawn attempt keeps changes made meanwhile and the outcome of an earlier attempt",
            inOne: { local in
                try local.insertModel("t")
                try local.markOutcomeUnknownOnce(try local.send("t"))
                try local.syncedModel("s")
                try local.edit("s", ["count": 1])
                for id in ["t", "s"] as [LocalID] {
                    let attempt = try local.send(id)
                    if id == "s" { try local.edit("s", ["name": "m"]) }
                    try expect(
                        try local.withdraw(attempt.id, attempt: attempt.attempts, restoring: nil, retryAt: nil),
                        "it was not under way")
                }
                try expect(try local.sendable("t").attemptedKinds == .insert, "the first attempt is forgotten")
                try expect(try local.sendable("s").changed == ["count", "name"], "a change is forgotten")
                let operation = try local.op("t")
                try local.delete("t")
                try expect(try local.op("t").id == operation.id, "the object may be on the server")
            }),
        Requirement(
            "a refused attempt waits for the user unless the object was changed meanwhile",
            inOne: { local in
                for id in ["a", "b", "c"] as [ServerID] {
                    try local.syncedModel(id)
                    try local.edit(LocalID(id.rawValue), ["count": 1])
                    try local.send(LocalID(id.rawValue))
                }
                try local.edit("b", ["name": "m"])
                try local.hold(try local.op("c").id)
                for id in ["a", "b", "c"] as [LocalID] {
                    _ = try local.fail(try local.op(id).id, attempt: 1, with: refusal, retry: false, retryAt: nil)
                }
                let states = try ["a", "b", "c"].map { try local.op(LocalID($0)).state }
                try expect(states == [.failed, .pending, .held], "they are \(states)")
                try local.release(try local.op("a").id)
                try local.release(try local.op("c").id)
                try expect(
                    try local.op("a").state == .pending && local.op("a").error == nil
                        && local.op("c").state == .pending,
                    "they are not released")
            }),
        Requirement(
            "an unsent object deleted meanwhile is removed",
            inOne: { local in
                try local.insertModel("t")
                let attempt = try local.send("t")
                try local.delete("t")
                try expect(
                    try local.fail(attempt.id, attempt: 1, with: loss, retry: true, retryAt: nil),
                    "it was not under way")
                try expect(
                    try !local.hasObject("t", in: modelTable) && local.countOfOperations() == 0, "it is not removed")
            }),
        Requirement(
            "an attempt with a lost response may have been carried out",
            inOne: { local in
                try local.insertModel("t")
                let attempt = try local.send("t")
                try expect(
                    try local.markOutcomeUnknown(attempt.id, attempt: 1, error: loss, retryAt: nil),
                    "it was not under way")
                var operation = try local.op("t")
                try expect(operation.state == .attempted && operation.error == loss, "it is \(operation)")
                try expect(try local.sendable("t").attemptedKinds == .insert, "it does not count as sent")
                let again = try local.send("t")
                try expect(again.attempts == 2, "it is attempt \(again.attempts)")
                _ = try local.fail(again.id, attempt: 2, with: refusal, retry: true, retryAt: nil)
                try expect(try local.sendable("t").attemptedKinds == .insert, "the first attempt is forgotten")
                try expect(
                    try !local.markOutcomeUnknown(again.id, attempt: 1, error: loss, retryAt: nil),
                    "a completed attempt")
                try local.delete("t")
                operation = try local.op("t")
                try expect(operation.kind == .delete && operation.replaced == .insert, "deleted, it is \(operation)")
            }),
        Requirement(
            "a delete that may have arrived is recorded",
            inOne: { local in
                try local.syncedModel("s")
                try local.delete("s")
                try expect(try !local.mayHaveDeleted(local.op("s").id), "an unsent delete is recorded")
                let attempt = try local.send("s")
                _ = try local.markOutcomeUnknown(attempt.id, attempt: 1, error: loss, retryAt: nil)
                try expect(try local.mayHaveDeleted(local.op("s").id), "it is not recorded")
            }),
        Requirement(
            "an undelete that may have been carried out is recorded",
            inOne: { local in
                try local.syncedModel("s")
                try local.delete("s")
                try local.markOutcomeUnknownOnce(try local.send("s"))
                try local.edit("s", ["count": 1])
                try expect(try !local.sendable("s").attemptedKinds.mayUndelete, "an unsent undelete is recorded")
                try local.markOutcomeUnknownOnce(try local.send("s"))
                try local.edit("s", ["count": 2])
                try local.delete("s")
                try expect(try local.sendable("s").attemptedKinds == [.update, .delete], "it is forgotten")
                let attempt = try local.send("s")
                _ = try local.fail(attempt.id, attempt: attempt.attempts, with: refusal, retry: true, retryAt: nil)
                try expect(try local.sendable("s").attemptedKinds.mayUndelete, "a failed attempt removes the record")
                try expect(
                    try !local.isAnothers(["count": 1], of: "s"),
                    "a value of the sent undelete counts as a foreign change")
                try expect(try local.isAnothers(["count": 9], of: "s"), "9 counts as our own")
            }),
    ]
}

extension LocalTransaction {
    /// Returns whether the server's values of a model count as a foreign change.
    fileprivate func isAnothers(_ values: [String: StorageValue], of id: LocalID) throws -> Bool {
        let item = ServerItem.modelItem(ServerID(id.rawValue), values, version: "9")
        return try sides(of: try op(id).id, against: item) { $1 }.isConflict
    }
}
