import Foundation
import TandemTesting
import TestSupport
import Testing

@testable import Tandem

/// Two local objects turn out to be one on the server: a pull brought the object of an insert whose response was lost.
@Suite(.ownThreads) struct MergeDuplicatesTests {
    /// Makes a store with two copies of a node.
    ///
    /// The insert of `mine` was sent. `s7` is the same object, received from the server.
    private func withTwo(_ kind: StoreKind, _ body: (Store) throws -> Void) throws {
        try kind.withStore(Node.self) { store in
            try store.write { tx in
                try tx.insert(Node("a", count: 1, localID: "mine"))
                let attempt = try tx.beginAttempt(1).attempts
                _ = try tx.sync.markOutcomeUnknown(1, attempt: attempt, error: ResponseTests.lost)
                _ = try tx.sync.applyServerItem(item, in: "Node", identity: .server(localID: nil))
            }
            #expect(try store.live(Node.self).map(\.localID) == ["mine", "s7"])
            try body(store)
            #expect(try store.checkIntegrity() == [])
            try store.expectSound()
        }
    }

    private let item = ServerItem(
        serverID: "s7", version: "1", values: ["name": "a", "count": 1], extras: [5], source: [1])

    @Test(arguments: StoreKind.allCases)
    func `the older local ID stays and references move to it`(kind: StoreKind) throws {
        try withTwo(kind) { store in
            try store.receiveNode("both", ["friends": #"["s7","mine","s7"]"#, "next": "s7", "parent": "s7"])
            try store.receiveNode("gone", ["friends": #"["s7"]"#, "keeper": "s7"])
            try store.write { tx in
                try tx.delete(Node.self, localID: "gone")
                // The base of an operation names it.
                try tx.update(Node.self, localID: "both") { ($0.next, $0.friends) = (nil, [Reference(localID: "s7")]) }
                let attempt = try #require(try tx.operation(1)).0.attempts
                #expect(try tx.sync.acknowledge(1, attempt: Int(attempt), with: item) == .done)
            }
            let node = try #require(try store.stored(Node.self, "mine"))
            #expect(node.serverID == "s7" && node.isSynced && node.version == "1")
            #expect(try store.stored(Node.self, "s7") == nil)
            let holder = try #require(try store.stored(Node.self, "both"))
            #expect(holder.friends.map(\.localID) == ["mine"] && holder.parent?.localID == "mine")
            let update = try #require(try store.operations.operation(of: holder))
            #expect(update.base == ["next": "mine", "friends": #"["mine","mine","mine"]"#])
            let back = try store.write { try $0.undelete(Node.self, localID: "gone") }
            #expect(back.friends.map(\.localID) == ["mine"] && back.keeper?.localID == "mine")
            #expect(try store.read { try $0.extras(of: "mine", in: "Node") } == [5])
            // The next pull finds one object.
            try store.write { tx in
                guard case .unchanged = try tx.sync.applyServerItem(item, in: "Node", identity: .server(localID: nil))
                else {
                    Issue.record("it is not found")
                    return
                }
            }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a change of the other object becomes a change of this one`(kind: StoreKind) throws {
        try withTwo(kind) { store in
            try store.write { tx in
                try tx.update(Node.self, localID: "s7") { ($0.count, $0.next) = (9, Reference(localID: "s7")) }
                let attempt = try #require(try tx.operation(1)).0.attempts
                #expect(try tx.sync.acknowledge(1, attempt: Int(attempt), with: item) == .stillPending)
            }
            let node = try #require(try store.stored(Node.self, "mine"))
            #expect(node.count == 9 && node.next?.localID == "mine" && node.name == "a")
            #expect(try store.queue() == ["update mine [count next]"])
            #expect(try store.operations.all()[0].base["count"] == 1)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a deleted object does not override the other one`(kind: StoreKind) throws {
        try withTwo(kind) { store in
            try store.receiveNode("holder", ["next": "s7"])
            try store.write { tx in
                try tx.delete(Node.self, localID: "s7")
                let attempt = try #require(try tx.operation(1)).0.attempts
                #expect(try tx.sync.acknowledge(1, attempt: Int(attempt), with: item) == .done)
            }
            #expect(try store.live(Node.self).map(\.localID) == ["holder", "mine"])
            #expect(try store.queue() == ["update holder [next]"])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `references of a deleted object wait`(kind: StoreKind) throws {
        try withTwo(kind) { store in
            try store.receiveNode("holder", ["next": "s7", "friends": #"["s7"]"#])
            try store.write { tx in
                try tx.delete(Node.self, localID: "mine")
                let attempt = try #require(try tx.operation(1)).0.attempts
                #expect(try tx.sync.acknowledge(1, attempt: Int(attempt), with: item) == .stillPending)
            }
            #expect(try store.queue() == ["delete mine"])
            var holder = try #require(try store.stored(Node.self, "holder"))
            #expect(holder.next == nil && holder.friends.isEmpty && holder.isSynced)
            try store.write { try $0.undelete(Node.self, localID: "mine") }
            holder = try #require(try store.stored(Node.self, "holder"))
            #expect(holder.next?.localID == "mine" && holder.friends.map(\.localID) == ["mine"])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a conflict merges the objects too`(kind: StoreKind) throws {
        try withTwo(kind) { store in
            try store.write { tx in
                try tx.update(Node.self, localID: "mine") { $0.name = "b" }
                #expect(try tx.sync.rebase(1, onto: item) { $1 } == .pending)
            }
            #expect(try store.live(Node.self).map(\.localID) == ["mine"])
            // A property that the item does not name is sent too, because the server may not have it.
            #expect(try store.operations.all()[0].changedProperties.contains("name"))
            #expect(try store.operations.all()[0].base["name"] == "a" && store.operations.all()[0].base["count"] == nil)
        }
    }

    @Test func `discarding the insert for the server's item leaves one synced object`() throws {
        try withTwo(.memory) { store in
            try store.write { _ = try $0.sync.discard(1, for: item) }
            #expect(try store.live(Node.self).map(\.localID) == ["mine"])
            #expect(try store.stored(Node.self, "mine")?.isSynced == true && store.operations.count() == 0)
        }
    }

    /// The user deleted the local object and continued to edit the received one.
    @Test(arguments: StoreKind.allCases, [false, true])
    func `a change of the other object restores a deleted one`(kind: StoreKind, isTaken: Bool) throws {
        try withTwo(kind) { store in
            try store.receiveNode("holder", ["next": "s7"])
            try store.write { tx in
                try tx.update(Node.self, localID: "mine") { $0.code = "1" }
                try tx.delete(Node.self, localID: "mine")
                try tx.update(Node.self, localID: "s7") { $0.count = 9 }
                if isTaken { try tx.insert(Node("third", code: "1", localID: "third")) }
                let attempt = try #require(try tx.operation(1)).0.attempts
                #expect(try tx.sync.acknowledge(1, attempt: Int(attempt), with: item) == .stillPending)
            }
            let node = try #require(try store.stored(Node.self, "mine"))
            let holder = try #require(try store.stored(Node.self, "holder"))
            // Its unique value may be taken by now. Then it can't be restored.
            #expect(node.isDeleted == isTaken && (holder.next == nil) == isTaken && node.serverID == "s7")
            if !isTaken {
                #expect(node.count == 9 && node.code == "1" && holder.next?.localID == "mine")
                #expect(try store.queue() == ["update mine [code count]"])
            }
        }
    }

    /// A server that responds with the ID of another object has confused the two.
    @Test(arguments: StoreKind.allCases)
    func `an object that existed before is not merged`(kind: StoreKind) throws {
        try kind.withStore(Node.self) { store in
            try store.receiveNode("s7", ["name": "theirs"])
            try store.write { tx in
                try tx.insert(Node("mine", localID: "mine"))
                try tx.beginAttempt(1)
            }
            let queue = try store.queue()
            #expect(code { try store.write { _ = try $0.sync.acknowledge(1, attempt: 1, with: item) } } == .duplicateID)
            #expect(code { try store.write { _ = try $0.sync.rebase(1, onto: item) { $1 } } } == .duplicateID)
            #expect(code { try store.write { _ = try $0.sync.discard(1, for: item) } } == .duplicateID)
            #expect(try store.queue() == queue && store.stored(Node.self, "s7")?.name == "theirs")
            #expect(try store.checkIntegrity() == [])
        }
    }
}
