import Foundation
import TandemTesting
import TestSupport
import Testing

@testable import Tandem

/// Opening stores without Swift types.
@Suite(.ownThreads) struct DynamicOpeningTests {
    @Test(arguments: StoreKind.files)
    func `a store that its app has open is read by names`(kind: StoreKind) throws {
        let fixture = try DynamicFixture(kind)
        defer { fixture.owner.close() }
        try fixture.fill()
        let store = try fixture.inspect()
        defer { store.close() }
        #expect(store.models.map(\.name).sorted() == ["Badge", "Card", "Person"])
        #expect(try store.objects(named: "Card").count() == 4)
        let card = try #require(try store.object(named: "Card", localID: "card3"))
        #expect(card["shop"] == .string("Пятёрочка"))
        #expect(card["points"] == .bigInt(300))
        #expect(card["isPinned"] == .bool(true))
        #expect(card["owner"] == .reference("ada"))
        #expect(card["badges"] == .references(["new", "gold"]))
        #expect(card["nothing"] == nil)
        #expect(card.localID == "card3" && card.serverID == nil && !card.isSynced && !card.isDeleted)
        // A later commit of the app is visible.
        try fixture.owner.write { _ = try $0.insert(Card(shop: "Ашан", barcode: "9")) }
        #expect(try store.objects(named: "Card").count() == 5)
    }

    @Test(arguments: StoreKind.files)
    func `the definitions are those of the app's models`(kind: StoreKind) throws {
        let fixture = try DynamicFixture(kind)
        defer { fixture.owner.close() }
        let store = try fixture.inspect()
        defer { store.close() }
        for definition in fixture.owner.models {
            let model = try store.model(named: definition.name)
            #expect(model.table == definition.table && model.wireName == definition.wireName)
            #expect(model.indexes == definition.indexes && model.isLocalOnly == definition.isLocalOnly)
            #expect(model.properties.map(\.name) == definition.properties.map(\.name))
            for (found, property) in zip(model.properties, definition.properties) {
                #expect(found.kind == property.kind && found.column == property.column)
                #expect(found.isOptional == property.isOptional && found.folding == property.folding)
                #expect(found.isIndexed == property.isIndexed && found.isUnique == property.isUnique)
                #expect(found.isLocalOnly == property.isLocalOnly && found.wireName == property.wireName)
                #expect(found.deleteRule == property.deleteRule)
                #expect(found.targetModel?.name == property.targetModel?.name)
                #expect(found.isListOfReferences == property.isListOfReferences)
            }
        }
        let links = try store.inverseLinks(ofModel: "Person")
        #expect(links.map(\.description) == ["Card.owner"])
    }

    @Test func `an inspected store has the delete rules and wire names of its models`() throws {
        let fixture = try DynamicFixture(models: [HandCard.self, HandPerson.self])
        defer { fixture.owner.close() }
        let store = try fixture.inspect()
        defer { store.close() }
        let model = try store.model(named: "HandCard")
        let owner = try #require(model.properties.first { $0.name == "owner" })
        #expect(owner.deleteRule == .cascade)
        #expect(try store.checkIntegrity() == [])
    }

    @Test func `inspecting changes nothing in the file`() throws {
        let fixture = try DynamicFixture()
        try fixture.fill()
        fixture.owner.close()
        let before = try Data(contentsOf: URL(fileURLWithPath: fixture.folder.file()))
        let store = try fixture.inspect()
        #expect(try store.objects(named: "Card").all().count == 4)
        expectError(.readOnly) { try store.write { try $0.delete("Card", localID: "card1") } }
        store.close()
        #expect(try Data(contentsOf: URL(fileURLWithPath: fixture.folder.file())) == before)
    }

    @Test func `inspecting for writing leaves the schema as it is`() throws {
        let fixture = try DynamicFixture()
        defer { fixture.owner.close() }
        try fixture.fill()
        let (schema, stamp) = (try fixture.owner.recordedSchema, fixture.owner.openedStamp)
        let store = try fixture.inspect(isWritable: true)
        defer { store.close() }
        try store.write { _ = try $0.update("Card", localID: "card1", values: ["points": 21]) }
        #expect(try store.recordedSchema == schema)
        #expect(store.openedStamp == stamp)
        // The app's store still reads and writes.
        try fixture.owner.write { _ = try $0.insert(Card(shop: "Ашан", barcode: "9")) }
    }

