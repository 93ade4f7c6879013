import Foundation
import TandemTesting
import TestSupport
import Testing

@testable import Tandem

/// The user's choices: hold, release and discard an operation.
@Suite(.ownThreads) struct UserDecisionsTests {
    static let no = OperationError(status: 400, message: "no", at: .distantPast)

    // MARK: Holding

    @Test(arguments: StoreKind.allCases)
    func `a held operation stays unsent until it is released`(kind: StoreKind) throws {
        try kind.withStore(Node.self) { store in
            try store.receiveNode("s")
            try store.write { tx in
                try tx.update(Node.self, localID: "s") { $0.name = "1" }
                try tx.beginAttempt(1)
                try tx.fail(1, with: Self.no, retry: false)
                try tx.sync.hold(1)
                try tx.update(Node.self, localID: "s") { $0.count = 5 }
            }
            #expect(try store.queue() == ["update s [count name] held"])
            #expect(try store.operations.count(in: .held) == 1 && store.operations.all(in: .held).count == 1)
            #expect(try store.operations.all()[0].error == Self.no)
            #expect(code { try store.write { try $0.beginAttempt(1) } } == .staleOperation)
            try store.write { tx in
                try tx.delete(Node.self, localID: "s")
                try tx.undelete(Node.self, localID: "s")
                try tx.sync.release(1)
                try tx.sync.release(1)
            }
            #expect(try store.queue() == ["update s [count name]"] && store.operations.all()[0].error == nil)
            #expect(try store.checkIntegrity() == [])
            #expect(code { try store.write { try $0.sync.hold(99) } } == .staleOperation)
        }
    }

