import TandemTesting
import TestSupport
import Testing

@testable import Tandem

@Suite(.ownThreads) struct UniqueTests {
    @Test(arguments: StoreKind.memoryAndEncrypted)
    func `a second live object with a unique value is refused`(kind: StoreKind) throws {
        let store = try Store.ofNodes(kind)
        let a = try store.write { try $0.insert(Node("a", code: "1")) }
        let b = try store.write { try $0.insert(Node("b", code: "2")) }
        for attempt: (WriteTransaction) throws -> Void in [
            { try $0.insert(Node("c", code: "1")) },
            { try $0.update(Node.self, localID: b.localID) { $0.code = "1" } },
            { try $0.upsert(Node.self, values: ["localID": b.localID, "code": "1"]) },
            { try $0.upsert(Node("d", code: "2")) },
        ] {
            let error = failure { try store.write { try attempt($0) } }
            #expect(error?.code == .duplicateValue)
            #expect(error?.model == "Node")
            #expect(error?.property == "code")
            #expect(error?.store == store.path)
        }
        #expect(try store.live(Node.self).count == 2)
        try store.write { tx in
            // The values are exchanged by way of nil.
            try tx.update(Node.self, localID: a.localID) { $0.code = nil }
            try tx.update(Node.self, localID: b.localID) { $0.code = "1" }
            try tx.update(Node.self, localID: a.localID) { $0.code = "2" }
        }
    }

    @Test(arguments: StoreKind.memoryAndEncrypted)
    func `nil is not a unique value`(kind: StoreKind) throws {
        let store = try Store.ofNodes(kind)
        try store.write { try $0.insert(contentsOf: [Node("a"), Node("b"), Node("c")]) }
        #expect(try store.live(Node.self).count == 3)
    }

    @Test(arguments: StoreKind.memoryAndEncrypted)
    func `several properties are unique together`(kind: StoreKind) throws {
        func node(_ first: Int, _ second: Int?) -> Node {
            var node = Node()
            node.code1 = first
            node.code2 = second
            return node
        }
        let store = try Store.ofNodes(kind)
        try store.write { try $0.insert(contentsOf: [node(1, 1), node(1, 2), node(2, 1), node(3, nil), node(3, nil)]) }
        let error = failure { try store.write { try $0.insert(node(1, 2)) } }
        #expect(error?.code == .duplicateValue)
        #expect(error?.property == "code1+code2")
    }

    @Test(arguments: StoreKind.memoryAndEncrypted)
    func `deleted objects do not count until they return`(kind: StoreKind) throws {
        let store = try Store.ofNodes(kind)
        let a = try store.write { try $0.insert(Node("a", code: "1")) }
        try store.sendAll()
        try store.write { tx in
            try tx.delete(a)
            try tx.insert(Node("b", code: "1", localID: "b"))
        }
        let error = failure { try store.write { try $0.undelete(a) } }
        #expect(error?.code == .duplicateValue)
        #expect(error?.property == "code")
        #expect(try store.stored(a)?.isDeleted == true)
        #expect(try store.queue().contains("delete \(a.localID)"))
        #expect(try store.checkIntegrity() == [])
        try store.write { tx in
            try tx.delete(Node.self, localID: "b")
            try tx.undelete(a)
        }
        #expect(try store.live(Node.self).map(\.name) == ["a"])
        #expect(try store.stored(a)?.isSynced == true)
    }
}

/// A model whose names are unique without case.
@Model struct LoneName {
    @Folded @Unique(.folded) var name: String
    @Folded(.sorted) @Unique(.folded) var alias: String?
}

extension UniqueTests {
    @Test(arguments: StoreKind.memoryAndEncrypted)
    func `folded uniqueness compares texts without case`(kind: StoreKind) throws {
        try kind.withStore(LoneName.self) { store in
            let first = try store.write { tx in
                let first = try tx.insert(LoneName(name: "Лента", alias: "Straße"))
                // Texts that differ in more than case are distinct, and nil is not compared.
                _ = try tx.insert(LoneName(name: "Ёлка"))
                _ = try tx.insert(LoneName(name: "Елка"))
                return first
            }
            for (name, alias, property) in [("ЛЕНТА", "x", "name"), ("y", "STRASSE", "alias")] {
                let error = failure { try store.write { try $0.insert(LoneName(name: name, alias: alias)) } }
                #expect(
                    error?.code == .duplicateValue && error?.property == property && error?.localID == first.localID)
            }
            try store.write { tx in
                // An object may change the case of its own name, and a deleted one does not count.
                try tx.update(first) { $0.name = "ЛЕНТА" }
                try tx.delete(first)
                _ = try tx.insert(LoneName(name: "лента", alias: "strasse"))
            }
            #expect(try store.objects(LoneName.self).count() == 3)
        }
    }

    @Test(arguments: StoreKind.memoryAndEncrypted)
    func `a server's item whose name differs only in case is refused`(kind: StoreKind) throws {
        try kind.withStore(LoneName.self) { store in
            try store.write { _ = try $0.insert(LoneName(name: "Лента")) }
            let error = failure { try store.applyServerObject(LoneName(name: "ЛЕНТА"), serverID: "s", version: "1") }
            #expect(error?.code == .duplicateValue && error?.property == "name")
        }
    }

    @Test(arguments: StoreKind.fileAndEncrypted)
    func `making a property unique without case refuses names that differ only in case`(kind: StoreKind) throws {
        let folder = try TestFolder(kind)
        func version(_ isUnique: Bool) -> ModelDefinition {
            Flex.Card.version(
                PropertyDefinition(
                    "shop", codec: Codec.of(String.self), folding: .sorted, unique: isUnique, foldedUnique: isUnique))
        }
        try folder.open(version(false)) { store in
            _ = try store.write { try $0.insert(Flex.Card("Ωμέγα", id: "1")) }
            _ = try store.write { try $0.insert(Flex.Card("ΩΜΈΓΑ", id: "2")) }
        }
        let error = expectError(.duplicateValue) { try folder.open(version(true)) }
        #expect(error?.model == "Card" && error?.property == "shop")
        try folder.open(version(false)) { store in _ = try store.write { try $0.delete(Flex.Card.self, localID: "2") } }
        try folder.open(version(true)) { (store) throws in
            let again = failure { try store.write { try $0.insert(Flex.Card("ωμέγα", id: "3")) } }
            #expect(again?.property == "shop")
        }
    }
}
