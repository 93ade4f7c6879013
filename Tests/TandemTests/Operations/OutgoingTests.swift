import Foundation
import TandemTesting
import TestSupport
import Testing

@testable import Tandem

@Suite(.ownThreads) struct OutgoingTests {
    @Test(arguments: StoreKind.allCases)
    func `an object is sent with server IDs and names the objects it waits for`(kind: StoreKind) throws {
        try kind.withStore(Node.self) { store in
            try store.write { tx in
                try tx.insert(Node("known", localID: "k"))
                try tx.beginAttempt(1)
                try tx.acknowledge(1, serverID: "server-k")
                try tx.insert(Node("unsent", localID: "u"))
                try tx.sync.hold(2)
                var node = Node("a", localID: "a")
                node.next = Reference(localID: "k")
                node.friends = [Reference(localID: "u"), Reference(localID: "unknown"), Reference(localID: "k")]
                try tx.insert(node)
                let outgoing = try #require(try tx.sync.outgoing(3))
                #expect(outgoing.operation.kind == .insert && outgoing.serverID == nil && outgoing.version == nil)
                #expect(outgoing.values["next"] == "server-k" && outgoing.values["note"] == nil)
                #expect(outgoing.values["friends"] == #"["u","unknown","server-k"]"#)
                #expect(outgoing.changed == Set(outgoing.values.keys) && outgoing.changed.count == 11)
                let references = Set(outgoing.references)
                #expect(
                    references == [
                        OutgoingReference(
                            property: "next", localID: "k", target: .known("server-k")),
                        OutgoingReference(
                            property: "friends", localID: "k", target: .known("server-k")),
                        OutgoingReference(
                            property: "friends", localID: "u", target: .unsent(2, state: .held)),
                        OutgoingReference(
                            property: "friends", localID: "unknown", target: .unknown),
                    ])
                #expect(try tx.sync.outgoing(99) == nil)
            }
        }
    }

    @Test(arguments: StoreKind.files)
    func `an object to send is read while another connection holds the write lock`(kind: StoreKind) throws {
        try withStorePath { path in
            var configuration = Store.Configuration()
            configuration.busyTimeout = 0
            let store = try kind.open(at: path, [Node.self], configuration: configuration)
            let other = try kind.open(at: path, [Node.self], configuration: configuration)
            defer {
                store.close()
                other.close()
            }
            try store.write { try $0.insert(Node("a", localID: "a")) }
            try other.write { tx in
                try tx.insert(Node("b", localID: "b"))
                #expect(code { try store.write { try $0.outgoing(1) } } == .busy)
                let outgoing = try #require(try store.read { try $0.outgoing(1) })
                #expect(outgoing.operation.localID == "a" && outgoing.values["name"] == "a")
                let uncommitted = try store.read { try $0.outgoing(2) }
                #expect(uncommitted == nil)
            }
            let committed = try store.read { try $0.outgoing(2) }
            #expect(committed?.values["name"] == "b")
        }
    }

    @Test func `an update is sent for its version with all unanswered changes`() throws {
        let store = try Store.ofNodes()
        try store.write { tx in
            _ = try tx.sync.applyServerItem(
                ServerItem(serverID: "s", version: "1", values: ["name": "0"], extras: [4]), in: "Node")
            try tx.update(Node.self, localID: "s") { $0.name = "1" }
            try tx.beginAttempt(1)
            try tx.update(Node.self, localID: "s") { $0.count = 2 }
            let outgoing = try #require(try tx.sync.outgoing(1))
            #expect(outgoing.changed == ["name", "count"] && outgoing.serverID == "s" && outgoing.version == "1")
            #expect(outgoing.values["count"] == 2 && outgoing.extras == [4] && outgoing.attemptedKinds == .update)
            #expect(outgoing.operation.state == .attempted)
        }
    }

    @Test func `an attempt of an object that was read does not read its row again`() throws {
        let store = try Store.ofNodes()
        try store.write { tx in
            try tx.insert(Node("a", count: 5, localID: "a"))
            let object = try #require(try tx.sync.outgoing(1))
            // A second read would find this value.
            try tx.connection.execute("UPDATE \"Node\" SET \"count\" = 9")
            _ = try tx.sync.beginAttempt(object, leavingOut: []) { $1 }
            let values = try tx.attemptedValues(1)
            #expect(values.contains(5, of: "count") && !values.contains(9, of: "count"))
        }
    }
}