    /// A response must not be discarded. Sending an insert again would create a second object if the server makes IDs.
    @Test(arguments: StoreKind.allCases)
    func `an operation in flight can be held and its response counts`(kind: StoreKind) throws {
        try kind.withStore(Node.self) { store in
            try store.write { tx in
                for id in ["a", "b", "c"] as [LocalID] {
                    try tx.insert(Node("0", localID: id))
                    let operation = try #require(try tx.operation(on: id, in: "Node")).id
                    let attempt = try tx.beginAttempt(operation).attempts
                    try tx.sync.hold(operation)
                    if id == "b" { try tx.update(Node.self, localID: id) { $0.name = "1" } }
                    if id == "c" {
                        #expect(try tx.sync.markOutcomeUnknown(operation, attempt: attempt, error: ResponseTests.lost))
                        continue
                    }
                    let response = ServerItem(serverID: ServerID("s-\(id)"), version: "1", values: ["name": "0"])
                    #expect(
                        try tx.sync.acknowledge(operation, attempt: attempt, with: response)
                            == (id == "a" ? .done : .stillPending))
                }
            }
            #expect(try store.queue() == ["update b [name] held", "insert c held"])
            #expect(try store.stored(Node.self, "a")?.serverID == "s-a" && store.checkIntegrity() == [])
            try store.write { tx in for id in [2, 3] as [Int64] { try tx.sync.release(id) } }
            // The operation is as uncertain as before.
            #expect(try store.queue() == ["update b [name]", "insert c attempted"])
            try store.write { tx in
                try tx.sync.hold(3)
                #expect(try tx.sync.fail(3, attempt: 1, with: Self.no, retry: true))
            }
            #expect(try store.queue() == ["update b [name]", "insert c held"] && store.checkIntegrity() == [])
        }
    }

    /// The rest of an operation after a conflict is not sent either.
    @Test func `an operation that is held in flight is held after a rebase`() throws {
        let store = try Store.ofNodes()
        try store.receiveNode("s", ["name": "0"])
        try store.write { tx in
            try tx.update(Node.self, localID: "s") { $0.name = "1" }
            try tx.beginAttempt(1)
            try tx.sync.hold(1)
            let theirs = ServerItem(serverID: "s", version: "2", values: ["name": "2"])
            #expect(try tx.sync.rebase(1, onto: theirs) { $1 } == .pending)
        }
        #expect(try store.queue() == ["update s [name] held"] && store.checkIntegrity() == [])
    }

    @Test func `a held insert that was never sent is removed with its object`() throws {
        let store = try Store.ofNodes()
        try store.write { tx in
            try tx.insert(Node("a", localID: "a"))
            try tx.sync.hold(1)
            try tx.delete(Node.self, localID: "a")
        }
        #expect(try store.operations.count() == 0)
    }

    // MARK: Discarding

    @Test(arguments: StoreKind.allCases)
    func `a discarded update restores its base`(kind: StoreKind) throws {
        try kind.withStore(Node.self) { store in
            try store.receiveNode("t")
            try store.receiveNode("s", ["name": "0", "friends": #"["t","later"]"#, "next": "t"])
            try store.write { tx in
                try tx.update(Node.self, localID: "s") { ($0.name, $0.friends, $0.note) = ("1", [], "mine") }
                try tx.beginAttempt(1)
                try tx.update(Node.self, localID: "s") { ($0.name, $0.next, $0.count) = ("2", nil, 4) }
                let lost = try tx.sync.discard(1)
                #expect(lost == ["name": "2", "friends": "[\"later\"]", "next": .null, "count": 4])
            }
            let node = try #require(try store.stored(Node.self, "s"))
            #expect(node.name == "0" && node.count == 0 && node.next?.localID == "t" && node.isSynced)
            #expect(node.friends.map(\.localID) == ["t"] && node.note == "mine" && node.version == "1")
            try store.receiveNode("later")
            #expect(try store.stored(Node.self, "s")?.friends.map(\.localID) == ["t", "later"])
            #expect(try store.operations.count() == 0 && store.checkIntegrity() == [])
            try store.expectSound()
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a discarded insert follows the delete rules of its holders`(kind: StoreKind) throws {
        try kind.withStore(Node.self) { store in
            try store.receiveNode("s")
            try store.write { tx in
                let a = try tx.insert(Node("a", localID: "a"))
                try tx.beginAttempt(1)
                try tx.fail(1, with: Self.no, retry: false)
                try tx.update(Node.self, localID: "s") { $0.next = a.reference }
                let lost = try tx.sync.discard(1)
                #expect(lost["name"] == "a" && lost["note"] == nil)
            }
            #expect(try store.stored(Node.self, "a") == nil)
            #expect(try store.stored(Node.self, "s")?.next == nil)
            #expect(try store.queue() == ["update s [next]"] && store.checkIntegrity() == [])
            let b = try store.write { try $0.insert(Node("b", localID: "b")) }
            try store.write { try $0.update(Node.self, localID: "s") { $0.keeper = b.reference } }
            #expect(code { try store.write { try $0.sync.discard(3) } } == .deleteDenied)
            #expect(try store.queue() == ["update s [keeper next]", "insert b"] && store.checkIntegrity() == [])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a discarded delete restores the server's object`(kind: StoreKind) throws {
        try kind.withStore(Node.self) { store in
            try store.receiveNode("s", ["name": "0", "code": "c"])
            try store.write { tx in
                try tx.update(Node.self, localID: "s") { $0.name = "1" }
                try tx.delete(Node.self, localID: "s")
                #expect(try tx.sync.discard(1) == ["name": "1"])
            }
            let node = try #require(try store.stored(Node.self, "s"))
            #expect(node.name == "0" && node.isSynced && !node.isDeleted)
            // Its unique value may be taken by now. Then the object stays deleted and the delete queued.
            try store.write { tx in
                try tx.delete(Node.self, localID: "s")
                try tx.insert(Node("other", code: "c"))
            }
            let queue = try store.queue()
            let id = try store.operations.all()[0].id
            #expect(code { try store.write { try $0.sync.discard(id) } } == .duplicateValue)
            #expect(try store.queue() == queue && store.checkIntegrity() == [])
        }
    }

    /// The insert may have arrived, so the object is deleted here and on the server.
    @Test(arguments: StoreKind.allCases)
    func `an insert that may have arrived becomes a delete`(kind: StoreKind) throws {
        try kind.withStore(Node.self) { store in
            try store.receiveNode("s")
            let attempt = try store.write { tx in
                let a = try tx.insert(Node("a", localID: "a"))
                let attempt = try tx.beginAttempt(1).attempts
                try tx.update(Node.self, localID: "s") { $0.next = a.reference }
                try tx.sync.hold(1)
                #expect(try tx.sync.discard(1)["name"] == "a")
                #expect(try tx.sync.discard(1)["name"] == "a")
                return attempt
            }
            #expect(try store.live(Node.self).map(\.localID) == ["s"])
            #expect(try store.queue() == ["delete a attempted", "update s [next]"] && store.checkIntegrity() == [])
            // The response arrives, and the delete is sent to the object that it names.
            try store.write { (tx) throws in
                let response = ServerItem(serverID: "server-a", version: "1", values: ["name": "a"])
                #expect(try tx.sync.acknowledge(1, attempt: attempt, with: response) == .stillPending)
                #expect(try tx.sync.outgoing(1)?.serverID == "server-a")
            }
            #expect(try store.queue() == ["delete a", "update s [next]"] && store.checkIntegrity() == [])
        }
    }

    @Test func `discarding an insert that the server refused after a lost attempt removes the object`() throws {
        let store = try Store.ofNodes()
        try store.write { tx in
            for id in ["a", "b"] as [LocalID] {
                try tx.insert(Node("0", localID: id))
                let operation = try #require(try tx.operation(on: id, in: "Node")).id
                _ = try tx.sync.markOutcomeUnknown(
                    operation, attempt: try tx.beginAttempt(operation).attempts, error: ResponseTests.lost)
                if id == "b" { try tx.delete(Node.self, localID: id) }
                #expect(
                    try tx.sync.fail(
                        operation, attempt: try tx.beginAttempt(operation).attempts, with: Self.no, retry: false)
                )
                _ = try tx.sync.discard(operation)
            }
        }
        #expect(try store.sql("SELECT count(*) FROM Node")[0][0] == 0)
        #expect(try store.operations.count() == 0 && store.checkIntegrity() == [])
    }

    /// Synchronization discards an insert. The objects that referred to it change nevertheless.
    @Test func `discarding an insert queues updates of the objects that referred to it`() throws {
        let store = try Store.ofNodes()
        try store.receiveNode("s")
        try store.write { tx in
            let a = try tx.insert(Node("a", localID: "a"))
            try tx.update(Node.self, localID: "s") { $0.next = a.reference }
        }
        try store.write { _ = try $0.sync.discard(1) }
        #expect(try store.stored(Node.self, "a") == nil && store.stored(Node.self, "s")?.next == nil)
        #expect(try store.queue() == ["update s [next]"] && store.checkIntegrity() == [])
        #expect(try store.sql("SELECT count(*) FROM __unresolved")[0][0] == 0)
    }

    @Test func `an object restored by a discard refers to the same objects as before`() throws {
        let store = try Store.ofNodes()
        try store.write { tx in
            try tx.insert(Node("mine", localID: "5"))
            try tx.insert(Node("gone", localID: "g"))
            var holder = Node("holder", localID: "h")
            holder.friends = [Reference(localID: "5"), Reference(localID: "g")]
            try tx.insert(holder)
        }
        try store.sendAll()
        // The local ID of a friend is the server ID of another object.
        let item = ServerItem(serverID: "5", version: "1", values: ["name": "theirs"])
        _ = try store.write { try $0.sync.applyServerItem(item, in: "Node", identity: .server(localID: nil)) }
        try store.write { tx in
            try tx.delete(Node.self, localID: "h")
            try tx.delete(Node.self, localID: "g")
        }
        let operation = try #require(try store.operations.all().first)
        try store.write { _ = try $0.sync.discard(operation.id) }
        #expect(try store.stored(Node.self, "h")?.friends.map(\.localID) == ["5"])
        #expect(try store.checkIntegrity() == [])
    }

    @Test(arguments: StoreKind.allCases)
    func `the server's side is taken if it is known`(kind: StoreKind) throws {
        try kind.withStore(Node.self) { store in
            for id in ["u", "d", "g", "h"] as [ServerID] { try store.receiveNode(id) }
            try store.write { tx in
                try tx.insert(Node("mine", localID: "i"))
                for id in ["u", "g"] as [LocalID] { try tx.update(Node.self, localID: id) { $0.name = "mine" } }
                try tx.update(Node.self, localID: "h") { $0.next = Reference(localID: "g") }
                try tx.delete(Node.self, localID: "d")
                for operation in try tx.operations.all() where operation.localID != "h" {
                    let id = operation.localID
                    let item = ServerItem(
                        serverID: ServerID(id.rawValue), version: "9", isDeleted: id == "g",
                        values: id == "g" ? [:] : ["name": "theirs", "count": 9])
                    _ = try tx.sync.applyServerItem(item, in: "Node")
                    try tx.sync.discard(operation.id, for: item)
                }
            }
            for id in ["i", "u", "d"] as [LocalID] {
                let node = try #require(try store.stored(Node.self, id))
                #expect(node.name == "theirs" && node.count == 9 && node.isSynced && !node.isDeleted)
                #expect(node.version == "9" && node.serverID == ServerID(id.rawValue))
            }
            #expect(try store.stored(Node.self, "g") == nil)
            // Holders of the object wait for it, and their own changes stay.
            #expect(try store.stored(Node.self, "h")?.next == nil)
            #expect(try store.queue() == ["update h [next]"])
            #expect(try store.sql("SELECT count(*) FROM __server_items")[0][0] == 0)
            #expect(try store.checkIntegrity() == [])
        }
    }
}

extension Store {
    /// Receives a node of a server.
    func receiveNode(_ id: ServerID, _ values: [String: StorageValue] = ["name": "0"]) throws {
        _ = try write { tx in
            try tx.sync.applyServerItem(ServerItem(serverID: id, version: "1", values: values), in: "Node")
        }
    }
}
