import BigInt
import Foundation
import TandemTesting
import TestSupport
import Testing

@testable import Tandem

@Suite(.ownThreads) struct WriteTests {
    @Test(arguments: StoreKind.allCases)
    func `an inserted object is stored with its IDs`(_ kind: StoreKind) throws {
        try kind.withStore(Node.self, Memo.self) { store in
            let node = try store.write { try $0.insert(Node("Лента", count: 3)) }
            #expect(node.serverID == nil && !node.isSynced && !node.isDeleted && node.version == nil)
            let stored = try #require(try store.stored(node))
            #expect(stored == node)
            #expect(try store.stored(Node.self, "none") == nil)
        }
    }

    @Test func `an insert with an existing local ID is refused`() throws {
        let store = try Store.ofNodes()
        try store.write { try $0.insert(Node("a", localID: "x")) }
        let error = failure { try store.write { try $0.insert(Node("b", localID: "x")) } }
        #expect(error?.code == .duplicateID)
        #expect(error?.model == "Node")
        #expect(error?.store == ":memory:")
        #expect(error?.message.contains("x") == true)
        // The same applies if the objects share a unique value.
        try store.write { try $0.insert(Node("c", code: "1", localID: "y")) }
        #expect(code { try store.write { try $0.insert(Node("c", code: "1", localID: "y")) } } == .duplicateID)
        #expect(try store.stored(Node.self, "x")?.name == "a")
    }

    @Test func `an update of the whole value writes the differences`() throws {
        let store = try Store.ofNodes()
        var node = try store.write { try $0.insert(Node("a", count: 1)) }
        try store.sendAll()
        node.count = 2
        node = try store.write { try $0.update(node) }
        #expect(try store.queue() == ["update \(node.localID) [count]"])
        #expect(try store.stored(node)?.count == 2)
        #expect(node.serverID != nil && !node.isSynced)
    }

    @Test func `an update that changes nothing writes and queues nothing`() throws {
        let store = try Store.ofNodes()
        var node = Node("a", code: "1", count: 1)
        node.friends = [node.reference]
        node = try store.write { try $0.insert(node) }
        try store.sendAll()
        node = try #require(try store.stored(node))
        try store.write { tx in
            let before = store.writer.connection.totalChanges
            node = try tx.update(node)
            try tx.update(Node.self, localID: node.localID) { $0.count += 0 }
            try tx.upsert(node)
            try tx.upsert(Node.self, values: ["localID": node.localID, "count": 1])
            #expect(store.writer.connection.totalChanges == before)
        }
        #expect(node.isSynced)
        #expect(try store.operations.count() == 0)
    }

    @Test func `an update in place sees the writes of its block`() throws {
        let store = try Store.ofNodes()
        let node = try store.write { try $0.insert(Node("a", count: 1)) }
        let result = try store.write { tx in
            try tx.update(Node.self, localID: node.localID) { $0.count += 1 }
            return try tx.update(Node.self, localID: node.localID) { node in
                try tx.insert(Node("made inside"))
                node.count *= 10
            }
        }
        #expect(result.count == 20)
        #expect(try store.live(Node.self).count == 2)
        // The block can't change the local ID.
        let replaced = try store.write { tx in try tx.update(Node.self, localID: node.localID) { $0 = Node("other") } }
        #expect(replaced.localID == node.localID && replaced.name == "other")
    }

