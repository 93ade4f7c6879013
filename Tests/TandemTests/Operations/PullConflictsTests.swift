import Foundation
import TandemTesting
import TestSupport
import Testing

@testable import Tandem

/// Unique values that move between objects on the server and arrive in any order.
@Suite(.ownThreads) struct PullConflictsTests {
    private func item(_ id: ServerID, _ values: [String: StorageValue]) -> ServerItem {
        ServerItem(serverID: id, version: "2", values: values, source: [UInt8](id.rawValue.utf8))
    }

    private func with(_ kind: StoreKind, _ body: (Store) throws -> Void) throws {
        try kind.withStore(Node.self) { store in
            for id in ["a", "b", "c"] as [ServerID] {
                try store.receiveNode(id, ["name": .text("name \(id)"), "code": .text(id.rawValue)])
            }
            try body(store)
            #expect(try store.checkIntegrity() == [])
            try store.expectSound()
        }
    }

    private func codes(_ store: Store) throws -> [String?] { try store.live(Node.self).map(\.code) }

    private func kept(_ store: Store) throws -> [ServerID] {
        try store.read { try $0.deferredItemsWithoutOperation(in: "Node", limit: 9).map(\.serverID) }
    }

    @Test(arguments: StoreKind.allCases)
    func `swapped unique values are received`(kind: StoreKind) throws {
        try with(kind) { store in
            let items = [
                item("a", ["name": "new a", "code": "b", "friends": #"["b","c"]"#, "next": "a"]),
                item("b", ["name": "new b", "code": "a", "next": "c"]),
            ]
            // Received one by one they never succeed.
            for _ in 0..<2 {
                try store.write { tx in for item in items { _ = try tx.sync.applyServerItem(item, in: "Node") } }
            }
            #expect(try codes(store) == ["a", "b", "c"] && kept(store) == ["a", "b"])
            let receipts = try store.write { try $0.sync.receiveTogether(items, in: "Node") }
            #expect(receipts.map { "\($0)" } == [#"updated(a)"#, #"updated(b)"#])
            #expect(try codes(store) == ["b", "a", "c"] && kept(store) == [] && store.operations.count() == 0)
            let a = try #require(try store.stored(Node.self, "a"))
            #expect(a.friends.map(\.localID) == ["b", "c"] && a.next?.localID == "a" && a.isSynced && a.version == "2")
            #expect(a.name == "new a" && !a.isDeleted)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `chains and rings of unique values are received in any order`(kind: StoreKind) throws {
        try with(kind) { store in
            try store.receiveNode("d", ["code1": 1, "code2": 1])
            try store.receiveNode("e", ["code1": 2, "code2": 2])
            let items = [
                // A new object that takes another's value, a ring of three, and two objects that swap a pair.
                item("n", ["code": "x"]), item("a", ["code": "b"]), item("b", ["code": "c"]),
                item("d", ["code1": 2, "code2": 2, "code": "y"]), item("c", ["code": "a"]),
                item("e", ["code1": 1, "code2": 1, "code": "x"]),
            ]
            try store.write { tx in _ = try tx.sync.applyServerItem(item("e", ["code": "y"]), in: "Node") }
            try store.write { tx in _ = try tx.sync.applyServerItem(item("d", ["code": "x"]), in: "Node") }
            let before = try store.live(Node.self).map(\.localID)
            let receipts = try store.write { try $0.sync.receiveTogether(items, in: "Node") }
            #expect(before == ["a", "b", "c", "d", "e"])
            // The server has one `x` too many. The new object's is refused, as each of the two would be.
            #expect(receipts.count { "\($0)".hasPrefix("refused") } == 1)
            #expect(try codes(store) == ["b", "c", "a", "y", "x"] && kept(store) == ["n"])
            let d = try #require(try store.stored(Node.self, "d"))
            #expect(d.code1 == 2 && d.code2 == 2)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `an item that clashes with an unsent object stays refused`(kind: StoreKind) throws {
        try with(kind) { store in
            try store.write { tx in
                try tx.insert(Node("mine", code: "taken", localID: "m"))
                try tx.update(Node.self, localID: "c") { $0.count = 5 }
            }
            let items = [
                item("a", ["code": "b"]), item("b", ["code": "taken"]), item("c", ["code": "a"]),
            ]
            try store.write { tx in
                let receipts = try tx.sync.receiveTogether(items, in: "Node").map { "\($0)" }
                #expect(receipts[0].hasPrefix("refused") && receipts[1].hasPrefix("refused"))
                #expect(receipts[2].hasPrefix("deferred"))
            }
            #expect(try codes(store) == ["a", "b", "c", "taken"] && kept(store) == ["a", "b"])
            #expect(try store.stored(Node.self, "a")?.version == "1")
            try store.write { tx in
                try tx.update(Node.self, localID: "m") { $0.code = nil }
                _ = try tx.sync.receiveTogether(items, in: "Node")
            }
            #expect(try codes(store) == ["b", "taken", "c", nil] && kept(store) == [])
        }
    }
}
