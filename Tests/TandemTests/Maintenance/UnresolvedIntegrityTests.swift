import TandemTesting
import Testing

@testable import Tandem

/// The integrity check of references that wait for their targets.
@Suite(.ownThreads) struct UnresolvedIntegrityTests {
    /// Makes a holder without a target, an object with a server ID, and an object that was never sent.
    private func store() throws -> Store {
        let store = try Store(inMemoryModels: [Node.self])
        try store.applyServerObject(Node("known", localID: "local"), serverID: "server", version: "1")
        try store.write { tx in
            try tx.insert(Node("holder", localID: "holder"))
            try tx.insert(Node("unsent", localID: "unsent"))
        }
        return store
    }

    private func damage(
        _ store: Store, id: String, column: String = "parent", row: String = "holder"
    ) throws -> [String] {
        try store.write { tx in
            try tx.store.writer.connection.execute(
                """
                INSERT INTO "__unresolved" SELECT 'Node', ?, 'Node', \
                ifnull((SELECT "__rid" FROM "Node" WHERE "localID" = ?), 99), ?, 0
                """, binding: [.text(id), .text(row), .text(column)])
        }
        return try store.checkIntegrity()
    }

    /// Gives the object that was sent another local ID.
    private func identify(_ localID: String, in store: Store) throws {
        try store.write { tx in
            try tx.store.writer.connection.execute(
                "UPDATE \"Node\" SET \"localID\" = ? WHERE \"serverID\" = 'server'", binding: [.text(localID)])
        }
    }

    @Test(arguments: ["missing", "local"])
    func `a reference may wait for a missing object, also with a text that is a sent object's local ID`(
        id: String
    ) throws {
        let store = try store()
        try identify("local", in: store)
        #expect(try damage(store, id: id) == [])
    }

    /// An object that was sent with its local ID, and one that was never sent.
    @Test(arguments: ["server", "unsent"])
    func `a reference must not wait for an object that exists`(id: String) throws {
        let store = try store()
        try identify("server", in: store)
        #expect(try damage(store, id: id).first?.hasSuffix("waits for \(id), which exists.") == true)
    }

    @Test(arguments: [
        ("name", "holder", "but is not a reference."), ("parent", "none", "but does not exist."),
    ])
    func `the holder of a waiting reference must exist, and its property be a reference`(
        column: String, row: String, end: String
    ) throws {
        #expect(try damage(try store(), id: "x", column: column, row: row).first?.hasSuffix(end) == true)
    }

    @Test func `a reference that waits must be empty`() throws {
        let store = try store()
        try store.write { tx in
            let known = try tx.store.objects(Node.self).where { $0.name == "known" }.first()
            try tx.update(Node.self, localID: "holder") { $0.parent = known.map { Reference($0) } }
        }
        #expect(try damage(store, id: "x").first?.hasSuffix("but refers to another object.") == true)
    }
}
