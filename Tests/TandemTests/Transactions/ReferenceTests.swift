import TandemTesting
import TestSupport
import Testing

@testable import Tandem

@Suite(.ownThreads) struct ReferenceTests {
    private func ref(_ id: LocalID) -> Reference<Node> { Reference(localID: id) }

    /// Makes nodes whose names are also their local IDs.
    private func nodes(_ names: String..., in store: Store, _ change: (String, inout Node) -> Void = { _, _ in }) throws
    {
        try store.write { tx in
            for name in names {
                var node = Node(name, localID: LocalID(name))
                change(name, &node)
                try tx.insert(node)
            }
        }
    }

    // MARK: Delete rules

    @Test(arguments: StoreKind.memoryAndEncrypted)
    func `nullify removes the reference from its holders`(kind: StoreKind) throws {
        let store = try Store.ofNodes(kind)
        try nodes("a", "b", "c", in: store) { name, node in
            if name != "a" { node.next = ref("a") }
            node.friends = [ref("b"), ref("a"), ref("c"), ref("a")]
        }
        try store.sendAll()
        try store.write { try $0.delete(Node.self, localID: "a") }
        for id: LocalID in ["b", "c"] {
            let node = try #require(try store.stored(Node.self, id))
            #expect(node.next == nil && node.friends.map(\.localID) == ["b", "c"])
        }
        #expect(try store.queue() == ["delete a", "update b [friends next]", "update c [friends next]"])
        #expect(try store.checkIntegrity() == [])
    }

    @Test(arguments: StoreKind.memoryAndEncrypted)
    func `cascade deletes holders recursively`(kind: StoreKind) throws {
        let store = try Store.ofNodes(kind)
        try nodes("a", "b", "c", "d", "e", in: store) { name, node in
            if name == "b" { node.parent = ref("a") }
            if name == "c" { node.owners = [ref("e"), ref("b")] }
            if name == "d" { node.next = ref("c") }
        }
        try store.sendAll()
        try store.write { try $0.delete(Node.self, localID: "a") }
        #expect(try store.live(Node.self).map(\.localID) == ["d", "e"])
        #expect(try store.queue() == ["delete a", "delete b", "delete c", "update d [next]"])
        #expect(try store.checkIntegrity() == [])
    }

    @Test(arguments: StoreKind.memoryAndEncrypted)
    func `cycles and self-references of cascades end`(kind: StoreKind) throws {
        let store = try Store.ofNodes(kind)
        try nodes("a", "b", "c", in: store) { name, node in
            node.parent = ref(["a": "b", "b": "c", "c": "a"][name]!)
            node.owners = [ref("a"), ref("b"), ref("c")]
            node.keeper = ref(LocalID(name))
        }
        #expect(try store.checkIntegrity() == [])
        #expect(try store.write { try $0.delete(Node.self, localID: "b") })
        #expect(try store.live(Node.self) == [])
        #expect(try store.operations.count() == 0)
        #expect(try store.sql("SELECT count(*) FROM __links_Node_owners")[0][0] == .integer(0))
        #expect(try store.checkIntegrity() == [])
    }

    @Test(arguments: StoreKind.memoryAndEncrypted)
    func `a long chain of cascades does not overflow the stack`(kind: StoreKind) throws {
        let store = try Store.ofNodes(kind)
        try store.write { tx in
            var last: Node?
            for number in 0..<3000 {
                var node = Node(localID: LocalID("n\(number)"))
                node.parent = last?.reference
                last = try tx.insert(node)
            }
        }
        #expect(try store.write { try $0.delete(Node.self, localID: "n0") })
        #expect(try store.live(Node.self) == [])
    }