    @Test func `a missing, empty or foreign file is refused`() throws {
        let folder = try TestFolder()
        expectError(.cannotOpen) { try Store.inspect(at: folder.file()) }
        #expect(!FileManager.default.fileExists(atPath: folder.file()))
        expectError(.cannotOpen) { try Store.inspect(at: folder.file(), isWritable: true) }
        #expect(!FileManager.default.fileExists(atPath: folder.file()))
        try Data().write(to: URL(fileURLWithPath: folder.file("empty")))
        expectError(.cannotOpen) { try Store.inspect(at: folder.file("empty"), isWritable: true) }
        try Data("not a store, but a text that is long enough".utf8).write(
            to: URL(fileURLWithPath: folder.file("text")))
        expectError(.notAStore) { try Store.inspect(at: folder.file("text")) }
    }

    @Test(arguments: [StoreKind.encrypted, .sqlCipher])
    func `a wrong or missing key is refused`(kind: StoreKind) throws {
        let fixture = try DynamicFixture(kind)
        fixture.owner.close()
        let profile = try #require(kind.profile)
        expectError(.notAStore) { try Store.inspect(at: fixture.folder.file()) }
        expectError(.wrongKey) {
            try Store.inspect(at: fixture.folder.file(), key: Secrets.otherKey, profile: profile)
        }
        let plain = try DynamicFixture()
        plain.owner.close()
        expectError(.notEncrypted) { try Store.inspect(at: plain.folder.file(), key: StoreKind.key) }
    }

    @Test(arguments: [false, true]) func `a newer or older format is refused and named`(isWritable: Bool) throws {
        let fixture = try DynamicFixture()
        defer { fixture.owner.close() }
        try fixture.owner.setSetting("formatVersion", to: 99)
        let newer = failure { try fixture.inspect(isWritable: isWritable) }
        #expect(newer?.code == .newerSchema && newer?.message.contains("99") == true)
        try fixture.owner.setSetting("formatVersion", to: 3)
        let older = failure { try fixture.inspect(isWritable: isWritable) }
        #expect(older?.code == .schemaMismatch && older?.message.contains("format, 3,") == true)
        try fixture.owner.setSetting("formatVersion", to: .integer(SchemaUpdater.formatVersion))
        try fixture.owner.setSetting("sortLanguage", to: "xx-later")
        let language = failure { try fixture.inspect(isWritable: isWritable) }
        #expect(language?.code == .newerSchema && language?.message.contains("xx-later") == true)
    }

    @Test func `the sort order and the schema version are those of the store`() throws {
        let folder = try TestFolder()
        var configuration = Store.Configuration()
        configuration.sortLanguage = .swedish
        configuration.sortsNumbersByValue = true
        configuration.schemaVersion = 7
        let owner = try Store(at: folder.file(), models: DynamicFixture.models, configuration: configuration)
        defer { owner.close() }
        try owner.write { tx in
            for shop in ["Öhman", "Ahlén 10", "Zorn", "Ahlén 2"] { _ = try tx.insert(Card(shop: shop, barcode: shop)) }
        }
        let store = try Store.inspect(at: folder.file(), isWritable: true)
        defer { store.close() }
        let shops = try store.objects(named: "Card").sorted(by: "shop").all().compactMap { $0["shop"]?.description }
        #expect(shops == ["Ahlén 2", "Ahlén 10", "Zorn", "Öhman"])
        #expect(store.configuration.schemaVersion == 7)
        #expect(store.configuration.sortLanguage == .swedish && store.configuration.sortsNumbersByValue)
        // An inspector must not evict the files that the app keeps.
        #expect(store.configuration.attachmentCacheSize == .max)
    }

