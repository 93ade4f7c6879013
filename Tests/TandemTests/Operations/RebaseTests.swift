import Foundation
import TandemTesting
import TestSupport
import Testing

@testable import Tandem

/// An operation is rebased on the server's state.
@Suite(.ownThreads) struct RebaseTests {
    private func item(
        _ id: ServerID, _ values: [String: StorageValue] = [:], deleted: Bool = false
    ) -> ServerItem {
        ServerItem(serverID: id, version: "9", isDeleted: deleted, values: values)
    }

    private static func exactly(_ property: PropertyDefinition, _ value: StorageValue) -> StorageValue { value }

    /// A mapping that loses the last digit of numbers.
    private static func inTens(_ property: PropertyDefinition, _ value: StorageValue) -> StorageValue {
        if case .integer(let number) = value { .integer(number / 10 * 10) } else { value }
    }

    /// Makes a store with the node `s`, received with name 0, code c and count 0. An update of name and count was sent
    /// without a response, and the name was changed again.
    private func withUpdate(_ kind: StoreKind, _ body: (Store) throws -> Void) throws {
        try kind.withStore(Node.self) { store in
            try store.receiveNode("s", ["name": "0", "code": "c", "count": 0])
            try store.write { tx in
                try tx.update(Node.self, localID: "s") { ($0.name, $0.count) = ("1", 1) }
                let attempt = try tx.beginAttempt(1).attempts
                _ = try tx.sync.markOutcomeUnknown(1, attempt: attempt, error: ResponseTests.lost)
                try tx.update(Node.self, localID: "s") { $0.name = "2" }
            }
            try body(store)
            #expect(try store.checkIntegrity() == [])
            try store.expectSound()
        }
    }

    // MARK: Updates