    @Test(arguments: StoreKind.memoryAndEncrypted)
    func `deny refuses to delete an object with holders`(kind: StoreKind) throws {
        let store = try Store.ofNodes(kind)
        try nodes("a", "b", "c", "d", in: store) { name, node in
            if name == "b" { node.keeper = ref("a") }
            if name == "d" { node.anchors = [ref("c")] }
        }
        for id: LocalID in ["a", "c"] {
            let error = failure { try store.write { try $0.delete(Node.self, localID: id) } }
            #expect(error?.code == .deleteDenied)
            #expect(error?.model == "Node")
            #expect(error?.property == (id == "a" ? "keeper" : "anchors"))
        }
        try store.write { tx in
            try tx.delete(Node.self, localID: "b")
            try tx.delete(Node.self, localID: "a")
        }
        #expect(try store.live(Node.self).map(\.localID) == ["c", "d"])
    }

    @Test(arguments: StoreKind.memoryAndEncrypted)
    func `deny inside a cascade undoes the whole cascade`(kind: StoreKind) throws {
        let store = try Store.ofNodes(kind)
        try nodes("a", "b", "c", "d", in: store) { name, node in
            if name == "b" { node.parent = ref("a") }
            if name == "c" { node.next = ref("a") }
            if name == "d" { node.keeper = ref("b") }
        }
        try store.sendAll()
        try store.write { tx throws in
            // The block catches the error and continues, and nothing is deleted.
            #expect(code { try tx.delete(Node.self, localID: "a") } == .deleteDenied)
            #expect(try store.live(Node.self).count == 4)
            #expect(try store.operations.count() == 0)
        }
        #expect(try store.stored(Node.self, "c")?.next?.localID == "a")
        #expect(try store.checkIntegrity() == [])
    }

    @Test(arguments: StoreKind.memoryAndEncrypted)
    func `objects that a cascade deletes are removed from lists at once`(kind: StoreKind) throws {
        let store = try Store.ofNodes(kind)
        try nodes("a", "b", "c", in: store) { name, node in
            if name == "b" { node.parent = ref("a") }
            if name == "c" { node.friends = [ref("a"), ref("b"), ref("c")] }
        }
        try store.write { try $0.delete(Node.self, localID: "a") }
        #expect(try store.stored(Node.self, "c")?.friends.map(\.localID) == ["c"])
        // No reference waits for them.
        #expect(try store.sql("SELECT count(*) FROM __unresolved")[0][0] == .integer(0))
    }

    @Test(arguments: StoreKind.memoryAndEncrypted)
    func `an object that is deleted when its insert is acknowledged does not resolve waiting references`(
        kind: StoreKind
    ) throws {
        let store = try Store.ofNodes(kind)
        try nodes("a", in: store)
        let id = try store.operations.all()[0].id
        try store.write { tx in
            try tx.beginAttempt(id)
            try tx.delete(Node.self, localID: "a")
        }
        try nodes("b", in: store) { _, node in node.next = ref("a") }
        try store.write { try $0.acknowledge(id, serverID: "s") }
        #expect(try store.stored(Node.self, "b")?.next == nil)
        #expect(try store.checkIntegrity() == [])
    }

    @Test(arguments: StoreKind.memoryAndEncrypted)
    func `an object that is deleted too denies nothing`(kind: StoreKind) throws {
        let store = try Store.ofNodes(kind)
        try nodes("a", "b", "c", in: store) { name, node in
            if name != "a" { node.parent = ref("a") }
            if name == "c" { node.keeper = ref("b") }
        }
        #expect(try store.write { try $0.delete(Node.self, localID: "a") })
        #expect(try store.live(Node.self) == [])
    }

    // MARK: Missing objects

    @Test(arguments: StoreKind.memoryAndEncrypted)
    func `a reference to a missing object reads as nil until the object arrives`(kind: StoreKind) throws {
        let store = try Store.ofNodes(kind)
        var node = Node("a", localID: "a")
        node.next = ref("x")
        node.friends = [ref("x"), ref("y"), ref("a"), ref("x"), ref("z")]
        node = try store.write { try $0.insert(node) }
        // The result of insert equals the stored object.
        #expect(try store.stored(node) == node)
        #expect(node.next == nil && node.friends.map(\.localID) == ["a"])
        try nodes("y", in: store)
        #expect(try store.stored(node)?.friends.map(\.localID) == ["y", "a"])
        try nodes("z", in: store)
        #expect(try store.stored(node)?.friends.map(\.localID) == ["y", "a", "z"])
        try nodes("x", in: store)
        #expect(try store.stored(node)?.friends.map(\.localID) == ["x", "y", "a", "x", "z"])
        #expect(try store.stored(node)?.next?.localID == "x")
        #expect(try store.queue() == ["insert a", "insert y", "insert z", "insert x"])
        #expect(try store.checkIntegrity() == [])
    }

