import Foundation
import TandemTesting
import TestSupport
import Testing

@testable import Tandem

@Suite(.ownThreads) struct AddingAndRemovingTests {
    @Test(arguments: StoreKind.fileAndEncrypted)
    func `an added property gets its default and the others keep their values`(kind: StoreKind) throws {
        let folder = try TestFolder(kind)
        try folder.open(Flex.Card.version(.text("shop", folding: .searched))) { store in
            try store.write { tx in
                try tx.insert(Flex.Card("Лента", id: "1"))
                try tx.insert(Flex.Card("a\u{0}b", id: "2"))
            }
        }
        let grown = Flex.Card.version(
            .text("shop", folding: .searched), .int("points", default: 7),
            PropertyDefinition("note", codec: Codec.of(String?.self)),
            PropertyDefinition("key", codec: Codec.of(UUID.self), default: { UUID() }))
        try folder.open(grown) { (store) throws in
            #expect(try store.column("shop", of: "Card") == ["1": "Лента", "2": "a\u{0}b"])
            #expect(try store.column("points", of: "Card") == ["1": 7, "2": 7])
            #expect(try store.column("note", of: "Card") == ["1": .null, "2": .null])
            // A default with a new value each time is evaluated for each object.
            #expect(Set(try store.column("key", of: "Card").values).count == 2)
            #expect(try store.operations.all().map(\.kind) == [.insert, .insert])
        }
    }

    @Test(arguments: StoreKind.fileAndEncrypted)
    func `an added property without a default is refused if there are objects`(kind: StoreKind) throws {
        let folder = try TestFolder(kind)
        try folder.open(Flex.Card.version(.text("shop"))) { _ in }
        let grown = Flex.Card.version(.text("shop"), .int("points"))
        try folder.open(Flex.Card.version(.text("shop"))) { store in
            _ = try store.write { try $0.insert(Flex.Card("Лента", id: "1")) }
        }
        let before = try folder.storeBytes()
        let error = expectError(.schemaMismatch) { try folder.open(grown) }
        #expect(error?.model == "Card" && error?.property == "points" && error?.store == folder.file())
        #expect(try folder.storeBytes() == before)
    }

    @Test(arguments: StoreKind.fileAndEncrypted)
    func `an added property without a default is accepted if there are no objects`(kind: StoreKind) throws {
        let folder = try TestFolder(kind)
        try folder.open(Flex.Card.version(.text("shop")))
        try folder.open(Flex.Card.version(.text("shop"), .int("points"))) { store in
            _ = try store.write { try $0.insert(Flex.Card("Лента", 3, id: "1")) }
        }
    }

    @Test(arguments: StoreKind.fileAndEncrypted)
    func `a removed property keeps the others and the operations`(kind: StoreKind) throws {
        let folder = try TestFolder(kind)
        let person = Flex.Person.version(.text("name"))
        let old = Flex.Card.version(.text("shop", folding: .searched), .int("points"), .text("note"))
        try folder.open(person, old) { store in
            try store.applyServerObject(Flex.Card("Лента", 1, "x", id: "1"), serverID: "s1")
            try store.write { tx in
                try tx.update(Flex.Card.self, localID: "s1") { $0.values = ["Магнит", 2, "y"] }
            }
        }
        try folder.open(person, Flex.Card.version(.text("shop", folding: .searched), .int("points"))) { store in
            #expect(try store.rows("SELECT shop, points FROM Card") == [["Магнит", 2]])
            let operation = try #require(try store.operations.all().first)
            #expect(operation.base == ["shop": "Лента", "points": 1])
        }
    }

    @Test(arguments: StoreKind.fileAndEncrypted)
    func `a removed model keeps its objects and operations until it is added again`(kind: StoreKind) throws {
        let folder = try TestFolder(kind)
        let person = Flex.Person.version(.text("name", folding: .searched))
        let card = Flex.Card.version(.text("shop", folding: .searched), .int("points"))
        try folder.open(person, card) { store in
            try store.write { tx in
                try tx.insert(Flex.Card("Лента", 1, id: "1"))
                try tx.insert(Flex.Person("Ада", id: "2"))
            }
        }
        try folder.open(person) { (store) throws in
            #expect(try store.operations.all().map(\.model) == ["Card", "Person"])
            expectError(.unknownModel) {
                try Flex.$definitions.withValue(["Card": card]) {
                    try store.write { try $0.insert(Flex.Card("x", 1, id: "9")) }
                }
            }
        }
        try folder.open(Flex.Person.version(.text("name", folding: .searched), .text("city", default: "Псков")))
        // The model is added again with one more property.
        try folder.open(
            Flex.Person.version(.text("name", folding: .searched), .text("city", default: "Псков")),
            Flex.Card.version(.text("shop", folding: .searched), .int("points"), .text("note", default: "-"))
        ) { (store) throws in
            #expect(try store.rows("SELECT localID, shop, points, note FROM Card") == [["1", "Лента", 1, "-"]])
            #expect(try store.rows("SELECT name, city FROM Person") == [["Ада", "Псков"]])
            #expect(try store.operations.all().map(\.localID) == ["1", "2"])
        }
    }

