import Foundation
import TandemTesting
import TestSupport
import Testing

@testable import Tandem

/// Objects of a server, through the functions of TandemTesting, which write as a pull does. `PulledItemTests` has the
/// rules of a pull.
@Suite(.ownThreads) struct ServerWriteTests {
    private func item(_ node: Node, _ version: String? = nil, updatedAt: Date? = nil) -> ServerItem {
        ServerItem(
            serverID: ServerID(node.localID.rawValue), version: version, updatedAt: updatedAt,
            values: ModelValues.values(of: node))
    }

    private func deferredItems(_ store: Store) throws -> StorageValue {
        try store.sql("SELECT count(*) FROM __server_items")[0][0]
    }

    @Test(arguments: StoreKind.memoryAndEncrypted)
    func `an object from a server uses its server ID as local ID`(kind: StoreKind) throws {
        let store = try Store.ofNodes(kind)
        let at = Date(timeIntervalSinceReferenceDate: 0.1)
        let node = try store.applyServerObject(
            Node("a"), serverID: "s1", version: "v", createdAt: at, updatedAt: at + 1)
        #expect(node.localID == "s1" && node.serverID == "s1" && node.isSynced && node.version == "v")
        #expect(try store.stored(node) == node)
        #expect(node.createdAt == at && node.updatedAt == at + 1)
        #expect(try store.operations.count() == 0)
        try store.write { _ in
            let updated = try store.applyServerObject(Node("b"), serverID: "s1", version: "v2")
            #expect(updated.localID == "s1" && updated.name == "b")
            try store.applyServerObject(Node("c"), serverID: "s2")
            try store.applyServerObjects([Node("d", localID: "s3"), Node("e", localID: "s4")], version: "v3")
        }
        #expect(try store.live(Node.self).map(\.localID) == ["s1", "s2", "s3", "s4"])
        #expect(try store.stored(node)?.version == "v2" && store.stored(node)?.createdAt == at)
        #expect(try store.stored(Node.self, "s3")?.version == "v3")
        #expect(try store.stored(Node.self, "s4")?.serverID == "s4")
        #expect(try store.operations.count() == 0)
        #expect(try store.checkIntegrity() == [])
    }

