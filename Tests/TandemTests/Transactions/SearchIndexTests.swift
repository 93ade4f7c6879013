import TandemTesting
import TestSupport
import Testing

@testable import Tandem

@Suite(.ownThreads) struct SearchIndexTests {
    private func found(_ pattern: String, in store: Store) throws -> [Int64] {
        try store.sql(
            "SELECT rowid FROM __search_Node WHERE __search_name GLOB ? ORDER BY 1", binding: [.text("*\(pattern)*")]
        )
        .compactMap { if case .integer(let id) = $0[0] { id } else { nil } }
    }

    @Test(arguments: StoreKind.memoryAndEncrypted)
    func `the index follows each change in its transaction`(kind: StoreKind) throws {
        let store = try Store.ofNodes(kind)
        let node = try store.write { try $0.insert(Node("Магнит")) }
        #expect(try found("агн", in: store).count == 1)
        try store.write { tx in
            try tx.update(Node.self, localID: node.localID) { $0.name = "Лента" }
            #expect(try found("агн", in: store) == [])
            #expect(try found("ент", in: store).count == 1)
            try tx.update(Node.self, localID: node.localID) { $0.name = nil }
            #expect(try found("ент", in: store) == [])
            try tx.update(Node.self, localID: node.localID) { $0.name = "Магнит" }
        }
        #expect(try found("агн", in: store).count == 1)
        try store.write { try $0.delete(node) }
        #expect(try found("агн", in: store) == [])
        #expect(try store.checkIntegrity() == [])
    }

    @Test(arguments: StoreKind.memoryAndEncrypted)
    func `a row ID reused in one transaction is indexed once`(kind: StoreKind) throws {
        let store = try Store.ofNodes(kind)
        let node = try store.write { try $0.insert(Node("магнит")) }
        try store.write { tx in
            try tx.delete(node)
            try tx.insert(Node("лента"))
        }
        #expect(try found("агн", in: store) == [])
        #expect(try found("ент", in: store).count == 1)
        #expect(try store.checkIntegrity() == [])
        try store.write { tx in
            let last = try tx.insert(Node("дикси"))
            try tx.delete(last)
            let next = try tx.insert(Node("ашан"))
            try tx.update(Node.self, localID: next.localID) { $0.name = "метро" }
            try tx.delete(next)
            try tx.insert(Node("карусель"))
        }
        #expect(try found("ику", in: store) == [] && found("аша", in: store) == [] && found("етр", in: store) == [])
        #expect(try store.checkIntegrity() == [])
    }

    @Test(arguments: StoreKind.memoryAndEncrypted)
    func `many changes in one transaction are indexed in batches`(kind: StoreKind) throws {
        let store = try Store.ofNodes(kind)
        let nodes = (0..<20).map { Node("name \($0)") }
        try store.write { try $0.insert(contentsOf: nodes) }
        try store.write { tx in
            tx.pendingSearchLimit = 3
            for node in nodes { try tx.update(Node.self, localID: node.localID) { $0.name = "other \($0.name!)" } }
            for node in nodes.prefix(10) { try tx.delete(node) }
        }
        #expect(try found("other", in: store).count == 10)
        #expect(try store.checkIntegrity() == [])
    }

    @Test(arguments: StoreKind.memoryAndEncrypted)
    func `a change undone in an inner block is undone in the index`(kind: StoreKind) throws {
        struct Stop: Error {}
        let store = try Store.ofNodes(kind)
        let node = try store.write { try $0.insert(Node("магнит")) }
        try store.write { tx in
            try tx.update(Node.self, localID: node.localID) { $0.name = "лента" }
            try? store.write { inner in
                try inner.update(Node.self, localID: node.localID) { $0.name = "дикси" }
                try inner.insert(Node("ашан"))
                throw Stop()
            }
            #expect(try found("ент", in: store).count == 1)
        }
        #expect(try found("икс", in: store) == [] && found("аша", in: store) == [] && found("агн", in: store) == [])
        #expect(try store.checkIntegrity() == [])
    }

    @Test(arguments: StoreKind.memoryAndEncrypted)
    func `the check finds differences of the index`(kind: StoreKind) throws {
        let store = try Store.ofNodes(kind)
        let a = try store.write { try $0.insert(Node("a")) }
        var b = Node("b")
        b.friends = [a.reference]
        try store.write { try $0.insert(b) }
        for damage in [
            "UPDATE Node SET name = 'z' WHERE name = 'a'", "UPDATE Node SET __search_name = 'zzzz' WHERE name = 'a'",
            "UPDATE __operations SET kind = 3 WHERE id = 1", "UPDATE Node SET synced = 1 WHERE name = 'a'",
            "UPDATE Node SET note = x'00'", "DELETE FROM __operations; UPDATE Node SET serverID = name",
            "UPDATE Node SET deleted = 1 WHERE name = 'b'", "DELETE FROM __links_Node_friends",
            "UPDATE Node SET next = 'missing' WHERE name = 'a'", "DELETE FROM Node WHERE name = 'a'",
            "INSERT INTO __unresolved VALUES ('Node', '\(b.localID)', 'Node', 1, 'next', 0)",
            "UPDATE __operations SET state = 1", "UPDATE __operations SET changes = x'09'",
            "UPDATE Node SET count = 1.5",
            "INSERT INTO __operation_errors (operation, message, at) VALUES (77, '', 0)",
            "UPDATE __operations SET attempted = x'09'", "UPDATE __operations SET attemptedKinds = 1",
            "UPDATE __operations SET attempted = x'0101046e616d650100'",
            "INSERT INTO __server_items VALUES ('Node', 's', 99, NULL, NULL, 0, x'00', 1, NULL)",
            "INSERT INTO __server_items VALUES ('Node', 's', NULL, NULL, NULL, 0, x'00', 9, NULL)",
            "INSERT INTO __server_extras VALUES ('Node', 99, x'00')",
            "INSERT INTO __server_extras VALUES ('Node', 1, x'')",
            "INSERT INTO __sync_tokens VALUES ('Memo', 'q', x'00', NULL, 0, NULL)",
            "INSERT INTO __sync_tokens VALUES ('Node', 'q', x'', NULL, 0, NULL)",
        ] {
            try? store.write { tx in
                try tx.connection.execute(damage)
                let problems = try store.checkIntegrity()
                #expect(!problems.isEmpty, "\(damage)")
                throw CancellationError()
            }
        }
        #expect(try store.checkIntegrity() == [])
    }
}