    @Test func `models that the app no longer names are readable`() throws {
        let fixture = try DynamicFixture()
        try fixture.fill()
        fixture.owner.close()
        let owner = try fixture.kind.open(at: fixture.folder.file(), [Badge.self])
        defer { owner.close() }
        let store = try fixture.inspect()
        defer { store.close() }
        #expect(try store.objects(named: "Card").where("owner.name beginsWith 'ада'").ids == ["card1", "card3"])
    }

    @Test func `a store without recorded delete rules is read, and written after its app has opened it`() throws {
        let fixture = try DynamicFixture()
        try fixture.fill()
        var record = try fixture.owner.recordedSchema
        #expect(record.hasDeleteRules)
        for model in record.models.indices {
            for property in record.models[model].properties.indices {
                record.models[model].properties[property].deleteRule = nil
            }
        }
        try fixture.owner.setSetting("schema", to: .text(try record.json))
        fixture.owner.close()
        let reader = try fixture.inspect()
        #expect(try reader.objects(named: "Card").count() == 4)
        reader.close()
        let refusal = failure { try fixture.inspect(isWritable: true) }
        #expect(refusal?.code == .schemaMismatch && refusal?.message.contains("delete rules") == true)

        var readOnly = Store.Configuration()
        readOnly.isReadOnly = true
        try fixture.kind.open(at: fixture.folder.file(), DynamicFixture.models, configuration: readOnly).close()
        let owner = try fixture.kind.open(at: fixture.folder.file(), DynamicFixture.models)
        #expect(try owner.recordedSchema.hasDeleteRules)
        #expect(try owner.checkIntegrity() == [])
        owner.close()
        let writer = try fixture.inspect(isWritable: true)
        defer { writer.close() }
        #expect(try writer.write { try $0.delete("Card", localID: "card1") })
    }

    @Test func `a salvaged store is read with plain texts, and written after its app has opened it`() throws {
        let fixture = try DynamicFixture(.encrypted)
        try fixture.fill()
        fixture.owner.close()
        let rescued = fixture.folder.file("rescued")
        _ = try Store.salvage(at: fixture.folder.file(), key: StoreKind.key, to: rescued)
        let reader = try Store.inspect(at: rescued, key: StoreKind.key)
        let cards = try reader.objects(named: "Card")
        #expect(try cards.sorted(by: "barcode").ids == ["card1", "card2", "card3", "card4"])
        #expect(try cards.where("shop beginsWith 'Лен'").ids == ["card1"])
        expectError(.invalidQuery) { try cards.where("shop matches 'лен'") }
        reader.close()
        expectError(.schemaMismatch) { try Store.inspect(at: rescued, key: StoreKind.key, isWritable: true) }
        try Store(at: rescued, key: StoreKind.key, models: DynamicFixture.models).close()
        let writer = try Store.inspect(at: rescued, key: StoreKind.key, isWritable: true)
        defer { writer.close() }
        #expect(try writer.objects(named: "Card").where("shop matches 'лен'").ids == ["card1", "card2"])
    }

    @Test func `a collection's type in a damaged record is not nested without limit`() throws {
        func lists(_ count: Int) -> String {
            String(repeating: "[", count: count) + "Int64" + String(repeating: "]", count: count)
        }
        #expect(RecordedType.named(lists(3)).map { "\($0)" } == "Array<Array<Array<Int64>>>")
        #expect(RecordedType.named(lists(100_000)) == nil)
    }

    @Test func `an unknown model is refused with the names of all models`() throws {
        let fixture = try DynamicFixture()
        defer { fixture.owner.close() }
        let store = try fixture.inspect()
        defer { store.close() }
        let error = failure { try store.objects(named: "Cart") }
        #expect(error?.code == .unknownModel && error?.advice == "Its models are: Badge, Card, Person.")
        expectError(.unknownModel) { try store.objects(Card.self).count() }
    }

    @Test func `opening outside the thread can be cancelled`() async throws {
        let fixture = try DynamicFixture()
        defer { fixture.owner.close() }
        let path = fixture.folder.file()
        let store = try await Store.inspect(at: path)
        #expect(store.models.count == 3)
        store.close()
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await Store.inspect(at: path)
        }
        await #expect(throws: CancellationError.self) { try await task.value.close() }
    }
}