    @Test(arguments: StoreKind.fileAndEncrypted)
    func `a reference of a removed model waits if its object was deleted meanwhile`(kind: StoreKind) throws {
        let folder = try TestFolder(kind)
        let person = Flex.Person.version(.text("name"))
        let card = Flex.Card.version(
            PropertyDefinition("owner", codec: Codec.of(Reference<Flex.Person>?.self)),
            PropertyDefinition("friends", codec: Codec.of([Reference<Flex.Person>].self)))
        try folder.open(person, card) { store in
            try store.write { tx in
                for id in ["p", "q", "r"] { try tx.insert(Flex.Person("Ада", id: LocalID(id))) }
                try tx.insert(Flex.Card("p", "[\"p\",\"q\",\"p\",\"r\"]", id: "c"))
            }
        }
        try folder.open(person) { store in
            _ = try store.write { try $0.delete(Flex.Person.self, localID: "p") }
        }
        try folder.open(person, card) { store in
            #expect(try store.rows("SELECT owner, friends FROM Card") == [[.null, "[\"q\",\"r\"]"]])
            // They return to their places.
            try store.write { tx in _ = try tx.insert(Flex.Person("Ада", id: "p")) }
            #expect(try store.rows("SELECT owner, friends FROM Card") == [["p", "[\"p\",\"q\",\"p\",\"r\"]"]])
        }
    }

    @Test(arguments: StoreKind.fileAndEncrypted)
    func `indexes of the state are added to a store without them`(kind: StoreKind) throws {
        let folder = try TestFolder(kind)
        let state = ["__deleted_Card", "__unsent_Card", "__unsynced_Card", "__updated_Card"]
        let card = Flex.Card.version(.text("shop"))
        try folder.open(card) { (store) throws in
            let connection = store.writer.connection
            for index in state { try connection.execute("DROP INDEX \(index.quotedSQL)") }
            // The file as a version of Tandem without these indexes writes it.
            try connection.execute(
                """
                UPDATE "__settings" SET "value" = replace("value", ',"stateIndexes":1', '') WHERE "key" = 'schema'
                """)
            let lacks = try store.rows(
                "SELECT 1 FROM __settings WHERE key = 'schema' AND value LIKE '%stateIndexes%'")
            #expect(lacks == [])
        }
        try folder.open(card) { (store) throws in
            let names = "SELECT name FROM sqlite_master WHERE type = 'index' AND tbl_name = 'Card' AND name IN"
            let list = state.map { "'\($0)'" }.joined(separator: ", ")
            #expect(try store.sql("\(names) (\(list)) ORDER BY name").map { $0[0].string! } == state)
            #expect(try store.checkIntegrity() == [])
        }
    }

