import Foundation
import TandemTesting
import TestSupport
import Testing

@testable import Tandem

/// The effects of responses with values, and of missing responses, on the queue and the object.
@Suite(.ownThreads) struct ResponseTests {
    static let lost = OperationError(message: "lost", at: .distantPast)

    /// Makes a store with the received node `s`, whose name and count are then changed.
    private func withChanged(_ kind: StoreKind, _ body: (Store, PendingOperation.ID) throws -> Void) throws {
        try kind.withStore(Node.self) { store in
            try store.applyServerObject(Node("0", count: 0), serverID: "s", version: "1")
            try store.write { try $0.update(Node.self, localID: "s") { ($0.name, $0.count) = ("1", 1) } }
            try body(store, try #require(try store.operations.all().first).id)
            #expect(try store.checkIntegrity() == [])
            try store.expectSound()
        }
    }

    // MARK: Responses with values

    @Test(arguments: StoreKind.allCases)
    func `the server's own changes are written`(kind: StoreKind) throws {
        try withChanged(kind) { store, id in
            let at = Date(timeIntervalSinceReferenceDate: 0.5)
            let outcome = try store.write { tx in
                let attempt = try tx.beginAttempt(id).attempts
                // The server trims a sent value and sets an unsent one.
                return try tx.sync.acknowledge(
                    id, attempt: attempt,
                    with: ServerItem(
                        serverID: "s", version: "2", updatedAt: at,
                        values: ["name": "I", "count": 1, "code": "made there"]))
            }
            #expect(outcome == .done)
            let node = try #require(try store.stored(Node.self, "s"))
            #expect(node.name == "I" && node.count == 1 && node.code == "made there" && node.isSynced)
            #expect(node.version == "2" && node.updatedAt == at)
            #expect(try store.operations.count() == 0)
            // The folded columns follow.
            #expect(try store.sql("SELECT __sort_name FROM Node")[0][0] == .blob(store.collation.key(for: "I")))
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a change made during the attempt is rebased on the response`(kind: StoreKind) throws {
        try withChanged(kind) { store, id in
            let outcome = try store.write { tx in
                let attempt = try tx.beginAttempt(id).attempts
                try tx.update(Node.self, localID: "s") { ($0.name, $0.count, $0.note) = ("2", 9, "mine") }
                return try tx.sync.acknowledge(
                    id, attempt: attempt,
                    with: ServerItem(serverID: "s", version: "2", values: ["name": "one", "count": 9, "code": "c"]))
            }
            #expect(outcome == .stillPending)
            let operation = try #require(try store.operations.all().first)
            // The server set the count, so no change of it is left to send.
            #expect(operation.id == id && operation.kind == .update && operation.state == .pending)
            #expect(operation.base == ["name": "one"] && operation.sent.isEmpty && operation.attempts == 1)
            let node = try #require(try store.stored(Node.self, "s"))
            #expect(node.name == "2" && node.count == 9 && node.code == "c" && node.note == "mine" && !node.isSynced)
            #expect(node.version == "2")
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a change that the server made too is done`(kind: StoreKind) throws {
        try withChanged(kind) { store, id in
            let outcome = try store.write { tx in
                let attempt = try tx.beginAttempt(id).attempts
                try tx.update(Node.self, localID: "s") { $0.name = "2" }
                return try tx.sync.acknowledge(
                    id, attempt: attempt, with: ServerItem(serverID: "s", version: "2", values: ["name": "2"]))
            }
            #expect(outcome == .done)
            #expect(try store.stored(Node.self, "s")?.isSynced == true)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a delete during the attempt takes over the response's values`(kind: StoreKind) throws {
        try withChanged(kind) { store, id in
            let outcome = try store.write { tx in
                let attempt = try tx.beginAttempt(id).attempts
                try tx.delete(Node.self, localID: "s")
                return try tx.sync.acknowledge(
                    id, attempt: attempt, with: ServerItem(serverID: "s", version: "2", values: ["name": "there"]))
            }
            #expect(outcome == .stillPending)
            #expect(try store.queue() == ["delete s"])
            try store.write { try $0.undelete(Node.self, localID: "s") }
            let node = try #require(try store.stored(Node.self, "s"))
            #expect(node.name == "there" && node.count == 1 && node.isSynced && node.version == "2")
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a response to an earlier attempt is stale`(kind: StoreKind) throws {
        try withChanged(kind) { store, id in
            let item = ServerItem(serverID: "s", version: "2", values: ["name": "late"])
            try store.write { tx in
                let first = try tx.beginAttempt(id).attempts
                #expect(try tx.sync.markOutcomeUnknown(id, attempt: first, error: Self.lost))
                let second = try tx.beginAttempt(id).attempts
                #expect(try tx.sync.acknowledge(id, attempt: first, with: item) == .stale)
                #expect(try !tx.sync.markOutcomeUnknown(id, attempt: first, error: Self.lost))
                #expect(try !tx.sync.fail(id, attempt: first, with: Self.lost, retry: true))
                #expect(try tx.operations.all(in: .attempted).count == 1)
                try tx.update(Node.self, localID: "s") { $0.name = "2" }
                #expect(
                    try tx.sync.acknowledge(
                        id, attempt: second, with: ServerItem(serverID: "s", version: "2", values: ["name": "1"]))
                        == .stillPending)
                // The number of attempts continues after a response.
                #expect(try tx.sync.acknowledge(id, attempt: second, with: item) == .stale)
                #expect(try tx.beginAttempt(id).attempts == 3)
                #expect(try tx.sync.acknowledge(id, attempt: first, with: item) == .stale)
                #expect(try tx.sync.acknowledge(id + 1, attempt: 1, with: item) == .stale)
            }
            #expect(try store.stored(Node.self, "s")?.name == "2")
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `the response to an insert resolves references by server ID`(kind: StoreKind) throws {
        try kind.withStore(Node.self) { store in
            try store.write { tx in
                let friend = try tx.insert(Node("friend", localID: "f"))
                try tx.beginAttempt(1)
                try tx.acknowledge(1, serverID: "server-f")
                var node = Node("a", localID: "a")
                node.friends = [friend.reference]
                try tx.insert(node)
                let outcome = try tx.sync.acknowledge(
                    2, attempt: try tx.beginAttempt(2).attempts,
                    with: ServerItem(
                        serverID: "server-a", version: "1",
                        values: ["friends": #"["server-f","server-a","later"]"#, "next": "server-f"]))
                #expect(outcome == .done)
            }
            let node = try #require(try store.stored(Node.self, "a"))
            #expect(node.friends.map(\.localID) == ["f", "a"] && node.next?.localID == "f" && node.isSynced)
            #expect(node.serverID == "server-a" && node.localID == "a")
            try store.applyServerObject(Node("later"), serverID: "later")
            #expect(try store.stored(Node.self, "a")?.friends.map(\.localID) == ["f", "a", "later"])
            #expect(try store.checkIntegrity() == [])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a unique value that clashes locally does not keep a finished operation in the queue`(kind: StoreKind) throws {
        try withChanged(kind) { store, id in
            let outcome = try store.write { tx in
                try tx.insert(Node("other", code: "taken"))
                let attempt = try tx.beginAttempt(id).attempts
                return try tx.sync.acknowledge(
                    id, attempt: attempt,
                    with: ServerItem(
                        serverID: "s", version: "2", values: ["name": "there", "code": "taken"], source: [7]))
            }
            #expect(outcome == .refusedHere)
            let node = try #require(try store.stored(Node.self, "s"))
            // The version stays that of the stored values, so that unseen values of the server are not overwritten.
            #expect(node.name == "1" && node.code == nil && node.version == "1" && node.isSynced)
            let kept = try store.read { try $0.deferredItemsWithoutOperation(in: "Node", limit: 9) }
            #expect(kept.map(\.source) == [[7]] && kept[0].reason == .refused && kept[0].localID == "s")
            #expect(kept[0].message?.isEmpty == false)
        }
    }

    @Test func `a response without a live item is refused`() throws {
        try withChanged(.memory) { store, id in
            for item in [nil, ServerItem(serverID: "s", isDeleted: true)] {
                #expect(
                    code {
                        try store.write { tx in
                            _ = try tx.sync.acknowledge(id, attempt: try tx.beginAttempt(id).attempts, with: item)
                        }
                    } == .invalidValue)
            }
        }
    }

    @Test func `the response to a delete erases the row`() throws {
        let store = try Store.ofNodes()
        try store.applyServerObject(Node("0"), serverID: "s")
        try store.write { tx in
            try tx.delete(Node.self, localID: "s")
            #expect(try tx.sync.acknowledge(1, attempt: try tx.beginAttempt(1).attempts, with: nil) == .done)
        }
        #expect(try store.stored(Node.self, "s") == nil && store.operations.count() == 0)
    }

    // MARK: Missing responses

    @Test(arguments: StoreKind.allCases)
    func `an operation without a response stays attempted with its error`(kind: StoreKind) throws {
        try withChanged(kind) { store, id in
            let later = Date(timeIntervalSinceReferenceDate: 99)
            let attempt = try store.write { try $0.beginAttempt(id).attempts }
            #expect(
                try store.write {
                    try $0.sync.markOutcomeUnknown(id, attempt: attempt, error: Self.lost, retryAt: later)
                })
            try store.write { try $0.update(Node.self, localID: "s") { $0.name = "2" } }
            var operation = try #require(try store.operations.all().first)
            #expect(operation.state == .attempted && operation.error == Self.lost && operation.retryAt == later)
            #expect(operation.sent == ["name": "0", "count": 0] && operation.base == ["name": "1"])
            // Sending it again is a new attempt. Only the sent values remain from the last one.
            operation = try store.write { try $0.beginAttempt(id) }
            #expect(operation.error == nil && operation.retryAt == nil && operation.attempts == 2)
            #expect(operation.sent == ["name": "0", "count": 0])
        }
    }

    @Test func `a failure can set a retry time`() throws {
        try withChanged(.memory) { store, id in
            let later = Date(timeIntervalSinceReferenceDate: 99)
            try store.write { tx in
                let attempt = try tx.beginAttempt(id).attempts
                #expect(try tx.sync.fail(id, attempt: attempt, with: Self.lost, retry: true, retryAt: later))
                #expect(try !tx.sync.markOutcomeUnknown(id, attempt: attempt, error: Self.lost))
            }
            #expect(try store.operations.all()[0].retryAt == later)
            // An operation that waits for the user has no retry time.
            try store.write { tx in
                let attempt = try tx.beginAttempt(id).attempts
                #expect(try tx.sync.fail(id, attempt: attempt, with: Self.lost, retry: false, retryAt: later))
            }
            #expect(try store.operations.all()[0].retryAt == nil)
        }
    }

    // MARK: Left out references

    @Test(arguments: StoreKind.allCases)
    func `a reference that an insert leaves out follows as an update`(kind: StoreKind) throws {
        try kind.withStore(Node.self) { store in
            var a = Node("a", localID: "a")
            a.next = Reference(localID: "b")
            a.friends = [Reference(localID: "b")]
            try store.write { tx in
                try tx.insert(Node("b", localID: "b"))
                try tx.insert(a)
                let begun = try tx.sync.beginAttempt(2, leavingOut: ["next", "friends", "name"]) { $1 }
                // Only references can be left out.
                #expect(begun.base == ["next": .null, "friends": "[]"])
                #expect(
                    try tx.sync.acknowledge(
                        2, attempt: 1, with: ServerItem(serverID: "a", values: ["next": .null, "friends": "[]"]))
                        == .stillPending)
            }
            #expect(try store.queue() == ["insert b", "update a [friends next]"])
            #expect(try store.stored(Node.self, "a")?.next?.localID == "b")
            #expect(try store.checkIntegrity() == [])
        }
    }

    @Test func `an insert that left out a reference can be refused`() throws {
        let store = try Store.ofNodes()
        var a = Node("a", localID: "a")
        a.next = Reference(localID: "a")
        try store.write { tx in
            try tx.insert(a)
            _ = try tx.sync.beginAttempt(1, leavingOut: ["next"]) { $1 }
            try tx.fail(1, with: Self.lost, retry: false)
        }
        #expect(try store.queue() == ["insert a failed"])
        // A change made during the attempt does not count as a refused change.
        try store.write { tx in
            _ = try tx.sync.beginAttempt(1, leavingOut: ["next"]) { $1 }
            try tx.update(Node.self, localID: "a") { $0.name = "b" }
            try tx.fail(1, with: Self.lost, retry: false)
        }
        #expect(try store.queue() == ["insert a"] && store.checkIntegrity() == [])
        // A change of the left out reference counts too, unless it was reverted.
        for (next, state) in [("b", "insert a"), ("a", "insert a failed")] as [(LocalID, String)] {
            try store.write { tx in
                try tx.update(Node.self, localID: "a") { $0.next = Reference(localID: "a") }
                _ = try tx.sync.beginAttempt(1, leavingOut: ["next"]) { $1 }
                try tx.update(Node.self, localID: "a") { $0.next = Reference(localID: "b") }
                try tx.update(Node.self, localID: "a") { $0.next = Reference(localID: next) }
                try tx.fail(1, with: Self.lost, retry: false)
            }
            #expect(try store.queue() == [state] && store.checkIntegrity() == [])
        }
    }
}
