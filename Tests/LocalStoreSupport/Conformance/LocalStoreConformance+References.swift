import Foundation
import Tandem
import TandemSync

extension LocalStoreConformance {
    static let referenceRequirements: [Requirement] = [
        Requirement(
            "a reference is sent as a server ID and received as a local ID",
            inOne: { local in
                try local.insertModel("a")
                try local.send("a")
                _ = try local.acknowledge(
                    try local.op("a").id, attempt: 1, with: .modelItem("s-a"), keepsTombstones: true)
                try local.insertModel("b", ["next": "a"])
                let out = try local.sendable("b")
                try expect(out.values["next"] == "s-a", "it went out as \(String(describing: out.values["next"]))")
                try expect(
                    out.references.map(\.target) == [.known("s-a")] && out.references.map(\.localID) == ["a"],
                    "it is described as \(out.references)")
                try local.syncedModel("s-c", ["next": "s-a"])
                try expect(try local.value("next", of: "s-c") == "a", "it is received as another")
            }),
        Requirement(
            "a reference to an unsent object names its operation",
            inOne: { local in
                try local.insertModel("a")
                try local.insertModel("b", ["next": "a"])
                let reference = try unwrap(try local.sendable("b").references.first, "reference")
                try expect(
                    reference.target == .unsent(try local.op("a").id, state: .pending) && reference.property == "next",
                    "it is \(reference)")
                try expect(try local.sendable("b").values["next"] == "a", "it is not sent as the local ID")
            }),
        Requirement(
            "a list of references keeps its order and its duplicates",
            inOne: { local in
                try local.syncedPart("p")
                try local.part("q")
                try local.syncedModel("s", ["parts": .references(["x", "p", "p"])])
                try expect(
                    try local.value("parts", of: "s") == .references(["x", "p", "p"]), "it is received differently")
                try local.edit("s", ["parts": .references(["q", "p", "x", "q"])])
                let out = try local.sendable("s")
                try expect(out.values["parts"] == .references(["q", "p", "x", "q"]), "it is sent differently")
                try expect(
                    out.references.map(\.target) == [
                        .unsent(try local.op("q", in: parts).id, state: .pending), .known("p"), .unknown,
                        .unsent(try local.op("q", in: parts).id, state: .pending),
                    ], "it is described as \(out.references)")
            }),
        Requirement(
            "an unresolved reference is resolved by server ID or local ID",
            inOne: { local in
                try local.syncedModel("a", ["next": "s-x", "owner": "p"])
                try local.edit("a", ["count": 1])
                try expect(
                    try local.sendable("a").references.allSatisfy { $0.target == .unknown }, "it is resolved")
                try local.part("p")
                try local.insertModel("x")
                try local.send("x")
                _ = try local.acknowledge(
                    try local.op("x").id, attempt: 1, with: .modelItem("s-x"), keepsTombstones: true)
                let out = try local.sendable("a")
                try expect(
                    Set(out.references.map(\.target)) == [
                        .known("s-x"), .unsent(try local.op("p", in: parts).id, state: .pending),
                    ],
                    "it leads to \(out.references)")
                try expect(try local.value("next", of: "a") == "x", "it does not have the local ID")
                try expect(try local.op("a").base == ["count": 0], "the resolution counts as a change of the app")
            }),
        Requirement(
            "a reference to an object removed by the server is resolved again by server ID",
            inOne: { local in
                try local.insertModel("t")
                try local.send("t")
                _ = try local.acknowledge(
                    try local.op("t").id, attempt: 1, with: .modelItem("s"), keepsTombstones: true)
                try local.syncedModel("h", ["next": "s"])
                let receipt = try local.applyServerItem(
                    .modelItem("s", isDeleted: true), in: modelTable, identity: .server(localID: nil))
                guard case .removed("t") = receipt else { return try expect(false, "a tombstone was \(receipt)") }
                try expect(try local.isSynced("h"), "its holder counts as changed by the app")
                try local.syncedModel("s")
                try local.edit("h", ["count": 1])
                try expect(try local.sendable("h").references.map(\.target) == [.known("s")], "it is not resolved")
                try expect(try local.value("next", of: "h") == "s", "it does not have the new local ID")
            }),
        Requirement(
            "an object that refers to itself keeps the reference after it is sent",
            inOne: { local in
                try local.insertModel("t", ["next": "t"])
                let attempt = try local.send("t")
                let item = ServerItem.modelItem("s", ["next": "s"])
                try expect(
                    try local.acknowledge(attempt.id, attempt: 1, with: item, keepsTombstones: true) == .done,
                    "it is not done")
                try expect(
                    try local.value("next", of: "t") == "t", "it refers to \(try local.value("next", of: "t") as Any)")
            }),
        Requirement(
            "the blocker of an object is a refused object that it refers to",
            inOne: { local in
                try local.insertModel("a")
                try local.insertModel("b", ["next": "a"])
                try local.insertModel("c", ["next": "b"])
                try expect(try local.blocker(of: "c", in: modelTable) == nil, "a pending object blocks")
                try local.fail(try local.op("a").id, with: refusal, retry: false)
                let blocker = try unwrap(try local.blocker(of: "c", in: modelTable), "blocker")
                try expect(blocker.localID == "a" && blocker.model == "ConformanceModel", "it is \(blocker)")
                try expect(try local.blocker(of: "a", in: modelTable) == nil, "it blocks itself")
                try local.release(try local.op("a").id)
                try expect(try local.blocker(of: "c", in: modelTable) == nil, "it still blocks")
                try local.hold(try local.op("a").id)
                try expect(try local.blocker(of: "b", in: modelTable) != nil, "a held object does not block")
            }),
    ]

