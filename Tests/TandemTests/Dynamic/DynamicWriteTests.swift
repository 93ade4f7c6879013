import BigInt
import Foundation
import TandemTesting
import TestSupport
import Testing

@testable import Tandem

/// Writes by names take the path of typed writes.
@Suite(.ownThreads) struct DynamicWriteTests {
    private static let card: [String: DynamicValue] = [
        "shop": "Лента", "barcode": "1", "points": 5, "isPinned": false, "owner": .null, "badges": .references([]),
    ]

    @Test(arguments: StoreKind.files)
    func `inserts, updates and deletes queue the operations of typed writes`(kind: StoreKind) throws {
        let fixture = try DynamicFixture(kind)
        defer { fixture.owner.close() }
        try fixture.fill()
        try fixture.owner.applyServerObject(Card(shop: "Сервер", barcode: "8").identified(by: "s1"))
        try fixture.owner.applyServerObject(Card(shop: "Сервер", barcode: "9").identified(by: "s2"))
        let store = try fixture.inspect(isWritable: true)
        defer { store.close() }
        let inserted = try store.write { try $0.insert("Card", values: Self.card, localID: "new") }
        #expect(inserted.localID == "new" && inserted["points"] == .bigInt(5) && !inserted.isSynced)
        let updated = try store.write {
            try $0.update("Card", localID: "s1", values: ["shop": "Ашан", "owner": .reference("ada")])
        }
        #expect(updated["shop"] == .string("Ашан") && updated["barcode"] == .string("8") && !updated.isSynced)
        let isDeleted = try store.write { try $0.delete("Card", localID: "s2") }
        #expect(isDeleted)
        let operations = try store.operations(ofModel: "Card").filter { ["new", "s1", "s2"].contains($0.localID) }
        #expect(operations.map(\.kind) == [.insert, .update, .delete])
        #expect(operations[1].base == ["shop": "Сервер", "owner": .null])
        let typed = try fixture.owner.operations.all().filter { $0.model == "Card" }
        #expect(operations == typed.filter { ["new", "s1", "s2"].contains($0.localID) })
        #expect(try fixture.owner.objects(Card.self).where { $0.shop.matches("ашан") }.localIDs() == ["s1"])
        #expect(try fixture.owner.objects(Card.self).where { $0.owner.name.hasPrefix("Ада") }.count() == 3)
        let restored = try store.write { try $0.undelete("Card", localID: "s2") }
        #expect(!restored.isDeleted)
        #expect(try fixture.owner.checkIntegrity() == [])
    }

    @Test func `a typed live query is notified of writes by name`() throws {
        let fixture = try DynamicFixture()
        defer { fixture.owner.close() }
        let recorder = fixture.owner.objects(Card.self).collectionPublisher.record()
        defer { recorder.cancel() }
        #expect(recorder.waitForValues(1))
        let store = try fixture.inspect(isWritable: true)
        defer { store.close() }
        try store.write { _ = try $0.insert("Card", values: Self.card) }
        #expect(recorder.waitForValue { $0.first?.shop == "Лента" })
        // Within one store, too.
        try fixture.owner.write { tx in
            let id = try #require(try tx.objects(named: "Card").localIDs().first)
            try tx.update("Card", localID: id, values: ["points": .bigInt(BigInt(10).power(30))])
        }
        #expect(recorder.waitForValue { $0.first?.points == BigInt(10).power(30) })
    }

    @Test(
        arguments: [
            ("points", "many", "many is a text, and not a BigInt."),
            ("points", 1.5, "1.5 is a number, and not a BigInt."),
            ("points", .null, "The property can't be nil."),
            ("shop", 5, "5 is an integer, and not a String."),
            ("shop", .bigInt(5), "5 is an integer, and not a String."),
            ("isPinned", "true", "true is a text, and not a Bool."),
            ("isPinned", 2, "2 is an integer, and not a Bool."),
            ("owner", 5, "5 is an integer, and not a Reference<Person>."),
            ("badges", "gold", "gold is a text, and not a [Reference<Badge>]."),
            ("badges", .reference("gold"), "gold is a reference, and not a [Reference<Badge>]."),
            ("shop", .unreadable(5), "is an unreadable value"),
        ] as [(String, DynamicValue, String)])
    func `a value of another kind is refused with its property`(
        property: String, value: DynamicValue, message: String
    ) throws {
        let fixture = try DynamicFixture()
        defer { fixture.owner.close() }
        try fixture.fill()
        let store = try fixture.inspect(isWritable: true)
        defer { store.close() }
        let values = Self.card.merging([property: value]) { $1 }
        for error in [
            failure { try store.write { _ = try $0.insert("Card", values: values) } },
            failure { try store.write { _ = try $0.update("Card", localID: "card1", values: [property: value]) } },
        ] {
            #expect(error?.code == .invalidValue && error?.model == "Card" && error?.property == property)
            #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
        }
        #expect(try store.objects(named: "Card").count() == 4)
    }