    @Test(arguments: StoreKind.memoryAndEncrypted)
    func `the later of two missing entries may arrive first`(kind: StoreKind) throws {
        let store = try Store.ofNodes(kind)
        try nodes("a", "b", in: store) { name, node in
            if name == "a" { node.friends = [ref("x"), ref("y"), ref("b")] }
        }
        try nodes("y", in: store)
        try nodes("x", in: store)
        #expect(try store.stored(Node.self, "a")?.friends.map(\.localID) == ["x", "y", "b"])
    }

    @Test(arguments: StoreKind.memoryAndEncrypted)
    func `a reference by server ID resolves when its object gets that ID`(kind: StoreKind) throws {
        let store = try Store.ofNodes(kind)
        var node = Node("a")
        node.next = ref("s-mine")
        node.friends = [ref("s-mine")]
        try store.applyServerObject(node, serverID: "a")
        try nodes("mine", in: store)
        #expect(try store.stored(Node.self, "a")?.next == nil)
        try store.sendAll()
        #expect(try store.stored(Node.self, "a")?.next?.localID == "mine")
        #expect(try store.stored(Node.self, "a")?.friends.map(\.localID) == ["mine"])
        #expect(try store.stored(Node.self, "a")?.isSynced == true)
        #expect(try store.checkIntegrity() == [])
    }

    @Test(arguments: StoreKind.memoryAndEncrypted)
    func `writing an object back keeps its waiting references`(kind: StoreKind) throws {
        let store = try Store.ofNodes(kind)
        try nodes("a", "b", "c", in: store) { name, node in
            if name == "a" {
                node.next = ref("x")
                node.friends = [ref("b"), ref("x"), ref("c")]
            }
        }
        try store.sendAll()
        var node = try #require(try store.stored(Node.self, "a"))
        #expect(node.friends.map(\.localID) == ["b", "c"])
        try store.write { try $0.update(node) }
        #expect(try store.operations.count() == 0)
        // A change of the list keeps the invisible entry.
        node.count = 1
        node.friends.removeLast()
        try store.write { try $0.update(node) }
        #expect(try store.operations.all()[0].base["friends"] == .text(#"["b","x","c"]"#))
        try store.write { try $0.delete(Node.self, localID: "b") }
        try nodes("x", in: store)
        #expect(try store.stored(node)?.friends.map(\.localID) == ["x"])
        #expect(try store.stored(node)?.next?.localID == "x")
        #expect(try store.checkIntegrity() == [])
    }

    @Test(arguments: StoreKind.memoryAndEncrypted)
    func `another value replaces a waiting reference`(kind: StoreKind) throws {
        let store = try Store.ofNodes(kind)
        try nodes("a", "b", in: store) { name, node in
            if name == "a" { node.next = ref("x") }
        }
        try store.sendAll()
        try store.write { try $0.update(Node.self, localID: "a") { $0.next = ref("b") } }
        // The base is the server's value, even if it is invisible here.
        #expect(try store.operations.all()[0].base["next"] == .text("x"))
        try nodes("x", in: store)
        #expect(try store.stored(Node.self, "a")?.next?.localID == "b")
        // A nil that is given by name is intended.
        try store.write { tx in
            try tx.upsert(Node.self, values: ["localID": "b", "next": "y", "friends": ["y", "a"]])
            try tx.upsert(Node.self, values: ["localID": "b", "next": nil, "friends": ["a"]])
        }
        try nodes("y", in: store)
        #expect(try store.stored(Node.self, "b")?.next == nil)
        #expect(try store.stored(Node.self, "b")?.friends.map(\.localID) == ["a"])
        #expect(try store.checkIntegrity() == [])
    }