    static let ruleRequirements: [Requirement] = [
        Requirement(
            "the app's delete removes references as pending changes",
            inOne: { local in
                try local.syncedPart("p")
                try local.syncedPart("q")
                try local.syncedModel("s", ["parts": .references(["p", "x", "q", "p"])])
                try local.delete("p", in: parts)
                try expect(try local.value("parts", of: "s") == .references(["x", "q"]), "the list still contains it")
                try expect(
                    try local.op("s").base == ["parts": .references(["p", "x", "q", "p"])], "it was not recorded")
                try local.syncedModel("t")
                try local.syncedModel("u", ["next": "t"])
                try local.delete("t")
                try expect(try local.value("next", of: "u") == .null && local.op("u").base == ["next": "t"], "to one")
            }),
        Requirement(
            "the app's delete cascades by the delete rule",
            inOne: { local in
                try local.syncedPart("p")
                try local.syncedModel("s", ["owner": "p"])
                try local.insertModel("t", ["owner": "p"])
                try local.delete("p", in: parts)
                try expect(try local.op("s").kind == .delete && !local.isThere("s"), "the synced object still exists")
                try expect(try !local.hasObject("t", in: modelTable), "the new object still exists")
            }),
        Requirement(
            "the app's delete is denied by the delete rule and changes nothing",
            inOne: { local in
                try local.syncedModel("s")
                try local.syncedModel("u", ["next": "s"])
                try local.syncedPart("p", ["home": "s"])
                try expect(.deleteDenied, "a delete") { try local.delete("s") }
                try expect(
                    try local.isThere("s") && local.countOfOperations() == 0 && local.value("next", of: "u") == "s",
                    "a part of it was done")
                try local.delete("p", in: parts)
                try local.delete("s")
                try expect(try local.op("s").kind == .delete, "a deleted object denies it")
            }),
        Requirement(
            "live objects share no unique value, and deleted objects and nulls do not count",
            inOne: { local in
                try local.syncedModel("a", ["code": "x"])
                try local.delete("a")
                try local.insertModel("b", ["code": "x"])
                try expect(.duplicateValue, "restoring it") { try local.edit("a", ["count": 1]) }
                try expect(try !local.isThere("a") && local.op("a").kind == .delete, "a part of it was done")
                try local.edit("a", ["code": "y"])
                try expect(try local.isThere("a"), "it is not restored with another value")
                try local.insertModel("c")
                try local.insertModel("d")
                try local.part("p", ["title": "t", "size": 1])
                try local.part("q", ["title": "t", "size": .null])
                try local.part("r", ["title": "t", "size": .null])
                try expect(.duplicateValue, "the same pair") { try local.part("u", ["title": "t", "size": 1]) }
            }),
    ]
}