    @Test func `changes of missing or deleted objects are refused`() throws {
        let store = try Store.ofNodes()
        #expect(code { try store.write { try $0.update(Node("a")) } } == .notFound)
        #expect(code { try store.write { try $0.update(Node.self, localID: "x") { $0.count = 1 } } } == .notFound)
        #expect(code { try store.write { try $0.undelete(Node("a")) } } == .notFound)
        #expect(try store.write { try $0.delete(Node("a")) } == false)
        let node = try store.write { try $0.insert(Node("a")) }
        #expect(code { try store.write { try $0.undelete(node) } } == .objectNotDeleted)
        try store.sendAll()
        #expect(try store.write { try $0.delete(node) })
        #expect(try store.write { try $0.delete(node) } == false)
        #expect(code { try store.write { try $0.update(node) } } == .objectDeleted)
        #expect(
            code { try store.write { try $0.update(Node.self, localID: node.localID) { $0.count = 1 } } }
                == .objectDeleted)
    }

    @Test func `bulk forms do all or nothing`() throws {
        let store = try Store.ofNodes()
        let nodes = (0..<50).map { Node("n\($0)", code: "\($0)") }
        try store.write { try $0.insert(contentsOf: nodes) }
        #expect(
            code {
                try store.write { tx in
                    try tx.insert(contentsOf: [Node("x"), Node("y", code: "7")])
                }
            } == .duplicateValue)
        #expect(try store.live(Node.self).count == 50)
        let changed = try store.write { tx in
            try tx.update(tx.store.objects(Node.self)) { $0.count += 1 }
        }
        #expect(changed == 50)
        #expect(try store.live(Node.self).allSatisfy { $0.count == 1 })
        try store.write { try $0.upsert(contentsOf: nodes.prefix(3) + [Node("new")]) }
        #expect(try store.live(Node.self).map(\.count).reduce(0, +) == 47)
        #expect(try store.write { try $0.delete(contentsOf: nodes.prefix(10) + [Node("missing")]) } == 10)
        #expect(try store.write { try $0.delete(store.objects(Node.self)) } == 41)
        #expect(try store.operations.count() == 0)
        #expect(try store.checkIntegrity() == [])
    }

    @Test func `a thrown error undoes everything`() throws {
        struct Stop: Error {}
        let store = try Store.ofNodes()
        let kept = try store.write { try $0.insert(Node("Пятёрочка", count: 1)) }
        try store.sendAll()
        #expect(throws: Stop.self) {
            try store.write { tx in
                var other = Node("Лента")
                other.friends = [kept.reference, Reference(localID: "not here")]
                try tx.insert(other)
                try tx.update(Node.self, localID: kept.localID) { $0.name = "Магнит" }
                try tx.delete(kept)
                #expect(try store.operations.count() == 2)
                throw Stop()
            }
        }
        #expect(try store.live(Node.self) == [try #require(try store.stored(kept))])
        #expect(try store.stored(kept)?.name == "Пятёрочка")
        #expect(try store.operations.count() == 0)
        #expect(try store.sql("SELECT count(*) FROM __unresolved")[0][0] == .integer(0))
        #expect(try store.checkIntegrity() == [])
    }

    @Test func `a nested write is part of the outer one`() throws {
        struct Stop: Error {}
        let store = try Store.ofNodes()
        let node = try store.write { try $0.insert(Node("kept", count: 1)) }
        try store.write { tx in
            try tx.update(Node.self, localID: node.localID) { $0.name = "first" }
            #expect(throws: Stop.self) {
                try store.write { inner in
                    #expect(inner === tx)
                    try inner.update(Node.self, localID: node.localID) { $0.name = "second" }
                    try inner.insert(Node("inner"))
                    throw Stop()
                }
            }
            #expect(try store.live(Node.self).map(\.name) == ["first"])
            try store.applyServerObject(Node("server"), serverID: "1")
            try tx.insert(Node("last"))
        }
        #expect(Set(try store.live(Node.self).map(\.name)) == ["first", "server", "last"])
        #expect(try store.operations.count() == 2)
        #expect(try store.checkIntegrity() == [])
        #expect(throws: Stop.self) {
            try store.write { _ in
                try store.write { try $0.insert(Node("lost with the outer one")) }
                throw Stop()
            }
        }
        #expect(try store.live(Node.self).count == 3)
    }

    @Test func `an error that the block catches keeps the rest`() throws {
        let store = try Store.ofNodes()
        try store.write { tx in
            try tx.insert(Node("a", code: "1"))
            #expect(code { try tx.insert(Node("b", code: "1")) } == .duplicateValue)
            #expect(code { try tx.update(Node("none")) } == .notFound)
            try tx.insert(Node("c", code: "2"))
        }
        #expect(try store.live(Node.self).count == 2)
        #expect(try store.checkIntegrity() == [])
    }

    @Test func `a transaction is over when its block returns`() throws {
        let store = try Store.ofNodes()
        var kept: WriteTransaction?
        try store.write { kept = $0 }
        let tx = try #require(kept)
        #expect(code { try tx.insert(Node("a")) } == .transactionOver)
        #expect(code { try tx.update(Node("a")) } == .transactionOver)
        #expect(code { try tx.upsert(Node.self, values: [:]) } == .transactionOver)
        #expect(code { try tx.delete(Node("a")) } == .transactionOver)
        #expect(code { try tx.undelete(Node("a")) } == .transactionOver)
        #expect(code { try tx.beginAttempt(1) } == .transactionOver)
    }

    @Test(arguments: StoreKind.allCases)
    func `a write inside a read is refused`(_ kind: StoreKind) throws {
        try kind.withStore(Node.self) { store in
            #expect(code { try store.read { _ in try store.write { try $0.insert(Node("a")) } } } == .writeInsideRead)
            try store.write { try $0.insert(Node("a")) }
            #expect(try store.live(Node.self).count == 1)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `only a transaction itself reads its uncommitted writes`(_ kind: StoreKind) throws {
        try kind.withStore(Node.self, HandPerson.self, HandCard.self) { store in
            try store.write { tx in
                try tx.insert(Node("Пятёрочка"))
                #expect(try store.read { _ in try store.live(Node.self).count } == 1)
                #expect(try store.operations.count() == 1)
                let found = try store.sql(
                    """
                    SELECT count(*) FROM __search_Node \
                    WHERE __search_name GLOB '*терочк*' OR __search_name GLOB '*тёрочк*'
                    """
                )
                #expect(found[0][0] == .integer(1))
                #expect(try store.checkIntegrity() == [])
            }
        }
    }

    @Test func `stores are independent`() throws {
        try withStorePath { path in
            let first = try Store.ofNodes()
            let second = try Store(at: path, models: Node.self, Memo.self)
            defer { second.close() }
            try first.write { tx in
                try tx.insert(Node("a"))
                try second.write { try $0.insert(Node("b")) }
                #expect(try second.live(Node.self).map(\.name) == ["b"])
                #expect(try first.live(Node.self).map(\.name) == ["a"])
            }
            #expect(code { try first.write { try $0.insert(EveryType()) } } == .unknownModel)
        }
    }

    @Test(arguments: StoreKind.files) func `two stores on one file see each other's commits`(_ kind: StoreKind) throws {
        try withStorePath { path in
            var configuration = Store.Configuration()
            configuration.busyTimeout = 0
            let first = try kind.open(at: path, [Node.self], configuration: configuration)
            let second = try kind.open(at: path, [Node.self], configuration: configuration)
            defer {
                first.close()
                second.close()
            }
            let node = try first.write { try $0.insert(Node("a", count: 1)) }
            try second.write { try $0.update(Node.self, localID: node.localID) { $0.count = 2 } }
            #expect(try first.stored(node)?.count == 2)
            try first.write { tx in
                try tx.update(Node.self, localID: node.localID) { $0.count = 3 }
                let error = failure {
                    try second.write { try $0.update(Node.self, localID: node.localID) { $0.count = 4 } }
                }
                #expect(error?.code == .busy)
                #expect(error?.store == path)
                #expect(try second.stored(node)?.count == 2)
            }
            #expect(try second.stored(node)?.count == 3)
        }
    }

    @Test func `a closed store reports that it is closed`() async throws {
        let store = try Store.ofNodes()
        store.close()
        store.close()
        #expect(code { try store.write { try $0.insert(Node("a")) } } == .closed)
        #expect(code { try store.sql("SELECT 1") } == .closed)
        #expect(code { try store.operations.count() } == .closed)
        #expect(code { try store.checkIntegrity() } == .closed)
        await #expect(throws: TandemError.self) { try await store.write { try $0.insert(Node("a")) } }
    }
}