    @Test(arguments: StoreKind.memoryAndEncrypted)
    func `a server's new value replaces a waiting reference`(kind: StoreKind) throws {
        let store = try Store.ofNodes(kind)
        func receive(_ change: (inout Node) -> Void) throws {
            var node = Node("a")
            change(&node)
            try store.applyServerObject(node, serverID: "a")
        }
        try receive {
            $0.next = ref("x")
            $0.friends = [ref("x"), ref("y")]
        }
        try receive { $0.friends = [ref("y")] }
        try nodes("x", "y", in: store)
        #expect(try store.stored(Node.self, "a")?.next == nil)
        #expect(try store.stored(Node.self, "a")?.friends.map(\.localID) == ["y"])
        #expect(try store.checkIntegrity() == [])
    }

    @Test(arguments: StoreKind.memoryAndEncrypted)
    func `an insert over a deleted object keeps its references to missing objects`(kind: StoreKind) throws {
        let store = try Store.ofNodes(kind)
        try nodes("a", in: store)
        try store.sendAll()
        try store.write { tx in
            try tx.delete(Node.self, localID: "a")
            var node = Node("again", localID: "a")
            node.next = ref("x")
            node.parent = ref("a")
            try tx.insert(node)
        }
        #expect(try store.stored(Node.self, "a")?.parent?.localID == "a")
        try nodes("x", in: store)
        #expect(try store.stored(Node.self, "a")?.next?.localID == "x")
        #expect(try store.checkIntegrity() == [])
    }

    @Test(arguments: StoreKind.memoryAndEncrypted)
    func `references to objects deleted meanwhile wait after an undelete`(kind: StoreKind) throws {
        let store = try Store.ofNodes(kind)
        try nodes("a", "b", "c", in: store) { name, node in
            if name == "a" {
                node.next = ref("b")
                node.friends = [ref("x"), ref("b"), ref("c")]
            }
        }
        try store.sendAll()
        try store.write { tx in
            try tx.delete(Node.self, localID: "a")
            try tx.delete(Node.self, localID: "b")
            let back = try tx.undelete(Node.self, localID: "a")
            #expect(back.next == nil && back.friends.map(\.localID) == ["c"] && back.isSynced)
        }
        #expect(try store.checkIntegrity() == [])
        let back = try store.write { try $0.undelete(Node.self, localID: "b") }
        #expect(!back.isDeleted)
        #expect(try store.stored(Node.self, "a")?.next?.localID == "b")
        #expect(try store.stored(Node.self, "a")?.friends.map(\.localID) == ["b", "c"])
        try nodes("x", in: store)
        #expect(try store.stored(Node.self, "a")?.friends.map(\.localID) == ["x", "b", "c"])
        #expect(try store.checkIntegrity() == [])
    }

    @Test(arguments: StoreKind.memoryAndEncrypted)
    func `a deleted object that returns is referred to again by waiting holders`(kind: StoreKind) throws {
        let store = try Store.ofNodes(kind)
        try nodes("a", in: store)
        try store.sendAll()
        try store.write { tx in
            try tx.delete(Node.self, localID: "a")
            var node = Node("b", localID: "b")
            node.next = ref("a")
            try tx.insert(node)
        }
        #expect(try store.stored(Node.self, "b")?.next == nil)
        try store.write { try $0.undelete(Node.self, localID: "a") }
        #expect(try store.stored(Node.self, "b")?.next?.localID == "a")
        #expect(try store.checkIntegrity() == [])
    }

    @Test(arguments: StoreKind.memoryAndEncrypted)
    func `references between models work`(kind: StoreKind) throws {
        let store = try kind.make([HandCard.self, HandPerson.self])
        let person = HandPerson(name: "Ада")
        let card = try store.write { try $0.insert(HandCard(shop: "Лента", barcode: "1", owner: person.reference)) }
        #expect(card.owner == nil)
        try store.write { try $0.insert(person) }
        #expect(try store.stored(card)?.owner == person.reference)
        try store.write { try $0.delete(person) }
        #expect(try store.live(HandCard.self) == [])
        #expect(try store.checkIntegrity() == [])
    }
}