    @Test func `an unknown name and a missing value are refused`() throws {
        let fixture = try DynamicFixture()
        defer { fixture.owner.close() }
        let store = try fixture.inspect(isWritable: true)
        defer { store.close() }
        let unknown = failure { try store.write { _ = try $0.insert("Card", values: ["shpo": "x"]) } }
        #expect(unknown?.code == .invalidValue)
        #expect(unknown?.advice == "Its properties are: shop, barcode, points, isPinned, owner, badges.")
        let missing = failure { try store.write { _ = try $0.insert("Card", values: ["shop": "x", "barcode": "1"]) } }
        #expect(missing?.code == .invalidValue && missing?.property == "points")
        // The app's store knows the defaults.
        let card = try fixture.owner.write { try $0.insert("Card", values: ["shop": "x", "barcode": "1"]) }
        #expect(card["points"] == .bigInt(0) && card["badges"] == .references([]))
        expectError(.notFound) { try store.write { _ = try $0.update("Card", localID: "none", values: [:]) } }
        expectError(.unknownModel) { try store.write { _ = try $0.delete("Cart", localID: "none") } }
        let isDeleted = try store.write { try $0.delete("Card", localID: "none") }
        #expect(!isDeleted)
        expectError(.duplicateID) {
            try store.write { _ = try $0.insert("Card", values: Self.card, localID: card.localID) }
        }
    }

    @Test func `unique values and delete rules apply`() throws {
        let fixture = try DynamicFixture(models: [HandCard.self, HandPerson.self, Badge.self])
        defer { fixture.owner.close() }
        let person = try fixture.owner.write { tx in
            let person = try tx.insert(HandPerson(name: "Ада"))
            try tx.insert(HandCard(shop: "Лента", barcode: "1", owner: person.reference))
            try tx.insert(Badge(name: "gold"))
            return person
        }
        let store = try fixture.inspect(isWritable: true)
        defer { store.close() }
        expectError(.duplicateValue) { try store.write { _ = try $0.insert("Badge", values: ["name": "gold"]) } }
        expectError(.duplicateValue) {
            try store.write { tx in
                _ = try tx.insert(
                    "HandCard", values: ["shop": "Лента", "barcode": "1", "points": 0, "isPinned": false])
            }
        }
        // The rule of the reference is `cascade`.
        try store.write { _ = try $0.delete("HandPerson", localID: person.localID) }
        #expect(try fixture.owner.objects(HandCard.self).count() == 0)
        #expect(try fixture.owner.checkIntegrity() == [])
    }

    @Test func `a reference to a missing object waits for it`() throws {
        let fixture = try DynamicFixture()
        defer { fixture.owner.close() }
        let store = try fixture.inspect(isWritable: true)
        defer { store.close() }
        let card = try store.write {
            try $0.insert("Card", values: Self.card.merging(["owner": .reference("later")]) { $1 })
        }
        #expect(card["owner"] == .null)
        try fixture.owner.write { _ = try $0.insert(Person(name: "Ада").identified(by: "later")) }
        #expect(try store.object(named: "Card", localID: card.localID)?["owner"] == .reference("later"))
    }

    @Test func `objects are imported from JSON by the model's name`() throws {
        let fixture = try DynamicFixture()
        defer { fixture.owner.close() }
        try fixture.fill()
        let store = try fixture.inspect(isWritable: true)
        defer { store.close() }
        let json = Data(
            """
            [{"localID": "card1", "points": 21},
             {"localID": "n", "shop": "Ашан", "barcode": "7", "points": 123456789012345678901234567890,
              "isPinned": true, "badges": ["gold"]}]
            """.utf8)
        let ids = try store.write { try $0.upsert("Card", json: json) }
        #expect(ids == ["card1", "n"])
        let card = try #require(try fixture.owner.object(ofType: Card.self, forPrimaryKey: "n"))
        #expect(card.points == BigInt("123456789012345678901234567890") && card.badges.map(\.localID) == ["gold"])
        #expect(try store.object(named: "Card", localID: "card1")?["shop"] == .string("Лента"))
        expectError(.invalidValue) { try store.write { _ = try $0.upsert("Card", json: Data("{\"x\":1}".utf8)) } }
    }

    @Test func `objects of all models are written by name in a migration`() throws {
        let fixture = try DynamicFixture()
        try fixture.fill()
        fixture.owner.close()
        var configuration = Store.Configuration()
        configuration.schemaVersion = 1
        configuration.migrate(to: 1) { migration in
            migration.enumerateObjects(of: Person.self, queued: false) { old, _, tx in
                let id = LocalID(try old.value("localID", as: String.self))
                let cards = try tx.objects(named: "Card").where(.compare("owner", by: .equal, to: .reference(id)))
                for card in try cards.all() { try tx.update("Card", localID: card.localID, values: ["points": 1]) }
            }
        }
        let store = try fixture.kind.open(
            at: fixture.folder.file(), DynamicFixture.models, configuration: configuration)
        defer { store.close() }
        #expect(try store.objects(Card.self).where { $0.points == 1 }.localIDs() == ["card1", "card2", "card3"])
        #expect(try store.checkIntegrity() == [])
    }
}
