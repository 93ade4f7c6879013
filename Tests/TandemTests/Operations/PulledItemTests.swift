import Foundation
import TandemTesting
import TestSupport
import Testing

@testable import Tandem

/// Received items: written without a pending operation, otherwise kept beside the object.
@Suite(.ownThreads) struct PulledItemTests {
    private func item(
        _ id: ServerID, _ version: String?, deleted: Bool = false, extras: [UInt8]? = nil,
        _ values: [String: StorageValue] = ["name": "there"]
    ) -> ServerItem {
        ServerItem(
            serverID: id, version: version,
            updatedAt: version.flatMap { Double($0) }.map {
                Date(timeIntervalSinceReferenceDate: $0)
            }, isDeleted: deleted, values: deleted ? [:] : values, extras: extras, source: Array((version ?? "").utf8))
    }

    private func receive(
        _ item: ServerItem, in store: Store, _ identity: IdentityRule = .client
    ) throws -> String {
        switch try store.write({ try $0.sync.applyServerItem(item, in: "Node", identity: identity) }) {
        case .inserted(let id): "inserted \(id)"
        case .updated(let id): "updated \(id)"
        case .removed(let id): "removed \(id)"
        case .unchanged: "unchanged"
        case .unknownTombstone: "unknown tombstone"
        case .deferred(let id): "kept beside \(id)"
        case .refused(let error): "refused \(error.code == .duplicateValue)"
        }
    }

    private func kept(_ store: Store) throws -> [String] {
        try store.sql("SELECT serverID, object IS NOT NULL, item, deleted, reason FROM __server_items ORDER BY 1").map {
            guard case .blob(let bytes) = $0[2] else { return "?" }
            let item = String(decoding: bytes, as: UTF8.self)
            return "\($0[0].string!) \($0[1] == 1 ? "known" : "unknown") \(item)"
                + ($0[3] == 1 ? " deleted" : "") + ($0[4] == 2 ? " refused" : "")
        }
    }

    // MARK: No operation

