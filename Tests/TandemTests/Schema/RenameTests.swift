import Foundation
import TandemTesting
import TestSupport
import Testing

@testable import Tandem

@Suite(.ownThreads) struct RenameTests {
    private let person = Flex.Person.version(.text("name", folding: .searched))

    private func card(_ target: PropertyDefinition...) -> ModelDefinition {
        Flex.Card.version([.text("shop", folding: .searched)] + target)
    }

    @Test(arguments: StoreKind.fileAndEncrypted)
    func `a renamed property keeps its values, its search index and its changes`(kind: StoreKind) throws {
        let folder = try TestFolder(kind)
        try folder.open(Flex.Card.version(.text("shopName", folding: .searched), .int("points"))) { store in
            try store.applyServerObject(Flex.Card("Лента", 1, id: "1"))
            try store.write { tx in _ = try tx.update(Flex.Card.self, localID: "1") { $0.values[0] = "Магнит" } }
        }
        try folder.open(Flex.Card.version(.text("shop", folding: .searched, from: "shopName"), .int("points"))) {
            (store) throws in
            #expect(try store.rows("SELECT shop, points FROM Card") == [["Магнит", 1]])
            #expect(try store.operations.all().first?.base == ["shop": "Лента"])
            #expect(try store.rows("SELECT count(*) FROM __search_Card WHERE __search_shop GLOB '*маг*'") == [[1]])
        }
    }

    @Test(arguments: StoreKind.fileAndEncrypted)
    func `properties can exchange names in a chain`(kind: StoreKind) throws {
        let folder = try TestFolder(kind)
        try folder.open(Flex.Card.version(.text("a"), .text("b"))) { store in
            _ = try store.write { try $0.insert(Flex.Card("A", "B", id: "1")) }
        }
        // The property a is b now, and b is c.
        try folder.open(Flex.Card.version(.text("b", from: "a"), .text("c", from: "b"))) { (store) throws in
            #expect(try store.rows("SELECT b, c FROM Card") == [["A", "B"]])
        }
    }

    @Test(arguments: StoreKind.fileAndEncrypted)
    func `a property in another column keeps its values`(kind: StoreKind) throws {
        let folder = try TestFolder(kind)
        try folder.open(Flex.Card.version(.text("shop", folding: .searched), .text("note"))) { store in
            try store.applyServerObject(Flex.Card("Лента", "x", id: "1"))
            try store.write { tx in _ = try tx.update(Flex.Card.self, localID: "1") { $0.values[0] = "Магнит" } }
        }
        // The columns are swapped.
        try folder.open(
            Flex.Card.version(.text("shop", column: "note", folding: .searched), .text("note", column: "shop"))
        ) { (store) throws in
            #expect(try store.rows("SELECT shop, note FROM Card") == [["x", "Магнит"]])
            #expect(try store.operations.all().first?.base == ["shop": "Лента"])
        }
    }

    @Test(arguments: StoreKind.fileAndEncrypted)
    func `a renamed model keeps its objects, its operations and the references to it`(kind: StoreKind) throws {
        let folder = try TestFolder(kind)
        let owner = PropertyDefinition("owner", codec: Codec.of(Reference<Flex.Person>?.self))
        let friends = PropertyDefinition("friends", codec: Codec.of([Reference<Flex.Person>].self))
        try folder.open(person, card(owner, friends)) { store in
            try store.write { tx in
                try tx.insert(Flex.Person("Ада", id: "p"))
                try tx.insert(Flex.Card("Лента", "p", "[\"p\"]", id: "c"))
                try tx.insert(Flex.Card("Магнит", "later", "[\"p\",\"later\"]", id: "d"))
            }
        }
        let human = Flex.Human.version(.text("name", folding: .searched), formerNames: ["Person"])
        try folder.open(
            human,
            card(
                PropertyDefinition("owner", codec: Codec.of(Reference<Flex.Human>?.self), onDelete: .cascade),
                PropertyDefinition("friends", codec: Codec.of([Reference<Flex.Human>].self)))
        ) { store in
            #expect(try store.column("name", of: "Human") == ["p": "Ада"])
            #expect(try store.column("owner", of: "Card") == ["c": "p", "d": .null])
            #expect(try store.operations.all().map(\.model) == ["Human", "Card", "Card"])
            #expect(try store.rows("SELECT name FROM sqlite_master WHERE name LIKE '%Person%'") == [])
            // A waiting reference waits for the model under its new name.
            try store.write { tx in _ = try tx.insert(Flex.Human("Боб", id: "later")) }
            #expect(try store.column("owner", of: "Card") == ["c": "p", "d": "later"])
            #expect(try store.column("friends", of: "Card")["d"] == "[\"p\",\"later\"]")
            try store.write { tx in _ = try tx.delete(Flex.Human.self, localID: "p") }
            #expect(try store.column("friends", of: "Card") == ["d": "[\"later\"]"])
        }
    }

    @Test(arguments: StoreKind.fileAndEncrypted)
    func `a renamed model can keep its table`(kind: StoreKind) throws {
        let folder = try TestFolder(kind)
        try folder.open(person) { store in _ = try store.write { try $0.insert(Flex.Person("Ада", id: "p")) } }
        try folder.open(
            Flex.Human.version(.text("name", folding: .searched), table: "Person", formerNames: ["Person"])
        ) { (store) throws in
            #expect(try store.column("name", of: "Person") == ["p": "Ада"])
            #expect(try store.operations.all().map(\.model) == ["Human"])
        }
    }

