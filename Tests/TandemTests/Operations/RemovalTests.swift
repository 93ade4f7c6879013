import Foundation
import TandemTesting
import TestSupport
import Testing

@testable import Tandem

/// Removing objects that the server or the app no longer has.
@Suite(.ownThreads) struct RemovalTests {
    private func rows(_ store: Store, _ filter: Tandem.Predicate<Node>? = nil) throws -> [Int64] {
        try store.read { tx in
            var rows: [Int64] = []
            try tx.forEachSyncedRow(in: "Node", matching: filter?.node) { row, _ in rows.append(row) }
            return rows
        }
    }

    /// Makes three objects that the server knows, the second changed and the third deleted locally, and one new object.
    private func fill(_ store: Store) throws {
        for (index, id) in ["a", "b", "c"].enumerated() {
            try store.applyServerObject(Node(id, count: index), serverID: ServerID(id), version: "1")
        }
        try store.write { tx in
            try tx.update(Node.self, localID: "b") { $0.count = 9 }
            try tx.delete(Node.self, localID: "c")
            try tx.insert(Node("new"))
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `synced objects are found by their filter`(kind: StoreKind) throws {
        try kind.withStore(Node.self) { store in
            try fill(store)
            #expect(try rows(store).count == 1)
            #expect(try rows(store, Node.Columns().name == "a") == rows(store))
            #expect(try rows(store, Node.Columns().name == "b").isEmpty)
            #expect(throws: TandemError.self) {
                try store.read { try $0.forEachSyncedRow(in: "Missing", matching: nil) { _, _ in } }
            }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `only synced objects are removed`(kind: StoreKind) throws {
        try kind.withStore(Node.self) { store in
            try fill(store)
            let all = try store.sql("SELECT __rid FROM Node ORDER BY 1").compactMap { row -> Int64? in
                if case .integer(let id) = row[0] { id } else { nil }
            }
            #expect(try store.write { try $0.sync.removeSynced(all + [9999], in: "Node") } == 1)
            #expect(try store.objects(Node.self).all().compactMap(\.name).sorted() == ["b", "new"])
            #expect(try store.objects(Node.self).onlyDeleted().all().map(\.name) == ["c"])
            #expect(try store.operations.count() == 3 && store.checkIntegrity() == [])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `operations are discarded with their objects`(kind: StoreKind) throws {
        try kind.withStore(Node.self) { store in
            try fill(store)
            let filter = Node.Columns().count > 5
            #expect(try store.write { try $0.sync.dropOperations(in: ["Node"], matching: filter.node) } == 1)
            #expect(try store.objects(Node.self).all().compactMap(\.name).sorted() == ["a", "new"])
            let all: PredicateNode? = nil
            #expect(try store.write { try $0.sync.dropOperations(in: ["Node"], matching: all) } == 2)
            #expect(try store.objects(Node.self).all().map(\.name) == ["a"])
            #expect(try store.objects(Node.self).onlyDeleted().count() == 0)
            #expect(try store.operations.count() == 0 && store.checkIntegrity() == [])
        }
    }

    @Test func `a deferred item is not kept again`() throws {
        let store = try Store(inMemoryModels: [Node.self])
        try fill(store)
        let item = ServerItem(serverID: "b", version: "2", values: ["name": "there"], source: [1])
        func receive(_ item: ServerItem) throws -> Int64 {
            try store.write { tx in
                let before = tx.connection.totalChanges
                _ = try tx.sync.applyServerItem(item, in: "Node")
                return tx.connection.totalChanges - before
            }
        }
        #expect(try receive(item) == 1)
        #expect(try receive(item) == 0)
        var newer = item
        newer.source = [2]
        #expect(try receive(newer) == 1)
    }
}
