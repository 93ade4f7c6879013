import TandemTesting
import TestSupport
import Testing

@testable import Tandem

/// A sync transaction belongs to the write transaction that it was made of.
@Suite(.ownThreads) struct SyncTransactionTests {
    @Test func `a sync transaction is over when its block returns`() throws {
        let store = try Store.ofNodes()
        var kept: SyncTransaction?
        try store.write { kept = $0.sync }
        let tx = try #require(kept)
        #expect(code { try tx.hold(1) } == .transactionOver)
        #expect(code { try tx.operation(withID: 1) } == .transactionOver)
        #expect(code { try tx.operationMarks() } == .transactionOver)
        #expect(code { try tx.setSyncToken(nil, of: "all", in: "Node") } == .transactionOver)
    }

    @Test(arguments: StoreKind.allCases)
    func `a sync transaction shares the changes of its block`(kind: StoreKind) throws {
        try kind.withStore(Node.self) { store in
            try store.write { tx in
                try tx.insert(Node("a", localID: "a"))
                let operation = try #require(try tx.sync.operation(on: "a", in: "Node"))
                #expect(try tx.sync.outgoing(operation.id)?.values["name"] == "a")
                try tx.sync.hold(operation.id)
                #expect(try tx.operations.count(in: .held) == 1)
            }
            #expect(try store.operations.count(in: .held) == 1)
        }
    }

    @Test func `a failed change of a sync transaction is undone alone`() throws {
        let store = try Store.ofNodes()
        try store.receiveNode("s")
        try store.write { tx in
            try tx.insert(Node("other", code: "taken"))
            try tx.update(Node.self, localID: "s") { $0.name = "1" }
            let theirs = ServerItem(serverID: "s", version: "9", values: ["code": "taken"])
            #expect(code { try tx.sync.rebase(2, onto: theirs) { $1 } } == .duplicateValue)
        }
        #expect(try store.operations.count() == 2 && store.checkIntegrity() == [])
    }
}
