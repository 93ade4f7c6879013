import Foundation
import TandemTesting
import TestSupport
import Testing

@testable import Tandem

@Suite(.ownThreads) struct ServerWriteTests {
    @Test(arguments: StoreKind.memoryAndEncrypted)
    func `an object from a server uses its server ID as local ID`(kind: StoreKind) throws {
        let store = try Store.ofNodes(kind)
        let at = Date(timeIntervalSinceReferenceDate: 0.1)
        let node = try store.write(from: .server) {
            try $0.insert(Node("a").received(serverID: "s1", version: "v", createdAt: at, updatedAt: at + 1))
        }
        #expect(node.localID == "s1" && node.serverID == "s1" && node.isSynced && node.version == "v")
        #expect(try store.stored(node) == node)
        #expect(try store.stored(node)?.createdAt == at && node.updatedAt == at + 1)
        #expect(try store.operations.count() == 0)
        try store.write(from: .server) { tx in
            try tx.upsert(Node("b").received(serverID: "s1", version: "v2"))
            try tx.upsert(Node("c").received(serverID: "s2"))
            try tx.upsert(Node.self, json: Data(#"{"serverID":"s3","name":"d","version":"v3"}"#.utf8))
        }
        #expect(try store.live(Node.self).map(\.localID) == ["s1", "s2", "s3"])
        #expect(try store.stored(node)?.version == "v2")
        #expect(try store.stored(Node.self, "s3")?.version == "v3")
        #expect(try store.operations.count() == 0)
        #expect(try store.checkIntegrity() == [])
    }

    @Test(arguments: StoreKind.memoryAndEncrypted)
    func `a server ID equal to another object's local ID neither splits nor merges objects`(kind: StoreKind) throws {
        let store = try Store.ofNodes(kind)
        // The object was never sent. No server can know it, so the server's object is another one.
        try store.write { try $0.insert(Node("mine", localID: "5")) }
        let theirs = try store.write(from: .server) { try $0.upsert(Node("theirs").received(serverID: "5")) }
        #expect(theirs.localID != "5" && theirs.serverID == "5")
        #expect(try store.live(Node.self).count == 2)
        // The next item from the server finds it.
        try store.write(from: .server) { try $0.upsert(Node("theirs again").received(serverID: "5")) }
        #expect(try store.stored(theirs)?.name == "theirs again")
        #expect(try store.stored(Node.self, "5")?.name == "mine")
        // References of the server contain its IDs.
        try store.write(from: .server) { tx in
            var holder = Node("holder")
            holder.next = Reference(localID: "5")
            try tx.insert(holder.received(serverID: "6"))
        }
        #expect(try store.stored(Node.self, "6")?.next?.localID == theirs.localID)

        // The object was sent and the answer was lost, so it is the same object.
        let other = try store.write { try $0.insert(Node("sent", localID: "7")) }
        try store.write { try $0.beginAttempt(try #require(try store.operations.operation(of: other)).id) }
        for write: (WriteTransaction) throws -> Void in [
            { try $0.upsert(Node("echo").received(serverID: "7")) },
            { try $0.insert(Node("echo").received(serverID: "7")) },
        ] {
            #expect(code { try store.write(from: .server) { try write($0) } } == .unsentChanges)
        }
        #expect(try store.live(Node.self).count == 4)
        #expect(try store.checkIntegrity() == [])
    }

    @Test func `a server write changes a row once and an equal one not at all`() throws {
        let store = try Store.ofNodes()
        let at = Date(timeIntervalSinceReferenceDate: 1)
        let node = Node("a").received(serverID: "s", version: "1", updatedAt: at)
        try store.write(from: .server) { tx in
            try tx.upsert(node)
            let before = store.writer.connection.totalChanges
            try tx.upsert(node)
            #expect(store.writer.connection.totalChanges == before)
            try tx.upsert(Node("b").received(serverID: "s", version: "2"))
            #expect(store.writer.connection.totalChanges == before + 1)
        }
        let stored = try #require(try store.stored(Node.self, "s"))
        #expect(stored.name == "b" && stored.version == "2" && stored.updatedAt == nil && stored.isSynced)
        #expect(try store.checkIntegrity() == [])
    }

    @Test func `a server ID of another object is refused and the transaction continues`() throws {
        let store = try Store.ofNodes()
        try store.write(from: .server) { tx in
            try tx.insert(Node("a").received(serverID: "1"))
            try tx.insert(Node("b").received(serverID: "2"))
            let error = failure { try tx.update(Node("c", localID: "2").received(serverID: "1")) }
            #expect(error?.code == .duplicateID && error?.message.contains("server ID 1") == true)
            try tx.insert(Node("d").received(serverID: "3"))
        }
        #expect(try store.live(Node.self).map(\.name) == ["a", "b", "d"])
        #expect(try store.checkIntegrity() == [])
    }

    @Test(arguments: StoreKind.memoryAndEncrypted)
    func `an unsent change is not overwritten`(kind: StoreKind) throws {
        let store = try Store.ofNodes(kind)
        let node = try store.write(from: .server) { try $0.insert(Node("a").received(serverID: "s")) }
        try store.write { try $0.update(Node.self, localID: node.localID) { $0.count = 1 } }
        for write: (WriteTransaction) throws -> Void in [
            { try $0.upsert(Node("b").received(serverID: "s")) },
            { try $0.update(Node.self, localID: node.localID) { $0.name = "b" } },
            { try $0.upsert(Node.self, values: ["serverID": "s", "name": "b"]) },
            { try $0.delete(node) },
        ] {
            let error = failure { try store.write(from: .server) { try write($0) } }
            #expect(error?.code == .unsentChanges)
            #expect(error?.model == "Node")
        }
        try store.write { try $0.delete(node) }
        #expect(
            code { try store.write(from: .server) { try $0.upsert(Node("b").received(serverID: "s")) } }
                == .unsentChanges)
        #expect(try store.stored(node)?.name == "a")
        #expect(try store.checkIntegrity() == [])
    }

    @Test(arguments: StoreKind.memoryAndEncrypted)
    func `a server's delete erases the object at once`(kind: StoreKind) throws {
        let store = try Store.ofNodes(kind)
        try store.write(from: .server) { tx in
            try tx.insert(Node("a").received(serverID: "a"))
            var holder = Node("b")
            holder.next = Reference(localID: "a")
            holder.friends = [Reference(localID: "z"), Reference(localID: "a"), Reference(localID: "b")]
            holder.keeper = Reference(localID: "a")
            holder.parent = Reference(localID: "a")
            try tx.insert(holder.received(serverID: "b"))
        }
        #expect(try store.write(from: .server) { try $0.delete(Node.self, localID: "a") })
        let holder = try #require(try store.stored(Node.self, "b"))
        #expect(holder.next == nil && holder.parent == nil && holder.friends.map(\.localID) == ["b"])
        #expect(holder.isSynced)
        #expect(try store.operations.count() == 0)
        #expect(try store.checkIntegrity() == [])
        // The object returns, and all references to it return to their places.
        try store.write(from: .server) { tx in
            try tx.insert(Node("a").received(serverID: "a"))
            try tx.insert(Node("z").received(serverID: "z"))
        }
        let again = try #require(try store.stored(Node.self, "b"))
        #expect(again.friends.map(\.localID) == ["z", "a", "b"])
        #expect(again.next?.localID == "a" && again.parent?.localID == "a" && again.keeper?.localID == "a")
        #expect(try store.checkIntegrity() == [])
    }

    @Test(arguments: StoreKind.memoryAndEncrypted)
    func `local-only properties and models are never sent`(kind: StoreKind) throws {
        let store = try Store.ofNodes(kind)
        let node = try store.write(from: .server) { try $0.insert(Node("a").received(serverID: "s")) }
        try store.write { tx in
            try tx.update(Node.self, localID: node.localID) { $0.note = "mine" }
            let memo = try tx.insert(Memo("m", about: node.reference))
            try tx.update(Memo.self, localID: memo.localID) { $0.text = "n" }
        }
        #expect(try store.operations.count() == 0)
        #expect(try store.stored(node)?.isSynced == true)
        #expect(try store.stored(node)?.note == "mine")
        // A server does not know them and does not reset them.
        let received = try store.write(from: .server) { try $0.upsert(Node("b").received(serverID: "s")) }
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