    @Test(arguments: StoreKind.allCases)
    func `our own write is not a conflict`(kind: StoreKind) throws {
        try withUpdate(kind) { store in
            let theirs = item("s", ["name": "1", "code": "c", "count": 1])
            let sides = try store.write { try $0.sync.sides(of: 1, against: theirs, rounding: Self.exactly) }
            #expect(!sides.isConflict && sides.changedHere == ["name"] && sides.base == ["name": "0", "count": 0])
            #expect(sides.local["name"] == "2" && sides.server?["name"] == "1" && sides.kind == .update)
            #expect(try store.write { try $0.sync.rebase(1, onto: theirs, rounding: Self.exactly) } == .pending)
            let operation = try store.operations.all()[0]
            #expect(operation.base == ["name": "1"] && operation.state == .pending && operation.error == nil)
            #expect(try store.write { try $0.attemptedValues(1) }.isEmpty)
            let node = try #require(try store.stored(Node.self, "s"))
            #expect(node.name == "2" && node.count == 1 && node.version == "9" && !node.isSynced)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `foreign changes are merged by property`(kind: StoreKind) throws {
        try withUpdate(kind) { store in
            let theirs = item("s", ["name": "theirs", "code": "theirs", "count": 0])
            let sides = try store.write { try $0.sync.sides(of: 1, against: theirs, rounding: Self.exactly) }
            #expect(sides.isConflict && sides.changedThere == ["name", "code"])
            #expect(sides.changedHere == ["name", "count"])
            #expect(try store.write { try $0.sync.rebase(1, onto: theirs, rounding: Self.exactly) } == .pending)
            let operation = try store.operations.all()[0]
            #expect(operation.base == ["name": "theirs", "count": 0])
            let node = try #require(try store.stored(Node.self, "s"))
            #expect(node.name == "2" && node.code == "theirs" && node.count == 1 && node.version == "9")
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `the server's value can be taken where both sides changed`(kind: StoreKind) throws {
        try withUpdate(kind) { store in
            let theirs = item("s", ["name": "theirs", "count": 7])
            try store.write { (tx) throws in
                #expect(
                    try tx.sync.rebase(1, onto: theirs, takingServers: ["name"], rounding: Self.exactly) == .pending)
                #expect(try tx.stored(Node.self, "s").name == "theirs")
                #expect(try tx.operations.all()[0].base == ["count": 7])
                #expect(
                    try tx.sync.rebase(1, onto: theirs, takingServers: ["name", "count"], rounding: Self.exactly)
                        == .adopted)
            }
            let node = try #require(try store.stored(Node.self, "s"))
            #expect(node.name == "theirs" && node.count == 7 && node.isSynced)
            #expect(try store.operations.count() == 0)
        }
    }

    /// A change that was reverted, or a delete that was undone, keeps nothing from foreign edits.
    @Test(arguments: StoreKind.allCases)
    func `a reverted change takes the foreign edits`(kind: StoreKind) throws {
        try kind.withStore(Node.self) { store in
            for id in ["s", "t"] as [ServerID] { try store.receiveNode(id, ["name": "A", "count": 0]) }
            try store.write { tx in
                try tx.delete(Node.self, localID: "s")
                let attempt = try tx.beginAttempt(1).attempts
                _ = try tx.sync.markOutcomeUnknown(1, attempt: attempt, error: ResponseTests.lost)
                try tx.undelete(Node.self, localID: "s")
                try tx.update(Node.self, localID: "t") { $0.name = "B" }
                try tx.update(Node.self, localID: "t") { $0.name = "A" }
            }
            #expect(try store.operations.all().map(\.base.count) == [11, 1])
            for operation in try store.operations.all() {
                let theirs = item(
                    ServerID(operation.localID.rawValue), ["name": "B", "count": 7])
                try store.write { tx in
                    let sides = try tx.sync.sides(of: operation.id, against: theirs, rounding: Self.exactly)
                    #expect(sides.changedHere.isEmpty && sides.changedThere == ["name", "count"])
                    #expect(try tx.sync.rebase(operation.id, onto: theirs, rounding: Self.exactly) == .adopted)
                }
                let node = try #require(try store.stored(Node.self, operation.localID))
                #expect(node.name == "B" && node.count == 7 && node.isSynced && node.version == "9")
            }
            // The sent value may have arrived, so reverting it is a change.
            try store.write { tx in
                try tx.update(Node.self, localID: "t") { $0.count = 8 }
                let attempt = try tx.beginAttempt(3).attempts
                _ = try tx.sync.markOutcomeUnknown(3, attempt: attempt, error: ResponseTests.lost)
                try tx.update(Node.self, localID: "t") { $0.count = 7 }
                let sides = try tx.sync.sides(of: 3, against: item("t", ["count": 8]), rounding: Self.exactly)
                #expect(sides.changedHere == ["count"] && !sides.isConflict)
            }
            #expect(try store.checkIntegrity() == [])
        }
    }

    @Test func `a value without a form on the server counts as missing`() throws {
        struct RequestEncodingError: Error {}
        let store = try Store.ofNodes()
        try store.receiveNode("s", ["name": "0", "count": 0])
        try store.write { tx in
            try tx.update(Node.self, localID: "s") { $0.count = 5 }
            let rounding: WireRounding = { if $1 == 5 { throw RequestEncodingError() } else { $1 } }
            let theirs = item("s", ["name": "theirs", "count": 0])
            #expect(try tx.sync.sides(of: 1, against: theirs, rounding: rounding).changedHere == ["count"])
            #expect(try tx.sync.rebase(1, onto: theirs, rounding: rounding) == .pending)
        }
        #expect(try store.stored(Node.self, "s")?.name == "theirs" && store.queue() == ["update s [count]"])
    }

    /// The app decides in its own transaction while the user continues to edit.
    @Test(arguments: StoreKind.allCases)
    func `edits after the decision are kept`(kind: StoreKind) throws {
        try withUpdate(kind) { store in
            let theirs = item("s", ["name": "theirs", "code": "theirs", "count": 7])
            let sides = try store.write { try $0.sync.sides(of: 1, against: theirs, rounding: Self.exactly) }
            try store.write { try $0.update(Node.self, localID: "s") { ($0.name, $0.code) = ("3", "mine") } }
            let outcome = try store.write {
                try $0.sync.rebase(
                    1, onto: theirs, takingServers: ["name", "count", "code"], decidedOn: sides,
                    rounding: Self.exactly)
            }
            #expect(outcome == .pending)
            let node = try #require(try store.stored(Node.self, "s"))
            #expect(node.name == "3" && node.code == "mine" && node.count == 7)
            #expect(try store.operations.all()[0].base == ["name": "theirs", "code": "theirs"])
        }
    }

    @Test func `a value that the server rounds is not a change`() throws {
        let store = try Store.ofNodes()
        try store.receiveNode("s", ["count": 0])
        let theirs = item("s", ["count": 120])
        try store.write { tx in
            try tx.update(Node.self, localID: "s") { $0.count = 123 }
            #expect(try tx.sync.sides(of: 1, against: theirs, rounding: Self.exactly).isConflict)
            #expect(try !tx.sync.sides(of: 1, against: theirs, rounding: Self.inTens).isConflict)
            #expect(try tx.sync.rebase(1, onto: theirs, rounding: Self.inTens) == .adopted)
        }
        // The stored value is the server's.
        #expect(try store.stored(Node.self, "s")?.count == 120)
    }

    @Test func `references are compared by their objects`() throws {
        let store = try Store.ofNodes()
        try store.write { tx in
            let a = try tx.insert(Node("a", localID: "a"))
            try tx.beginAttempt(1)
            try tx.acknowledge(1, serverID: "server-a")
            var b = Node("b", localID: "b")
            (b.next, b.friends) = (a.reference, [a.reference])
            try tx.insert(b)
            try tx.beginAttempt(2)
            let theirs = item("server-b", ["name": "b", "next": "server-a", "friends": #"["server-a"]"#])
            #expect(try !tx.sync.sides(of: 2, against: theirs, rounding: Self.exactly).isConflict)
            #expect(try tx.sync.rebase(2, onto: theirs, rounding: Self.exactly) == .pending)
            // A property that the item does not name is sent.
            #expect(try tx.operations.all()[0].changedProperties.contains("owners"))
        }
        #expect(try store.stored(Node.self, "b")?.serverID == "server-b" && store.checkIntegrity() == [])
    }

    // MARK: Inserts, deletes and tombstones

    @Test(arguments: StoreKind.allCases)
    func `an insert of an existing object becomes an update`(kind: StoreKind) throws {
        try kind.withStore(Node.self) { store in
            var whole: [String: StorageValue] = StoreOracle.values(Node("1"))
            try store.write { tx in
                try tx.insert(Node("1", localID: "a"))
                try tx.beginAttempt(1)
                try tx.update(Node.self, localID: "a") { $0.name = "2" }
                #expect(try !tx.sync.sides(of: 1, against: item("a", whole), rounding: Self.exactly).isConflict)
                #expect(try tx.sync.rebase(1, onto: item("a", whole), rounding: Self.exactly) == .pending)
            }
            #expect(try store.queue() == ["update a [name]"])
            // A foreign object has an ID that both sides chose.
            whole["count"] = 5
            try store.write { tx in
                try tx.insert(Node("mine", localID: "b"))
                let sides = try tx.sync.sides(of: 2, against: item("b", whole), rounding: Self.exactly)
                #expect(sides.changedHere == ["name", "count"] && sides.changedThere == ["name", "count"])
                #expect(
                    try tx.sync.rebase(2, onto: item("b", whole), takingServers: ["count"], rounding: Self.exactly)
                        == .pending)
            }
            #expect(try store.queue() == ["update a [name]", "update b [name]"])
            #expect(try store.operations.all()[1].base == ["name": "1"] && store.checkIntegrity() == [])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a delete is rebased on the new version`(kind: StoreKind) throws {
        try withUpdate(kind) { store in
            try store.write { tx in
                try tx.delete(Node.self, localID: "s")
                #expect(
                    try tx.sync.rebase(1, onto: item("s", ["name": "theirs", "count": 5]), rounding: Self.exactly)
                        == .pending)
            }
            #expect(try store.queue() == ["delete s [count name]"])
            // If the delete is undone, the earlier local changes apply to the server's current state.
            try store.write { try $0.undelete(Node.self, localID: "s") }
            let node = try #require(try store.stored(Node.self, "s"))
            #expect(node.name == "2" && node.count == 1 && !node.isSynced && node.version == "9")
            #expect(try store.operations.all()[0].base == ["name": "theirs", "count": 5])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `all values are sent over a tombstone`(kind: StoreKind) throws {
        try withUpdate(kind) { store in
            let sides = try store.write {
                try $0.sync.sides(of: 1, against: item("s", deleted: true), rounding: Self.exactly)
            }
            #expect(sides.isConflict && sides.server == nil && sides.changedHere == ["name", "count"])
            #expect(
                try store.write { try $0.sync.rebase(1, onto: item("s", deleted: true), rounding: Self.exactly) }
                    == .pending
            )
            let operation = try store.operations.all()[0]
            #expect(operation.kind == .update && operation.base.count == 11 && operation.base["name"] == "0")
            #expect(try store.write { try #require(try $0.operation(1)).0.attemptedKinds } == .delete)
            #expect(try store.stored(Node.self, "s")?.version == "9")
        }
    }

    /// The tombstone is kept until the object is back on the server.
    @Test(arguments: StoreKind.allCases)
    func `an operation discarded over a tombstone erases the object`(kind: StoreKind) throws {
        try withUpdate(kind) { store in
            let theirs = item("s", deleted: true)
            try store.receiveNode("holder", ["next": "s"])
            try store.write { tx in
                try tx.insert(Node("mine", localID: "i"))
                for (id, tombstone) in [(1, theirs), (2, item("i", deleted: true))] as [(Int64, ServerItem)] {
                    #expect(try tx.sync.rebase(id, onto: tombstone, rounding: Self.exactly) == .pending)
                    let kept = try #require(try tx.deferredItem(of: id))
                    // The operation was rebased on it, so it is not a new conflict.
                    #expect(kept.isDeleted && kept.version == "9")
                }
            }
            #expect(try store.stored(Node.self, "s")?.version == "9")
            try store.write { tx in for id in [1, 2] as [Int64] { try tx.sync.discard(id) } }
            #expect(try store.live(Node.self).map(\.localID) == ["holder"])
            #expect(try store.stored(Node.self, "holder")?.next == nil && store.operations.count() == 0)
            #expect(try store.sql("SELECT count(*) FROM __server_items")[0][0] == 0)
        }
    }

    @Test(arguments: [true, false])
    func `a tombstone is forgotten when the object is back`(hasItem: Bool) throws {
        let store = try Store.ofNodes()
        try store.receiveNode("s")
        try store.write { tx in
            try tx.update(Node.self, localID: "s") { $0.name = "1" }
            _ = try tx.sync.rebase(1, onto: item("s", deleted: true), rounding: Self.exactly)
            let attempt = try tx.beginAttempt(1).attempts
            if hasItem {
                _ = try tx.sync.acknowledge(1, attempt: attempt, with: item("s", ["name": "1"]))
            } else {
                try tx.acknowledge(1, version: "10")
            }
        }
        #expect(try store.stored(Node.self, "s")?.isSynced == true)
        #expect(try store.read { try $0.deferredItemsWithoutOperation(in: "Node", limit: 9) }.isEmpty)
    }

    /// The last response is the newest: a server's clock may go backwards.
    @Test func `a deferred item is forgotten when a response arrives`() throws {
        let store = try Store.ofNodes()
        try store.receiveNode("s")
        func at(_ time: Double, _ version: String, _ name: StorageValue) -> ServerItem {
            ServerItem(
                serverID: "s", version: version, updatedAt: Date(timeIntervalSinceReferenceDate: time),
                values: ["name": name], source: [UInt8](version.utf8))
        }
        try store.write { tx in
            try tx.update(Node.self, localID: "s") { $0.count = 5 }
            _ = try tx.sync.applyServerItem(at(9, "2", "late clock"), in: "Node")
            _ = try tx.sync.rebase(1, onto: at(1, "3", "newer"), rounding: Self.exactly)
            #expect(try tx.deferredItem(of: 1) == nil)
            // An item read from the kept ones is not newer than those kept later.
            _ = try tx.sync.applyServerItem(at(9, "4", "newest"), in: "Node")
            var kept = at(2, "2", "read before")
            kept.wasDeferred = true
            _ = try tx.sync.rebase(1, onto: kept, rounding: Self.exactly)
            #expect(try tx.deferredItem(of: 1)?.version == "4")
            var newest = at(9, "4", "newest")
            newest.wasDeferred = true
            _ = try tx.sync.discard(1, for: newest)
        }
        #expect(try store.sql("SELECT count(*) FROM __server_items")[0][0] == 0)
        #expect(try store.stored(Node.self, "s")?.name == "newest" && store.checkIntegrity() == [])
    }

    @Test(arguments: StoreKind.allCases)
    func `a tombstone completes a delete`(kind: StoreKind) throws {
        try withUpdate(kind) { store in
            try store.write { tx in
                try tx.delete(Node.self, localID: "s")
                #expect(try tx.sync.rebase(1, onto: item("s", deleted: true), rounding: Self.exactly) == .adopted)
            }
            #expect(try store.stored(Node.self, "s") == nil && store.operations.count() == 0)
        }
    }

    @Test(arguments: [true, false])
    func `an undelete while the delete is in flight is kept`(keepsTombstones: Bool) throws {
        let store = try Store.ofNodes()
        try store.receiveNode("s")
        try store.write { tx in
            try tx.delete(Node.self, localID: "s")
            let attempt = try tx.beginAttempt(1).attempts
            try tx.undelete(Node.self, localID: "s")
            let outcome = try tx.sync.acknowledge(
                1, attempt: attempt, with: keepsTombstones ? item("s", deleted: true) : nil,
                keepsTombstones: keepsTombstones)
            #expect(outcome == .stillPending)
        }
        let node = try #require(try store.stored(Node.self, "s"))
        let operation = try store.operations.all()[0]
        let kinds = try store.write { try #require(try $0.operation(1)).0.attemptedKinds }
        if keepsTombstones {
            #expect(operation.kind == .update && operation.base.count == 11 && kinds == .delete)
            #expect(node.serverID == "s" && node.version == "9")
        } else {
            #expect(operation.kind == .insert && kinds == [] && node.serverID == nil && node.version == nil)
        }
        #expect(try store.checkIntegrity() == [])
    }

    /// No server ID exists that an undelete could use.
    @Test func `an object that was never acknowledged is inserted again`() throws {
        let store = try Store.ofNodes()
        try store.write { tx in
            try tx.insert(Node("a", localID: "a"))
            try tx.beginAttempt(1)
            try tx.delete(Node.self, localID: "a")
            let attempt = try tx.beginAttempt(1).attempts
            try tx.undelete(Node.self, localID: "a")
            #expect(try tx.sync.acknowledge(1, attempt: attempt, with: nil, keepsTombstones: true) == .stillPending)
        }
        #expect(try store.queue() == ["insert a"] && store.checkIntegrity() == [])
        // The integrity check would find the opposite.
        try store.write { tx in
            try tx.connection.execute("UPDATE __operations SET kind = 2, changes = x'0101046E616D6500'")
        }
        #expect(try store.checkIntegrity().count == 1)
    }

    @Test func `a clash leaves the operation unchanged`() throws {
        let store = try Store.ofNodes()
        try store.receiveNode("s")
        try store.write { tx in
            try tx.insert(Node("other", code: "taken"))
            try tx.update(Node.self, localID: "s") { $0.name = "1" }
        }
        let queue = try store.queue()
        #expect(
            code {
                try store.write { try $0.sync.rebase(2, onto: item("s", ["code": "taken"]), rounding: Self.exactly) }
            } == .duplicateValue)
        #expect(try store.queue() == queue && store.stored(Node.self, "s")?.version == "1")
        #expect(try store.checkIntegrity() == [])
    }
}

extension WriteTransaction {
    fileprivate func stored<M: Model>(_ model: M.Type, _ id: LocalID) throws -> M {
        try #require(try store.stored(model, id))
    }
}