    @Test(arguments: StoreKind.fileAndEncrypted)
    func `indexes follow the model`(kind: StoreKind) throws {
        let folder = try TestFolder(kind)
        let state = ["__deleted_Card", "__unsent_Card", "__unsynced_Card", "__updated_Card"]
        func indexes(_ store: Store) throws -> [String] {
            try store.sql(
                "SELECT name FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL AND tbl_name = 'Card'"
            )
            .map { $0[0].string! }.sorted { (state.contains($0) ? 1 : 0, $0) < (state.contains($1) ? 1 : 0, $1) }
        }
        try folder.open(Flex.Card.version(.text("shop"), .text("barcode"))) { store in
            #expect(try indexes(store) == ["__server_Card"] + state)
            _ = try store.write { try $0.insert(Flex.Card("a", "1", id: "1")) }
        }
        try folder.open(
            Flex.Card.version(
                .text("shop", indexed: true), .text("barcode", unique: true),
                indexes: [IndexDefinition(["shop", "barcode"])])
        ) { (store) throws in
            #expect(
                try indexes(store) == [
                    "__index_Card_shop", "__index_Card_shop+barcode", "__server_Card", "__unique_Card_barcode",
                ] + state)
            let error = expectError(.duplicateValue) {
                try store.write { try $0.insert(Flex.Card("b", "1", id: "2")) }
            }
            #expect(error?.property == "barcode")
        }
        try folder.open(
            Flex.Card.version(
                .text("shop"), .text("barcode"), indexes: [IndexDefinition(["shop", "barcode"], unique: true)])
        ) { store in
            #expect(try indexes(store) == ["__server_Card", "__unique_Card_shop+barcode"] + state)
            _ = try store.write { try $0.insert(Flex.Card("b", "1", id: "2")) }
        }
    }

    @Test(arguments: StoreKind.fileAndEncrypted)
    func `a unique index over duplicates is refused and names the property`(kind: StoreKind) throws {
        let folder = try TestFolder(kind)
        let old = Flex.Card.version(.text("shop"), .text("barcode"))
        try folder.open(old) { store in
            try store.write { tx in
                for id in ["1", "2"] { try tx.insert(Flex.Card("a", "same", id: LocalID(id))) }
            }
        }
        let before = try folder.storeBytes()
        var error = expectError(.duplicateValue) {
            try folder.open(Flex.Card.version(.text("shop"), .text("barcode", unique: true)))
        }
        #expect(error?.model == "Card" && error?.property == "barcode")
        error = expectError(.duplicateValue) {
            try folder.open(
                Flex.Card.version(
                    .text("shop"), .text("barcode"), .int("points", default: 1),
                    indexes: [IndexDefinition(["shop", "barcode"], unique: true)]))
        }
        #expect(error?.property == "shop+barcode")
        #expect(try folder.storeBytes() == before)
        // Deleted objects do not count.
        try folder.open(old) { store in _ = try store.write { try $0.delete(Flex.Card.self, localID: "2") } }
        try folder.open(Flex.Card.version(.text("shop"), .text("barcode", unique: true)))
    }

    @Test(arguments: StoreKind.fileAndEncrypted)
    func `an index that is named twice is created once`(kind: StoreKind) throws {
        let folder = try TestFolder(kind)
        let twice = Flex.Card.version(
            .text("shop", folding: .sorted, indexed: true), .text("barcode", unique: true),
            indexes: [IndexDefinition(["barcode"], unique: true), IndexDefinition(["shop"])])
        try folder.open(twice) { store in
            _ = try store.write { try $0.insert(Flex.Card("a", "1", id: "1")) }
            expectError(.duplicateValue) { try store.write { try $0.insert(Flex.Card("a", "1", id: "2")) } }
        }
        try folder.open(twice)
    }

    @Test(arguments: StoreKind.fileAndEncrypted)
    func `models whose tables and indexes would share a name are refused`(kind: StoreKind) throws {
        let folder = try TestFolder(kind)
        // FTS5 keeps the index of Card in a table named __search_Card_data.
        let card = Flex.Card.version(.text("shop", folding: .searched), .text("b_c", indexed: true))
        for other in ["Card_data", "Card_config"] {
            let error = expectError(.invalidSchema) {
                try folder.open(card, Flex.Person.version(.text("name", folding: .searched), table: other))
            }
            #expect(error?.model == "Person")
        }
        expectError(.invalidSchema) {
            try folder.open(card, Flex.Person.version(.text("c", indexed: true), table: "Card_b"))
        }
        try folder.open(card, Flex.Person.version(.text("name"), table: "Card_data"))
    }

    @Test(arguments: StoreKind.fileAndEncrypted)
    func `opening the same schema again writes nothing`(kind: StoreKind) throws {
        let folder = try TestFolder(kind)
        let version = Flex.Card.version(.text("shop", folding: .searched, indexed: true))
        try folder.open(version) { store in _ = try store.write { try $0.insert(Flex.Card("a", id: "1")) } }
        let before = try folder.storeBytes()
        #expect(before.keys.sorted() == ["store.tandem"])
        _ = try Flex.$definitions.withValue(["Card": version]) {
            let store = try kind.open(at: folder.file(), [Flex.Card.self])
            _ = try store.sql("SELECT * FROM Card")
            store.close()
        }
        #expect(try folder.storeBytes() == before)
    }
}
