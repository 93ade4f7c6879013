import Foundation
import Tandem
import TandemSync

extension LocalStoreConformance {
    static let referenceLaws: [Law] = [
        Law(
            "a reference goes out as a server ID, and comes back as a local one",
            inOne: { local in
                try local.thing("a")
                try local.send("a")
                _ = try local.acknowledge(try local.op("a").id, attempt: 1, with: .thing("s-a"), keepsTombstones: true)
                try local.thing("b", ["next": "a"])
                let out = try local.sendable("b")
                try expect(out.values["next"] == "s-a", "it went out as \(String(describing: out.values["next"]))")
                try expect(
                    out.references.map(\.target) == [.known("s-a")] && out.references.map(\.localID) == ["a"],
                    "it was told as \(out.references)")
                try local.syncedThing("s-c", ["next": "s-a"])
                try expect(try local.value("next", of: "s-c") == "a", "it came back as another")
            }),
        Law(
            "a reference to what is unsent names its operation",
            inOne: { local in
                try local.thing("a")
                try local.thing("b", ["next": "a"])
                let reference = try unwrap(try local.sendable("b").references.first, "reference")
                try expect(
                    reference.target == .unsent(try local.op("a").id, .pending) && reference.isOptional
                        && reference.property == "next", "it is \(reference)")
                try expect(try local.sendable("b").values["next"] == "a", "it does not go out by the local ID")
            }),
        Law(
            "a list of references keeps its order, and what is there twice",
            inOne: { local in
                try local.syncedPart("p")
                try local.part("q")
                try local.syncedThing("s", ["parts": .references(["x", "p", "p"])])
                try expect(try local.value("parts", of: "s") == .references(["x", "p", "p"]), "it came in otherwise")
                try local.edit("s", ["parts": .references(["q", "p", "x", "q"])])
                let out = try local.sendable("s")
                try expect(out.values["parts"] == .references(["q", "p", "x", "q"]), "it goes out otherwise")
                try expect(
                    out.references.map(\.target) == [
                        .unsent(try local.op("q", in: parts).id, .pending), .known("p"), .unknown,
                        .unsent(try local.op("q", in: parts).id, .pending),
                    ], "it is told as \(out.references)")
            }),
        Law(
            "what is not here is waited for, by its server ID or its local ID",
            inOne: { local in
                try local.syncedThing("a", ["next": "s-x", "owner": "p"])
                try local.edit("a", ["count": 1])
                try expect(
                    try local.sendable("a").references.allSatisfy { $0.target == .unknown }, "it leads to something")
                try local.part("p")
                try local.thing("x")
                try local.send("x")
                _ = try local.acknowledge(try local.op("x").id, attempt: 1, with: .thing("s-x"), keepsTombstones: true)
                let out = try local.sendable("a")
                try expect(
                    Set(out.references.map(\.target)) == [
                        .known("s-x"), .unsent(try local.op("p", in: parts).id, .pending),
                    ],
                    "it leads to \(out.references)")
                try expect(try local.value("next", of: "a") == "x", "it is not named by its local ID")
                try expect(try local.op("a").base == ["count": 0], "that was a change of the app's")
            }),
        Law(
            "what the server takes away is waited for, and found again under its server ID",
            inOne: { local in
                try local.thing("t")
                try local.send("t")
                _ = try local.acknowledge(try local.op("t").id, attempt: 1, with: .thing("s"), keepsTombstones: true)
                try local.syncedThing("h", ["next": "s"])
                let receipt = try local.receive(
                    .thing("s", isDeleted: true), in: things, identity: .server(localID: nil))
                guard case .removed("t") = receipt else { return try expect(false, "a tombstone was \(receipt)") }
                try expect(try local.isSynced("h"), "what referred to it was changed by the app")
                try local.syncedThing("s")
                try local.edit("h", ["count": 1])
                try expect(try local.sendable("h").references.map(\.target) == [.known("s")], "it was not found again")
                try expect(try local.value("next", of: "h") == "s", "it is not named by its new local ID")
            }),
        Law(
            "an object that refers to itself does so after it is sent",
            inOne: { local in
                try local.thing("t", ["next": "t"])
                let attempt = try local.send("t")
                let item = ServerItem.thing("s", ["next": "s"])
                try expect(
                    try local.acknowledge(attempt.id, attempt: 1, with: item, keepsTombstones: true) == .done,
                    "it is not done")
                try expect(
                    try local.value("next", of: "t") == "t", "it refers to \(try local.value("next", of: "t") as Any)")
            }),
        Law(
            "what stands in the way of an object is what it refers to and was refused",
            inOne: { local in
                try local.thing("a")
                try local.thing("b", ["next": "a"])
                try local.thing("c", ["next": "b"])
                try expect(try local.blocker(of: "c", in: things) == nil, "what only waits stands in the way")
                try local.fail(try local.op("a").id, refusal, retry: false)
                let blocker = try unwrap(try local.blocker(of: "c", in: things), "blocker")
                try expect(blocker.localID == "a" && blocker.model == "Thing", "it is \(blocker)")
                try expect(try local.blocker(of: "a", in: things) == nil, "it stands in its own way")
                try local.release(try local.op("a").id)
                try expect(try local.blocker(of: "c", in: things) == nil, "it stands in the way still")
                try local.hold(try local.op("a").id)
                try expect(try local.blocker(of: "b", in: things) != nil, "what is held does not stand in the way")
            }),
    ]

