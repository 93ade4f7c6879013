import Foundation
import Tandem
import TandemSync

extension LocalStoreConformance {
    static let queueRequirements: [Requirement] = [
        Requirement(
            "a new object has its values, its defaults, and an insert",
            inOne: { local in
                let id = try local.insert(["name": "e\u{301}"], in: modelTable, as: nil)
                let object = try unwrap(try local.object(id, in: modelTable), "object")
                try expect(
                    object.values == [
                        "name": "e\u{301}", "count": 0, "code": .null, "at": .null, "next": .null,
                        "parts": .references([]), "owner": .null, "note": "",
                    ], "its values are \(object.values)")
                try expect(
                    object.serverID == nil && !object.isDeleted && object.localID == id, "its state is \(object)")
                let operation = try local.op(id)
                try expect(
                    operation.kind == .insert && operation.state == .pending && operation.base.isEmpty
                        && operation.attempts == 0 && operation.table == modelTable
                        && operation.model == "ConformanceModel"
                        && operation.localID == id, "its operation is \(operation)")
                try expect(.invalidValue, "an insert without a required value") {
                    _ = try local.insert([:], in: modelTable, as: nil)
                }
                try expect(.duplicateID, "a second object with the ID") { try local.insertModel(id) }
            }),
        Requirement(
            "a change without effect creates no operation",
            inOne: { local in
                try local.syncedModel("s", ["name": "\u{e9}"])
                try expect(try local.edit("s", ["name": "\u{e9}", "count": 0]) == nil, "the same value was a change")
                try expect(try local.edit("s", ["note": "mine"]) == nil, "a local-only value was queued")
                try expect(try local.value("note", of: "s") == "mine", "it was not stored")
                try expect(
                    try local.edit("s", ["name": "e\u{301}"])?.kind == .update, "texts are not compared byte by byte")
            }),
        Requirement(
            "an update keeps the values before its first change",
            inOne: { local in
                try local.syncedModel("s", ["count": 7])
                try local.edit("s", ["count": 8])
                try local.edit("s", ["count": 9, "name": "m"])
                let operation = try local.op("s")
                try expect(operation.kind == .update, "it is \(operation.kind)")
                try expect(operation.base == ["count": 7, "name": "n"], "its bases are \(operation.base)")
                try expect(try local.countOfOperations() == 1, "it has two operations")
            }),
        Requirement(
            "an edited insert stays an insert and is removed with its object",
            inOne: { local in
                try local.insertModel("t")
                let id = try local.op("t").id
                try local.edit("t", ["count": 1])
                try expect(
                    try local.op("t").kind == .insert && local.op("t").id == id, "an edit made another operation of it")
                try local.delete("t")
                try expect(
                    try !local.hasObject("t", in: modelTable) && local.countOfOperations() == 0,
                    "it was not removed at once")
                try local.delete("t")
                try expect(.notFound, "a change of a removed object") { try local.edit("t", ["count": 2]) }
            }),
        Requirement(
            "deleting an object whose insert was sent queues a delete",
            inOne: { local in
                try local.insertModel("t")
                let attempt = try local.send("t")
                try expect(
                    try local.markOutcomeUnknown(attempt.id, attempt: 1, error: loss, retryAt: nil),
                    "its attempt was not under way")
                try local.delete("t")
                let operation = try local.op("t")
                try expect(operation.kind == .delete && operation.replaced == .insert, "it is \(operation)")
                try expect(try !local.isThere("t") && local.hasObject("t", in: modelTable), "it was not hidden")
            }),
        Requirement(
            "an undone delete restores the update that it replaced",
            inOne: { local in
                try local.syncedModel("s")
                try local.edit("s", ["count": 1])
                let id = try local.op("s").id
                try local.delete("s")
                try expect(
                    try local.op("s").kind == .delete && local.op("s").replaced == .update, "it is not remembered")
                try expect(try local.op("s").id == id, "it has another place in the queue")
                try local.edit("s", [:])
                let operation = try local.op("s")
                try expect(
                    operation.kind == .update && operation.replaced == nil && operation.base == ["count": 0],
                    "it is restored as \(operation)")
                try expect(try local.isThere("s") && local.value("count", of: "s") == 1, "its object is not back")
            }),
        Requirement(
            "an unsent delete that is undone leaves no operation",
            inOne: { local in
                try local.syncedModel("s")
                try local.delete("s")
                try expect(
                    try local.op("s").kind == .delete && local.op("s").replaced == nil, "it is \(try local.op("s"))")
                try local.edit("s", [:])
                try expect(try local.isSynced("s") && local.isThere("s"), "something is left")
            }),
        Requirement(
            "a sent delete that is undone sends the whole object",
            inOne: { local in
                try local.syncedModel("s")
                try local.delete("s")
                let attempt = try local.send("s")
                _ = try local.markOutcomeUnknown(attempt.id, attempt: 1, error: loss, retryAt: nil)
                try local.edit("s", ["count": 3])
                let operation = try local.op("s")
                try expect(operation.kind == .update && operation.base.count == 7, "it is \(operation)")
                try expect(try local.mayHaveDeleted(operation.id), "the possible delete on the server is forgotten")
            }),
        Requirement(
            "an insert over a deleted object restores it",
            inOne: { local in
                try local.syncedModel("s", ["count": 1])
                try local.delete("s")
                try local.insertModel("s", ["count": 2])
                try expect(
                    try local.op("s").kind == .update && local.value("count", of: "s") == 2 && local.isThere("s"),
                    "it is \(try local.op("s"))")
            }),
        Requirement(
            "the queue is ordered by first changes",
            inOne: { local in
                for id in ["a", "b", "c", "d"] as [LocalID] { try local.insertModel(id) }
                try local.part("p")
                try local.edit("a", ["count": 1])
                try local.delete("b")
                let all = try local.operations(after: nil, limit: 10)
                try expect(all.map(\.localID) == ["a", "c", "d", "p"], "it is \(all.map(\.localID))")
                let some = try local.operations(after: all[0].id, limit: 2)
                try expect(some.map(\.localID) == ["c", "d"], "a part of it is \(some.map(\.localID))")
                try expect(
                    try local.countOfOperations(in: modelTable) == 3 && local.countOfOperations(in: parts) == 1,
                    "counts")
                try expect(
                    try local.operation(withID: all[1].id)?.localID == "c", "an operation is not found by its ID")
                try local.hold(all[1].id)
                try expect(
                    try local.countOfOperations(in: .held) == 1 && local.countOfOperations(in: .pending) == 3,
                    "it is not counted by its state")
            }),
        Requirement(
            "an operation ID is never reused",
            inOne: { local in
                try local.insertModel("a")
                let first = try local.op("a").id
                try local.delete("a")
                try local.insertModel("a")
                try expect(try local.op("a").id > first, "a number was given twice")
            }),
        Requirement(
            "a failed operation is pending after a change, and a held one stays held",
            inOne: { local in
                for id in ["f", "h"] as [LocalID] { try local.insertModel(id) }
                try local.fail(try local.op("f").id, with: refusal, retry: false)
                try local.hold(try local.op("h").id)
                try expect(try local.op("f").state == .failed && local.op("f").error == refusal, "it has not failed")
                for id in ["f", "h"] as [LocalID] { try local.edit(id, ["count": 1]) }
                try expect(try local.op("f").state == .pending && local.op("f").error == nil, "it is not pending")
                try expect(try local.op("h").state == .held, "it is not held")
            }),
        Requirement(
            "operations with an automatic retry are counted separately",
            inOne: { local in
                for id in ["f", "h", "l", "n", "p"] as [LocalID] { try local.insertModel(id) }
                let lost = try local.beginAttempt(try local.op("l").id, leavingOut: []) { $1 }
                _ = try local.markOutcomeUnknown(lost.id, attempt: lost.attempts, error: refusal, retryAt: nil)
                try local.fail(try local.op("p").id, with: refusal, retry: true)
                try local.fail(try local.op("f").id, with: refusal, retry: false)
                try local.fail(try local.op("h").id, with: refusal, retry: true)
                try local.hold(try local.op("h").id)
                let count = try local.countOfOperationsToRetry()
                try expect(count == 2, "there are \(count)")
                _ = try local.beginAttempt(try local.op("l").id, leavingOut: []) { $1 }
                try expect(try local.countOfOperationsToRetry() == 1, "a running retry is counted")
            }),
        Requirement(
            "operation marks contain the operations that are sent automatically",
            inOne: { local in
                for id in ["a", "b", "c", "d"] as [LocalID] { try local.insertModel(id) }
                try local.send("a")
                try local.fail(try local.op("b").id, with: refusal, retry: false)
                try local.hold(try local.op("c").id)
                let before = try local.operationMarks()
                try expect(
                    try before == OperationMarks(of: [local.op("a"), local.op("d")]), "they are \(before)")
                try local.edit("b", ["count": 1])
                let news = try local.operationMarks().news(since: before)
                try expect(try news.map(\.id) == [local.op("b").id], "the changed ones are \(news)")
            }),
        Requirement(
            "values are stored bit by bit",
            inOne: { local in
                try local.part("p", ["weight": .real(0)])
                try local.edit("p", ["weight": .real(-0.0)], in: parts)
                guard case .real(let weight)? = try local.value("weight", of: "p", in: parts) else {
                    return try expect(false, "a number has another type")
                }
                try expect(weight.sign == .minus, "-0 became 0")
            }),
    ]
}