    @Test(arguments: StoreKind.allCases)
    func `an item without an operation is written`(kind: StoreKind) throws {
        try kind.withStore(Node.self) { store in
            #expect(try receive(item("s", "1"), in: store) == "inserted s")
            var node = try #require(try store.stored(Node.self, "s"))
            #expect(node.name == "there" && node.count == 0 && node.isSynced && node.version == "1")
            try store.write { try $0.update(Node.self, localID: "s") { $0.note = "mine" } }
            #expect(try receive(item("s", "2", ["count": 5]), in: store) == "updated s")
            node = try #require(try store.stored(Node.self, "s"))
            // Properties that the item does not name and local-only properties stay.
            #expect(node.name == "there" && node.count == 5 && node.note == "mine" && node.version == "2")
            #expect(try receive(item("x", "3", deleted: true), in: store) == "unknown tombstone")
            #expect(try receive(item("s", "3", deleted: true), in: store) == "removed s")
            #expect(try store.stored(Node.self, "s") == nil)
            #expect(try store.operations.count() == 0 && store.checkIntegrity() == [] && kept(store) == [])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `an unchanged item is not written`(kind: StoreKind) throws {
        try kind.withStore(Node.self) { (store) throws in
            let same = item("s", "1", extras: [1], ["name": "n", "friends": #"["s"]"#, "next": "absent"])
            #expect(try receive(same, in: store) == "inserted s")
            let changes = store.writer.connection.totalChanges
            #expect(try receive(same, in: store) == "unchanged")
            #expect(store.writer.connection.totalChanges == changes)
            // The version alone is not reliable, so other values count.
            var other = same
            other.values["count"] = 3
            #expect(try receive(other, in: store) == "updated s" && store.stored(Node.self, "s")?.count == 3)
            other.version = "2"
            #expect(try receive(other, in: store) == "updated s")
            #expect(try store.checkIntegrity() == [])
        }
    }

    @Test func `holders of a removed object wait for it`() throws {
        let store = try Store.ofNodes()
        #expect(try receive(item("a", "1"), in: store) == "inserted a")
        #expect(
            try receive(item("b", "1", ["name": "b", "next": "a", "friends": #"["a"]"#]), in: store) == "inserted b")
        #expect(try receive(item("a", "2", deleted: true), in: store) == "removed a")
        #expect(try store.stored(Node.self, "b")?.next == nil)
        #expect(try receive(item("a", "3"), in: store) == "inserted a")
        let holder = try #require(try store.stored(Node.self, "b"))
        #expect(holder.next?.localID == "a" && holder.friends.map(\.localID) == ["a"] && holder.isSynced)
    }

    @Test func `a missing property is an error that names it`() throws {
        let store = try Store.inMemory(models: HandPerson.self)
        let error = expectError(.invalidValue) {
            try store.write { try $0.sync.applyServerItem(item("s", "1", [:]), in: "HandPerson") }
        }
        #expect(error?.property == "name" && error?.model == "HandPerson")
        expectError(.unknownModel) { try store.write { try $0.sync.applyServerItem(item("s", "1"), in: "Nothing") } }
    }

    // MARK: An operation

    @Test(arguments: StoreKind.allCases)
    func `a row with an operation is not changed`(kind: StoreKind) throws {
        try kind.withStore(Node.self) { store in
            _ = try receive(item("s", "1", ["name": "0", "count": 0]), in: store)
            try store.write { try $0.update(Node.self, localID: "s") { $0.name = "mine" } }
            let id = try store.operations.all()[0].id
            for (version, isDeleted) in [("2", false), ("3", true), ("4", false)] {
                #expect(try receive(item("s", version, deleted: isDeleted), in: store) == "kept beside \(id)")
            }
            let node = try #require(try store.stored(Node.self, "s"))
            #expect(node.name == "mine" && node.version == "1" && !node.isSynced)
            // The newest item counts.
            #expect(try kept(store) == ["s known 4"])
            let found = try #require(try store.read { try $0.deferredItem(of: id) })
            #expect(found.version == "4" && found.localID == "s" && found.reason == .pending && !found.isDeleted)
            #expect(try store.read { try $0.deferredItemsWithoutOperation(in: "Node", limit: 9) } == [])
            // The server reverted it: the operation's base applies again.
            #expect(try receive(item("s", "1", ["name": "0", "count": 0]), in: store) == "unchanged")
            #expect(try kept(store) == [] && store.checkIntegrity() == [])
        }
    }

    @Test func `our own write under the old version is not a change`() throws {
        let store = try Store.ofNodes()
        _ = try receive(item("s", "1", ["name": "0", "count": 0]), in: store)
        try store.write { tx in
            try tx.update(Node.self, localID: "s") { $0.name = "first" }
            _ = try tx.sync.markOutcomeUnknown(1, attempt: try tx.beginAttempt(1).attempts, error: ResponseTests.lost)
            try tx.update(Node.self, localID: "s") { $0.name = "second" }
        }
        // A server may give two writes in one millisecond the same version.
        #expect(try receive(item("s", "1", ["name": "first", "count": 0]), in: store) == "unchanged")
        #expect(try receive(item("s", "1", ["name": "stranger", "count": 0]), in: store) == "kept beside 1")
        #expect(try receive(item("s", "1", ["name": "first", "count": 8]), in: store) == "kept beside 1")
    }

    @Test(arguments: StoreKind.allCases)
    func `a lost insert is found again`(kind: StoreKind) throws {
        try kind.withStore(Node.self) { store in
            try store.write { tx in
                try tx.insert(Node("never sent", localID: "a"))
                try tx.insert(Node("sent", localID: "b"))
                try tx.beginAttempt(2)
            }
            // Local IDs are final here, so the item is this object whatever client sent it.
            #expect(try receive(item("a", "1"), in: store) == "kept beside 1")
            #expect(try receive(item("b", "1"), in: store) == "kept beside 2")
            // The server makes the IDs, so only an item with the local ID is this object.
            #expect(try receive(item("77", "1"), in: store, .server(localID: "b")) == "kept beside 2")
            #expect(try receive(item("78", "1"), in: store, .server(localID: "unknown")) == "inserted 78")
            let mine = try receive(item("c", "1"), in: store, .server(localID: nil))
            #expect(mine == "inserted c")
            try store.write { try $0.insert(Node("mine", localID: "79")) }
            try store.write { try $0.beginAttempt(3) }
            let other = try receive(item("79", "1"), in: store, .server(localID: nil))
            #expect(other.hasPrefix("inserted") && other != "inserted 79")
            #expect(try store.live(Node.self).count == 6 && store.checkIntegrity() == [])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a deferred item outlives its operation`(kind: StoreKind) throws {
        try kind.withStore(Node.self) { store in
            _ = try receive(item("s", "1", ["name": "0"]), in: store)
            try store.write { tx in
                try tx.insert(Node("mine", localID: "a"))
                try tx.delete(Node.self, localID: "s")
            }
            _ = try receive(item("a", "5"), in: store)
            _ = try receive(item("s", "6"), in: store)
            // The delete and the insert are undone. The delta token is already behind both items.
            try store.write { tx in
                try tx.undelete(Node.self, localID: "s")
                try tx.delete(Node.self, localID: "a")
            }
            #expect(try kept(store) == ["a unknown 5", "s known 6"])
            let items = try store.read { tx in
                try tx.deferredItemsWithoutOperation(in: "Node", limit: 1)
                    + tx.deferredItemsWithoutOperation(in: "Node", after: "a", limit: 9)
            }
            #expect(items.map(\.serverID) == ["a", "s"] && items.map(\.localID) == [nil, "s"])
            #expect(try receive(item("a", "5"), in: store) == "inserted a")
            #expect(try receive(item("s", "6"), in: store) == "updated s")
            #expect(try kept(store) == [] && store.checkIntegrity() == [])
        }
    }

    @Test func `a deferred tombstone is removed with the row`() throws {
        let store = try Store.ofNodes()
        try store.write { try $0.insert(Node("mine", localID: "a")) }
        #expect(try receive(item("a", "5", deleted: true), in: store) == "kept beside 1")
        try store.write { try $0.delete(Node.self, localID: "a") }
        #expect(try kept(store) == [] && store.checkIntegrity() == [])
    }

    @Test func `a response forgets the items kept before it`() throws {
        let store = try Store.ofNodes()
        for (id, version) in [("a", "5"), ("b", "9"), ("c", "7")] {
            try store.write { try $0.insert(Node(id, localID: LocalID(id))) }
            _ = try receive(item(ServerID(id), version), in: store)
        }
        try store.write { tx in
            for id: PendingOperation.ID in 1...3 {
                let operation = try tx.beginAttempt(id)
                let response = item(ServerID(operation.localID.rawValue), "7")
                #expect(try tx.sync.acknowledge(id, attempt: 1, with: response) == .done)
            }
        }
        // By the server's clock one is older than the deferred item: that clock went backwards.
        #expect(try kept(store) == [] && store.stored(Node.self, "b")?.version == "7")
    }

    /// A random history found this: encrypted, seed 27298.
    @Test func `a completed delete forgets the deferred item of an earlier object with its ID`() throws {
        let store = try Store.ofNodes()
        try store.write { try $0.insert(Node("first", localID: "a")) }
        #expect(try receive(item("a", "5"), in: store) == "kept beside 1")
        try store.write { tx in
            try tx.delete(Node.self, localID: "a")
            try tx.insert(Node("second", localID: "a"))
            try tx.beginAttempt(2)
            try tx.delete(Node.self, localID: "a")
            #expect(try tx.sync.acknowledge(2, attempt: try tx.beginAttempt(2).attempts, with: nil) == .done)
        }
        #expect(try kept(store) == [] && store.checkIntegrity() == [])
    }

    // MARK: Unique values

    @Test(arguments: StoreKind.allCases)
    func `a clash of unique values fails the row but not the page`(kind: StoreKind) throws {
        try kind.withStore(Node.self) { store in
            _ = try receive(item("s", "1", ["code": "s"]), in: store)
            try store.write { try $0.insert(Node("mine", code: "taken", localID: "a")) }
            try store.write { tx in
                for (id, expected) in [("n", "refused"), ("s", "refused"), ("ok", "inserted")] as [(ServerID, String)] {
                    let receipt = try tx.sync.applyServerItem(
                        item(id, "2", ["code": id == "ok" ? .null : "taken", "friends": #"["n","s"]"#]), in: "Node")
                    #expect("\(receipt)".hasPrefix(expected))
                }
            }
            #expect(try kept(store) == ["n unknown 2 refused", "s known 2 refused"])
            #expect(try store.stored(Node.self, "s")?.version == "1")
            #expect(try store.checkIntegrity() == [])
            // The items are received once the value is free.
            try store.write { try $0.update(Node.self, localID: "a") { $0.code = nil } }
            let items = try store.read { try $0.deferredItemsWithoutOperation(in: "Node", limit: 9) }
            #expect(items.map(\.serverID) == ["n", "s"])
            #expect(try receive(item("n", "2", ["code": "taken"]), in: store) == "inserted n")
            #expect(try kept(store) == ["s known 2 refused"])
            #expect(try store.stored(Node.self, "ok")?.friends.map(\.localID) == ["n", "s"])
            // A tombstone resolves the other one.
            #expect(try receive(item("s", "3", deleted: true), in: store) == "removed s")
            #expect(try kept(store) == [] && store.checkIntegrity() == [])
        }
    }

    // MARK: Unknown members

    @Test(arguments: StoreKind.allCases)
    func `unknown members are kept with the object`(kind: StoreKind) throws {
        try kind.withStore(Node.self) { store in
            func extras() throws -> [UInt8]? { try store.read { try $0.extras(of: "s", in: "Node") } }
            _ = try receive(item("s", "1", extras: [1]), in: store)
            #expect(try extras() == [1])
            _ = try receive(item("s", "2", extras: [2]), in: store)
            #expect(try extras() == [2])
            // A response brings them too.
            try store.write { tx in
                try tx.update(Node.self, localID: "s") { $0.name = "x" }
                _ = try tx.sync.applyServerItem(item("s", "3", extras: [9]), in: "Node")
                #expect(try tx.extras(of: "s", in: "Node") == [2])
                _ = try tx.sync.acknowledge(
                    1, attempt: try tx.beginAttempt(1).attempts, with: item("s", "4", extras: [3]))
            }
            #expect(try extras() == [3] && kept(store) == [])
            _ = try receive(item("s", "5"), in: store)
            #expect(try extras() == nil)
            _ = try receive(item("s", "6", extras: [4]), in: store)
            #expect(try receive(item("s", "7", deleted: true), in: store) == "removed s")
            #expect(try store.sql("SELECT count(*) FROM __server_extras")[0][0] == 0)
            #expect(try store.checkIntegrity() == [])
        }
    }
}