    static let ruleLaws: [Law] = [
        Law(
            "the app's delete takes a reference away, as a change to be sent",
            inOne: { local in
                try local.syncedPart("p")
                try local.syncedPart("q")
                try local.syncedThing("s", ["parts": .references(["p", "x", "q", "p"])])
                try local.delete("p", in: parts)
                try expect(try local.value("parts", of: "s") == .references(["x", "q"]), "the list is not without it")
                try expect(
                    try local.op("s").base == ["parts": .references(["p", "x", "q", "p"])], "it was not recorded")
                try local.syncedThing("t")
                try local.syncedThing("u", ["next": "t"])
                try local.delete("t")
                try expect(try local.value("next", of: "u") == .null && local.op("u").base == ["next": "t"], "to one")
            }),
        Law(
            "the app's delete goes on by the rule cascade",
            inOne: { local in
                try local.syncedPart("p")
                try local.syncedThing("s", ["owner": "p"])
                try local.thing("t", ["owner": "p"])
                try local.delete("p", in: parts)
                try expect(try local.op("s").kind == .delete && !local.isThere("s"), "what was synced is still there")
                try expect(try !local.hasObject("t", in: things), "what was new is still there")
            }),
        Law(
            "the app's delete is refused by the rule deny, whole",
            inOne: { local in
                try local.syncedThing("s")
                try local.syncedThing("u", ["next": "s"])
                try local.syncedPart("p", ["home": "s"])
                try expect(.deleteDenied, "a delete") { try local.delete("s") }
                try expect(
                    try local.isThere("s") && local.countOfOperations() == 0 && local.value("next", of: "u") == "s",
                    "a part of it was done")
                try local.delete("p", in: parts)
                try local.delete("s")
                try expect(try local.op("s").kind == .delete, "it is denied by what is deleted")
            }),
        Law(
            "two live objects share no unique value; what is deleted, or null, is in nobody's way",
            inOne: { local in
                try local.syncedThing("a", ["code": "x"])
                try local.delete("a")
                try local.thing("b", ["code": "x"])
                try expect(.duplicateValue, "bringing it back") { try local.edit("a", ["count": 1]) }
                try expect(try !local.isThere("a") && local.op("a").kind == .delete, "a part of it was done")
                try local.edit("a", ["code": "y"])
                try expect(try local.isThere("a"), "it is not back with another value")
                try local.thing("c")
                try local.thing("d")
                try local.part("p", ["title": "t", "size": 1])
                try local.part("q", ["title": "t", "size": .null])
                try local.part("r", ["title": "t", "size": .null])
                try expect(.duplicateValue, "the same pair") { try local.part("u", ["title": "t", "size": 1]) }
            }),
    ]
}