    @Test(arguments: StoreKind.fileAndEncrypted)
    func `models can exchange names in a chain`(kind: StoreKind) throws {
        let folder = try TestFolder(kind)
        try folder.open(
            Flex.Person.version(.text("name", folding: .searched)), Flex.Human.version(.text("title"))
        ) { store in
            try store.write { tx in
                try tx.insert(Flex.Person("Ада", id: "x"))
                try tx.insert(Flex.Human("Dr.", id: "x"))
            }
        }
        // Person is Human now, and Human is Brand.
        try folder.open(
            Flex.Human.version(.text("name", folding: .searched), formerNames: ["Person"]),
            Flex.Brand.version(.text("title"), formerNames: ["Human"])
        ) { (store) throws in
            #expect(try store.rows("SELECT name FROM Human") == [["Ада"]])
            #expect(try store.rows("SELECT title FROM Brand") == [["Dr."]])
            #expect(try store.operations.all().map(\.model) == ["Human", "Brand"])
        }
    }

    @Test(arguments: StoreKind.fileAndEncrypted)
    func `tables can be swapped`(kind: StoreKind) throws {
        let folder = try TestFolder(kind)
        let properties: [PropertyDefinition] = [.text("name", folding: .searched, indexed: true)]
        try folder.open(
            Flex.Person.version(properties, table: "one"), Flex.Human.version(properties, table: "two")
        ) { store in
            try store.write { tx in
                try tx.insert(Flex.Person("Ада", id: "x"))
                try tx.insert(Flex.Human("Боб", id: "x"))
            }
        }
        try folder.open(
            Flex.Person.version(properties, table: "two"), Flex.Human.version(properties, table: "one")
        ) { (store) throws in
            #expect(try store.rows("SELECT name FROM two") == [["Ада"]])
            #expect(try store.rows("SELECT name FROM one") == [["Боб"]])
            #expect(try store.operations.all().map(\.model) == ["Person", "Human"])
        }
    }

    @Test(arguments: StoreKind.fileAndEncrypted)
    func `a table can change the case of its name`(kind: StoreKind) throws {
        let folder = try TestFolder(kind)
        let properties: [PropertyDefinition] = [.text("name", folding: .searched, indexed: true)]
        try folder.open(Flex.Person.version(properties, table: "person")) { store in
            _ = try store.write { try $0.insert(Flex.Person("Ада", id: "x")) }
        }
        try folder.open(Flex.Person.version(properties, table: "Person")) { (store) throws in
            #expect(try store.rows("SELECT name FROM Person") == [["Ада"]])
        }
    }

    @Test(arguments: StoreKind.fileAndEncrypted)
    func `a model renamed without a rule is refused`(kind: StoreKind) throws {
        let folder = try TestFolder(kind)
        try folder.open(person) { store in _ = try store.write { try $0.insert(Flex.Person("Ада", id: "x")) } }
        let before = try folder.storeBytes()
        let error = expectError(.schemaMismatch) {
            try folder.open(Flex.Human.version(.text("name", folding: .searched)))
        }
        #expect(error?.model == "Human" && error?.description.contains("Person") == true)
        #expect(try folder.storeBytes() == before)
    }

    @Test(arguments: StoreKind.fileAndEncrypted)
    func `the table of a removed model is not reused`(kind: StoreKind) throws {
        let folder = try TestFolder(kind)
        try folder.open(Flex.Person.version(.text("name"), table: "people")) { store in
            _ = try store.write { try $0.insert(Flex.Person("Ада", id: "x")) }
        }
        let before = try folder.storeBytes()
        let error = expectError(.schemaMismatch) {
            try folder.open(Flex.Human.version(.text("title"), table: "People"))
        }
        #expect(error?.model == "Human")
        #expect(try folder.storeBytes() == before)
    }

    @Test(arguments: StoreKind.fileAndEncrypted)
    func `a reference to another model than before is refused`(kind: StoreKind) throws {
        let folder = try TestFolder(kind)
        let brand = Flex.Brand.version(.text("title"))
        try folder.open(person, brand, card(PropertyDefinition("owner", codec: Codec.of(Reference<Flex.Person>?.self))))
        {
            store in
            try store.write { tx in
                try tx.insert(Flex.Person("Ада", id: "p"))
                try tx.insert(Flex.Card("Лента", "p", id: "c"))
            }
        }
        let before = try folder.storeBytes()
        let error = expectError(.schemaMismatch) {
            try folder.open(
                person, brand, card(PropertyDefinition("owner", codec: Codec.of(Reference<Flex.Brand>?.self))))
        }
        #expect(error?.property == "owner")
        #expect(
            error?.message.contains("Reference<Person>") == true && error?.message.contains("Reference<Brand>") == true)
        #expect(try folder.storeBytes() == before)
    }

    @Test(arguments: StoreKind.fileAndEncrypted)
    func `values that waited for a removed reference are forgotten`(kind: StoreKind) throws {
        let folder = try TestFolder(kind)
        let owner = PropertyDefinition("owner", codec: Codec.of(Reference<Flex.Person>?.self))
        try folder.open(person, card(owner)) { store in
            _ = try store.write { try $0.insert(Flex.Card("Лента", "p", id: "c")) }
            #expect(try store.rows("SELECT id FROM __unresolved") == [["p"]])
        }
        try folder.open(person, card()) { (store) throws in #expect(try store.rows("SELECT id FROM __unresolved") == [])
        }
        try folder.open(person, card(owner)) { store in
            try store.write { tx in _ = try tx.insert(Flex.Person("Ада", id: "p")) }
            #expect(try store.column("owner", of: "Card") == ["c": .null])
        }
    }
}
