import TandemTesting
import TestSupport
import Testing

@testable import Tandem

@Suite(.ownThreads) struct UniqueTests {
    @Test(arguments: StoreKind.memoryAndEncrypted)
    func aSecondLiveObjectWithAUniqueValueIsRefused(kind: StoreKind) throws {
        let store = try Store.ofNodes(kind)
        let a = try store.write { try $0.insert(Node("a", code: "1")) }
        let b = try store.write { try $0.insert(Node("b", code: "2")) }
        for attempt: (WriteTransaction) throws -> Void in [
            { try $0.insert(Node("c", code: "1")) },
            { try $0.update(Node.self, b.localID) { $0.code = "1" } },
            { try $0.upsert(Node.self, values: ["localID": b.localID, "code": "1"]) },
            { try $0.upsert(Node("d", code: "2")) },
        ] {
            let error = failure { try store.write { try attempt($0) } }
            #expect(error?.code == .duplicateValue)
            #expect(error?.model == "Node")
            #expect(error?.property == "code")
            #expect(error?.store == store.path)
        }
        #expect(try store.live(Node.self).count == 2)
        try store.write { tx in
            // An exchange by way of nil.
            try tx.update(Node.self, a.localID) { $0.code = nil }
            try tx.update(Node.self, b.localID) { $0.code = "1" }
            try tx.update(Node.self, a.localID) { $0.code = "2" }
        }
    }

    @Test(arguments: StoreKind.memoryAndEncrypted)
    func nilIsNoValue(kind: StoreKind) throws {
        let store = try Store.ofNodes(kind)
        try store.write { try $0.insert(contentsOf: [Node("a"), Node("b"), Node("c")]) }
        #expect(try store.live(Node.self).count == 3)
    }

    @Test(arguments: StoreKind.memoryAndEncrypted)
    func severalPropertiesAreUniqueTogether(kind: StoreKind) throws {
        func node(_ first: Int, _ second: Int?) -> Node {
            var node = Node()
            node.code1 = first
            node.code2 = second
            return node
        }
        let store = try Store.ofNodes(kind)
        try store.write { try $0.insert(contentsOf: [node(1, 1), node(1, 2), node(2, 1), node(3, nil), node(3, nil)]) }
        let error = failure { try store.write { try $0.insert(node(1, 2)) } }
        #expect(error?.code == .duplicateValue)
        #expect(error?.property == "code1+code2")
    }

    @Test(arguments: StoreKind.memoryAndEncrypted)
    func deletedObjectsDoNotCountUntilTheyComeBack(kind: StoreKind) throws {
        let store = try Store.ofNodes(kind)
        let a = try store.write { try $0.insert(Node("a", code: "1")) }
        try store.sendAll()
        try store.write { tx in
            try tx.delete(a)
            try tx.insert(Node("b", code: "1", localID: "b"))
        }
        let error = failure { try store.write { try $0.undelete(a) } }
        #expect(error?.code == .duplicateValue)
        #expect(error?.property == "code")
        #expect(try store.stored(a)?.isDeleted == true)
        #expect(try store.queue().contains("delete \(a.localID)"))
        #expect(try store.checkIntegrity() == [])
        try store.write { tx in
            try tx.delete(Node.self, "b")
            try tx.undelete(a)
        }
        #expect(try store.live(Node.self).map(\.name) == ["a"])
        #expect(try store.stored(a)?.isSynced == true)
    }
}
