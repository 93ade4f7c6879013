import Foundation
import TandemTesting
import TestSupport
import Testing

@testable import Tandem

/// What an answer that holds values, or an answer that never comes, does to the queue and to the object.
@Suite(.ownThreads) struct AnsweringTests {
    static let lost = OperationError(message: "lost", at: .distantPast)

    /// A store with the node `s`, received, whose name and count are then changed.
    private func withChanged(_ kind: StoreKind, _ body: (Store, Tandem.Operation.ID) throws -> Void) throws {
        try kind.withStore(Node.self) { store in
            try store.write(from: .server) { try $0.insert(Node("0", count: 0).received(serverID: "s", version: "1")) }
            try store.write { try $0.update(Node.self, "s") { ($0.name, $0.count) = ("1", 1) } }
            try body(store, try #require(try store.operations.all().first).id)
            #expect(try store.checkIntegrity() == [])
            try store.expectSound()
        }
    }

    // MARK: Answers with values

    @Test(arguments: StoreKind.allCases)
    func theServersOwnChangesAreTaken(kind: StoreKind) throws {
        try withChanged(kind) { store, id in
            let at = Date(timeIntervalSinceReferenceDate: 0.5)
            let outcome = try store.write { tx in
                let attempt = try tx.beginAttempt(id).attempts
                // It trims one that was sent, and sets one that was not.
                return try tx.acknowledge(
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
            // The twins follow.
            #expect(try store.sql("SELECT __sort_name FROM Node")[0][0] == "i")
        }
    }

    @Test(arguments: StoreKind.allCases)
    func whatWasChangedMeanwhileStaysOnTheNewBase(kind: StoreKind) throws {
        try withChanged(kind) { store, id in
            let outcome = try store.write { tx in
                let attempt = try tx.beginAttempt(id).attempts
                try tx.update(Node.self, "s") { ($0.name, $0.count, $0.note) = ("2", 9, "mine") }
                return try tx.acknowledge(
                    id, attempt: attempt,
                    with: ServerItem(serverID: "s", version: "2", values: ["name": "one", "count": 9, "code": "c"]))
            }
            #expect(outcome == .stillPending)
            let operation = try #require(try store.operations.all().first)
            // The count is what the server made of it by itself: nothing is left to be sent of that.
            #expect(operation.id == id && operation.kind == .update && operation.state == .pending)
            #expect(operation.base == ["name": "one"] && operation.sent.isEmpty && operation.attempts == 1)
            let node = try #require(try store.stored(Node.self, "s"))
            #expect(node.name == "2" && node.count == 9 && node.code == "c" && node.note == "mine" && !node.isSynced)
            #expect(node.version == "2")
        }
    }

    @Test(arguments: StoreKind.allCases)
    func aChangeThatTheServerMadeTooIsDone(kind: StoreKind) throws {
        try withChanged(kind) { store, id in
            let outcome = try store.write { tx in
                let attempt = try tx.beginAttempt(id).attempts
                try tx.update(Node.self, "s") { $0.name = "2" }
                return try tx.acknowledge(
                    id, attempt: attempt, with: ServerItem(serverID: "s", version: "2", values: ["name": "2"]))
            }
            #expect(outcome == .done)
            #expect(try store.stored(Node.self, "s")?.isSynced == true)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func whatWasDeletedMeanwhileTakesTheValuesAlong(kind: StoreKind) throws {
        try withChanged(kind) { store, id in
            let outcome = try store.write { tx in
                let attempt = try tx.beginAttempt(id).attempts
                try tx.delete(Node.self, "s")
                return try tx.acknowledge(
                    id, attempt: attempt, with: ServerItem(serverID: "s", version: "2", values: ["name": "there"]))
            }
            #expect(outcome == .stillPending)
            #expect(try store.queue() == ["delete s"])
            try store.write { try $0.undelete(Node.self, "s") }
            let node = try #require(try store.stored(Node.self, "s"))
            #expect(node.name == "there" && node.count == 1 && node.isSynced && node.version == "2")
        }
    }

    @Test(arguments: StoreKind.allCases)
    func anAnswerToAnEarlierAttemptIsStale(kind: StoreKind) throws {
        try withChanged(kind) { store, id in
            let item = ServerItem(serverID: "s", version: "2", values: ["name": "late"])
            try store.write { tx in
                let first = try tx.beginAttempt(id).attempts
                #expect(try tx.leaveUncertain(id, attempt: first, Self.lost))
                let second = try tx.beginAttempt(id).attempts
                #expect(try tx.acknowledge(id, attempt: first, with: item) == .stale)
                #expect(try !tx.leaveUncertain(id, attempt: first, Self.lost))
                #expect(try !tx.fail(id, attempt: first, Self.lost, retry: true))
                #expect(try tx.operations.all(in: .attempted).count == 1)
                try tx.update(Node.self, "s") { $0.name = "2" }
                #expect(
                    try tx.acknowledge(
                        id, attempt: second, with: ServerItem(serverID: "s", version: "2", values: ["name": "1"]))
                        == .stillPending)
                // Attempts are counted on: the next one is no second first one.
                #expect(try tx.acknowledge(id, attempt: second, with: item) == .stale)
                #expect(try tx.beginAttempt(id).attempts == 3)
                #expect(try tx.acknowledge(id, attempt: first, with: item) == .stale)
                #expect(try tx.acknowledge(id + 1, attempt: 1, with: item) == .stale)
            }
            #expect(try store.stored(Node.self, "s")?.name == "2")
        }
    }

    @Test(arguments: StoreKind.allCases)
    func anInsertsAnswerResolvesReferencesByServerIDs(kind: StoreKind) throws {
        try kind.withStore(Node.self) { store in
            try store.write { tx in
                let friend = try tx.insert(Node("friend", localID: "f"))
                try tx.beginAttempt(1)
                try tx.acknowledge(1, serverID: "server-f")
                var node = Node("a", localID: "a")
                node.friends = [friend.reference]
                try tx.insert(node)
                let outcome = try tx.acknowledge(
                    2, attempt: try tx.beginAttempt(2).attempts,
                    with: ServerItem(
                        serverID: "server-a", version: "1",
                        values: ["friends": #"["server-f","server-a","later"]"#, "next": "server-f"]))
                #expect(outcome == .done)
            }
            let node = try #require(try store.stored(Node.self, "a"))
            #expect(node.friends.map(\.localID) == ["f", "a"] && node.next?.localID == "f" && node.isSynced)
            #expect(node.serverID == "server-a" && node.localID == "a")
            try store.write(from: .server) { try $0.insert(Node("later").received(serverID: "later")) }
            #expect(try store.stored(Node.self, "a")?.friends.map(\.localID) == ["f", "a", "later"])
            #expect(try store.checkIntegrity() == [])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func aValueThatClashesHereDoesNotKeepWhatIsDoneInTheQueue(kind: StoreKind) throws {
        try withChanged(kind) { store, id in
            let outcome = try store.write { tx in
                try tx.insert(Node("other", code: "taken"))
                let attempt = try tx.beginAttempt(id).attempts
                return try tx.acknowledge(
                    id, attempt: attempt,
                    with: ServerItem(
                        serverID: "s", version: "2", values: ["name": "there", "code": "taken"], source: [7]))
            }
            #expect(outcome == .refusedHere)
            let node = try #require(try store.stored(Node.self, "s"))
            // The version stays that of the values, so that nothing is written over the server's unseen.
            #expect(node.name == "1" && node.code == nil && node.version == "1" && node.isSynced)
            let kept = try store.read { try $0.keptItemsWithoutOperation(in: "Node", limit: 9) }
            #expect(kept.map(\.source) == [[7]] && kept[0].reason == .refused && kept[0].localID == "s")
            #expect(kept[0].message?.isEmpty == false)
        }
    }

    @Test func anAnswerWithoutALiveItemIsRefused() throws {
        try withChanged(.memory) { store, id in
            for item in [nil, ServerItem(serverID: "s", isDeleted: true)] {
                #expect(
                    code {
                        try store.write { tx in
                            _ = try tx.acknowledge(id, attempt: try tx.beginAttempt(id).attempts, with: item)
                        }
                    } == .invalidValue)
            }
        }
    }

    @Test func aDeletesAnswerTakesTheRow() throws {
        let store = try Store.ofNodes()
        try store.write(from: .server) { try $0.insert(Node("0").received(serverID: "s")) }
        try store.write { tx in
            try tx.delete(Node.self, "s")
            #expect(try tx.acknowledge(1, attempt: try tx.beginAttempt(1).attempts, with: nil) == .done)
        }
        #expect(try store.stored(Node.self, "s") == nil && store.operations.count() == 0)
    }

    // MARK: Answers that never came

    @Test(arguments: StoreKind.allCases)
    func whatIsUncertainStaysAttemptedWithItsError(kind: StoreKind) throws {
        try withChanged(kind) { store, id in
            let later = Date(timeIntervalSinceReferenceDate: 99)
            let attempt = try store.write { try $0.beginAttempt(id).attempts }
            #expect(try store.write { try $0.leaveUncertain(id, attempt: attempt, Self.lost, retryAt: later) })
            try store.write { try $0.update(Node.self, "s") { $0.name = "2" } }
            var operation = try #require(try store.operations.all().first)
            #expect(operation.state == .attempted && operation.error == Self.lost && operation.retryAt == later)
            #expect(operation.sent == ["name": "0", "count": 0] && operation.base == ["name": "1"])
            // Sending it again is a new attempt, with nothing of the last one left but what it sent.
            operation = try store.write { try $0.beginAttempt(id) }
            #expect(operation.error == nil && operation.retryAt == nil && operation.attempts == 2)
            #expect(operation.sent == ["name": "0", "count": 0])
        }
    }

    @Test func aRetryTimeComesWithAFailureToo() throws {
        try withChanged(.memory) { store, id in
            let later = Date(timeIntervalSinceReferenceDate: 99)
            try store.write { tx in
                let attempt = try tx.beginAttempt(id).attempts
                #expect(try tx.fail(id, attempt: attempt, Self.lost, retry: true, retryAt: later))
                #expect(try !tx.leaveUncertain(id, attempt: attempt, Self.lost))
            }
            #expect(try store.operations.all()[0].retryAt == later)
            // One that waits for the user has no time.
            try store.write { tx in
                let attempt = try tx.beginAttempt(id).attempts
                #expect(try tx.fail(id, attempt: attempt, Self.lost, retry: false, retryAt: later))
            }
            #expect(try store.operations.all()[0].retryAt == nil)
        }
    }

    // MARK: Leaving references out

    @Test(arguments: StoreKind.allCases)
    func aReferenceThatAnInsertLeavesOutFollowsAsAnUpdate(kind: StoreKind) throws {
        try kind.withStore(Node.self) { store in
            var a = Node("a", localID: "a")
            a.next = Reference(localID: "b")
            a.friends = [Reference(localID: "b")]
            try store.write { tx in
                try tx.insert(Node("b", localID: "b"))
                try tx.insert(a)
                let begun = try tx.beginAttempt(2, leavingOut: ["next", "friends", "name"]) { $1 }
                // Only references can be left out.
                #expect(begun.base == ["next": .null, "friends": "[]"])
                #expect(
                    try tx.acknowledge(
                        2, attempt: 1, with: ServerItem(serverID: "a", values: ["next": .null, "friends": "[]"]))
                        == .stillPending)
            }
            #expect(try store.queue() == ["insert b", "update a [friends next]"])
            #expect(try store.stored(Node.self, "a")?.next?.localID == "b")
            #expect(try store.checkIntegrity() == [])
        }
    }

    @Test func anInsertThatLeftSomethingOutCanBeRefused() throws {
        let store = try Store.ofNodes()
        var a = Node("a", localID: "a")
        a.next = Reference(localID: "a")
        try store.write { tx in
            try tx.insert(a)
            _ = try tx.beginAttempt(1, leavingOut: ["next"]) { $1 }
            try tx.fail(1, Self.lost, retry: false)
        }
        #expect(try store.queue() == ["insert a failed"])
        // What was changed meanwhile is no refused change.
        try store.write { tx in
            _ = try tx.beginAttempt(1, leavingOut: ["next"]) { $1 }
            try tx.update(Node.self, "a") { $0.name = "b" }
            try tx.fail(1, Self.lost, retry: false)
        }
        #expect(try store.queue() == ["insert a"] && store.checkIntegrity() == [])
        // A change of what it has left out is one too, unless it was changed back.
        for (next, state) in [("b", "insert a"), ("a", "insert a failed")] as [(LocalID, String)] {
            try store.write { tx in
                try tx.update(Node.self, "a") { $0.next = Reference(localID: "a") }
                _ = try tx.beginAttempt(1, leavingOut: ["next"]) { $1 }
                try tx.update(Node.self, "a") { $0.next = Reference(localID: "b") }
                try tx.update(Node.self, "a") { $0.next = Reference(localID: next) }
                try tx.fail(1, Self.lost, retry: false)
            }
            #expect(try store.queue() == [state] && store.checkIntegrity() == [])
        }
    }
}