    @Test(arguments: StoreKind.memoryAndEncrypted)
    func `a server ID equal to another object's local ID neither splits nor merges objects`(kind: StoreKind) throws {
        let store = try Store.ofNodes(kind)
        func receive(_ node: Node) throws -> Node {
            try store.write { tx in
                _ = try tx.sync.applyServerItem(item(node), in: "Node", identity: .server(localID: nil))
                return try #require(
                    try tx.object(ofType: Node.self, forServerID: ServerID(node.localID.rawValue)))
            }
        }
        // The server makes the IDs. No server knows the object made here, so the server's object is another one.
        try store.write { try $0.insert(Node("mine", localID: "5")) }
        let theirs = try receive(Node("theirs", localID: "5"))
        #expect(theirs.localID != "5" && theirs.serverID == "5" && theirs.isSynced)
        #expect(try store.live(Node.self).count == 2)
        // The next item from the server finds it.
        #expect(try receive(Node("theirs again", localID: "5")).localID == theirs.localID)
        #expect(try store.stored(theirs)?.name == "theirs again")
        #expect(try store.stored(Node.self, "5")?.name == "mine")
        // References of the server contain its IDs, and those of the app local IDs.
        var holder = Node("holder", localID: "6")
        holder.next = Reference(localID: "5")
        holder.friends = [Reference(localID: "5")]
        #expect(try receive(holder).next?.localID == theirs.localID)
        var other = Node("other", localID: "8")
        other.next = Reference(localID: "5")
        try store.write { _ in
            try store.write { _ = try $0.update(Node.self, localID: "6") { $0.next = Reference(localID: "5") } }
            #expect(try receive(other).next?.localID == theirs.localID)
            try store.write { tx in
                _ = try tx.update(Node.self, localID: theirs.localID) { $0.next = Reference(localID: "5") }
            }
        }
        #expect(try store.stored(Node.self, "6")?.next?.localID == "5")
        #expect(try store.stored(Node.self, "6")?.friends.map(\.localID) == [theirs.localID])
        #expect(try store.stored(theirs)?.next?.localID == "5")
        #expect(try store.checkIntegrity() == [])
    }

    @Test(arguments: StoreKind.memoryAndEncrypted)
    func `the server's item of an object whose insert has no response is the same object`(kind: StoreKind) throws {
        let store = try Store.ofNodes(kind)
        let sent = try store.write { try $0.insert(Node("sent", localID: "7")) }
        try store.write { try $0.beginAttempt(try #require(try store.operations.operation(of: sent)).id) }
        let here = try store.applyServerObject(Node("echo"), serverID: "7")
        #expect(here.localID == "7" && here.name == "sent" && !here.isSynced)
        #expect(try store.live(Node.self).count == 1 && store.operations.count() == 1)
        #expect(try store.checkIntegrity() == [])
    }

    @Test func `a server's item changes a row once and an equal one not at all`() throws {
        let store = try Store.ofNodes()
        let at = Date(timeIntervalSinceReferenceDate: 1)
        let first = item(Node("a", localID: "s"), "1", updatedAt: at)
        try store.write { tx in
            _ = try tx.sync.applyServerItem(first, in: "Node")
            let before = store.writer.connection.totalChanges
            _ = try tx.sync.applyServerItem(first, in: "Node")
            #expect(store.writer.connection.totalChanges == before)
            _ = try tx.sync.applyServerItem(item(Node("b", localID: "s"), "2"), in: "Node")
            #expect(store.writer.connection.totalChanges == before + 1)
        }
        let stored = try #require(try store.stored(Node.self, "s"))
        #expect(stored.name == "b" && stored.version == "2" && stored.updatedAt == nil && stored.isSynced)
        #expect(try store.checkIntegrity() == [])
    }

    @Test func `a refused object is not written and the transaction continues`() throws {
        let store = try Store.ofNodes()
        try store.write { _ in
            try store.applyServerObject(Node("a", code: "1"), serverID: "1")
            let error = failure { try store.applyServerObject(Node("b", code: "1"), serverID: "2") }
            #expect(error?.code == .duplicateValue && error?.property == "code")
            #expect(
                code { try store.applyServerObjects([Node("c", localID: "3"), Node("d", code: "1", localID: "4")]) }
                    == .duplicateValue)
            try store.applyServerObject(Node("e"), serverID: "5")
        }
        #expect(try store.live(Node.self).map(\.name) == ["a", "e"])
        #expect(try deferredItems(store) == 0)
        #expect(try store.checkIntegrity() == [])
    }

    @Test(arguments: StoreKind.memoryAndEncrypted)
    func `an unsent change is not overwritten`(kind: StoreKind) throws {
        let store = try Store.ofNodes(kind)
        let node = try store.applyServerObject(Node("a"), serverID: "s", version: "1")
        try store.write { try $0.update(Node.self, localID: node.localID) { $0.count = 1 } }
        let here = try store.applyServerObject(Node("b"), serverID: "s", version: "2")
        #expect(here.name == "a" && here.count == 1 && here.version == "1" && !here.isSynced)
        #expect(try deferredItems(store) == 1)
        let isRemoved = try store.applyServerDelete(of: Node.self, serverID: "s")
        #expect(!isRemoved)
        #expect(try store.stored(node)?.count == 1)
        try store.write { try $0.delete(node) }
        let error = failure { try store.applyServerObject(Node("b"), serverID: "s", version: "3") }
        #expect(error?.code == .objectDeleted && error?.model == "Node")
        #expect(try store.stored(node)?.name == "a" && store.stored(node)?.isDeleted == true)
        #expect(try store.queue() == ["delete s [count]"])
        #expect(try store.checkIntegrity() == [])
    }

    @Test(arguments: StoreKind.memoryAndEncrypted)
    func `a server's delete erases the object at once`(kind: StoreKind) throws {
        let store = try Store.ofNodes(kind)
        try store.applyServerObject(Node("a"), serverID: "a")
        var node = Node("b")
        node.next = Reference(localID: "a")
        node.friends = [Reference(localID: "z"), Reference(localID: "a"), Reference(localID: "b")]
        node.keeper = Reference(localID: "a")
        node.parent = Reference(localID: "a")
        try store.applyServerObject(node, serverID: "b")
        #expect(try store.applyServerDelete(of: Node.self, serverID: "a"))
        let again = try store.applyServerDelete(of: Node.self, serverID: "a")
        #expect(!again)
        var holder = try #require(try store.stored(Node.self, "b"))
        #expect(holder.next == nil && holder.parent == nil && holder.friends.map(\.localID) == ["b"])
        #expect(holder.isSynced)
        #expect(try store.operations.count() == 0)
        #expect(try store.checkIntegrity() == [])
        // The object returns, and all references to it return to their places.
        try store.applyServerObjects([Node("a", localID: "a"), Node("z", localID: "z")])
        holder = try #require(try store.stored(Node.self, "b"))
        #expect(holder.friends.map(\.localID) == ["z", "a", "b"])
        #expect(holder.next?.localID == "a" && holder.parent?.localID == "a" && holder.keeper?.localID == "a")
        #expect(try store.checkIntegrity() == [])
    }

    @Test(arguments: StoreKind.memoryAndEncrypted)
    func `local-only properties and models are never sent`(kind: StoreKind) throws {
        let store = try Store.ofNodes(kind)
        let node = try store.applyServerObject(Node("a"), serverID: "s")
        try store.write { tx in
            try tx.update(Node.self, localID: node.localID) { $0.note = "mine" }
            let memo = try tx.insert(Memo("m", about: node.reference))
            try tx.update(Memo.self, localID: memo.localID) { $0.text = "n" }
        }
        #expect(try store.operations.count() == 0)
        #expect(try store.stored(node)?.isSynced == true)
        #expect(try store.stored(node)?.note == "mine")
        // A server does not know them and does not reset them.
        var theirs = Node("b")
        theirs.note = "theirs"
        let received = try store.applyServerObject(theirs, serverID: "s")
        #expect(received.note == "mine" && received.name == "b")
        #expect(try store.stored(node)?.note == "mine")
        try store.write {
            try $0.update(Node.self, localID: node.localID) {
                $0.note = "again"
                $0.count = 1
            }
        }
        #expect(try store.queue() == ["update s [count]"])
        let memo = try store.live(Memo.self)[0]
        #expect(try store.write { try $0.delete(memo) })
        #expect(try store.stored(memo) == nil)
        #expect(try store.operations.count() == 1)
        #expect(try store.checkIntegrity() == [])
    }
}
