import BigInt
import Foundation
import TandemTesting
import TestSupport
import Testing

@testable import Tandem

/// Values by name, of every kind of property.
@Suite(.ownThreads) struct DynamicValueTests {
    @Test(arguments: StoreKind.files)
    func `a value of every kind is copied by name without loss`(kind: StoreKind) throws {
        let fixture = try DynamicFixture(kind, models: [EveryType.self])
        defer { fixture.owner.close() }
        var dice = Dice.seeded("values by name")
        var originals: [EveryType] = []
        try fixture.owner.write { tx in
            for _ in 0..<40 {
                var object = EveryType.random(&dice)
                // A conversion from `Float` to `Double` changes the bits of a NaN.
                object.float = object.float.isNaN ? 1.5 : object.float
                object.maybeFloat = object.maybeFloat.flatMap { $0.isNaN ? nil : $0 }
                object.one = originals.last.map { Reference(localID: $0.localID) }
                object.many = originals.prefix(3).map { Reference(localID: $0.localID) }
                originals.append(try tx.insert(object))
            }
        }
        let store = try fixture.inspect(isWritable: true)
        defer { store.close() }
        for original in originals {
            let found = try #require(try store.object(named: "EveryType", localID: original.localID))
            #expect(found.state == original.__state)
            var values: [String: DynamicValue] = [:]
            for (property, value) in found.values {
                if case .unreadable(let stored) = value { Issue.record("\(property.name): \(stored)") }
                values[property.name] = value
            }
            let copy = try store.write { try $0.insert("EveryType", values: values) }
            var read = try #require(
                try fixture.owner.object(ofType: EveryType.self, forPrimaryKey: copy.localID))
            read.__state = original.__state
            #expect(exact(read) == exact(original), "TANDEM_SEED=\(dice.seed)")
            #expect(copy.storedValues == found.storedValues, "TANDEM_SEED=\(dice.seed)")
        }
        #expect(try fixture.owner.checkIntegrity() == [])
    }

    @Test(arguments: StoreKind.files)
    func `the JSON of an object is imported without loss`(kind: StoreKind) throws {
        let fixture = try DynamicFixture(kind, models: [EveryType.self])
        defer { fixture.owner.close() }
        var dice = Dice.seeded("JSON by name")
        let originals = try fixture.owner.write { tx in
            try (0..<40).map { _ in try tx.insert(EveryType.random(&dice)) }
        }
        let store = try fixture.inspect()
        defer { store.close() }
        let lines = try store.objects(named: "EveryType").all().map(\.json)
        let other = try DynamicFixture(kind, models: [EveryType.self])
        defer { other.owner.close() }
        let writer = try other.inspect(isWritable: true)
        defer { writer.close() }
        let ids = try writer.write {
            try $0.upsert("EveryType", json: Data("[\(lines.joined(separator: ","))]".utf8))
        }
        #expect(ids.sorted() == originals.map(\.localID).sorted())
        for original in originals {
            var copy = try #require(
                try other.owner.object(ofType: EveryType.self, forPrimaryKey: original.localID))
            copy.__state = original.__state
            #expect(exact(copy) == exact(original), "TANDEM_SEED=\(dice.seed)")
        }
        #expect(try other.owner.checkIntegrity() == [])
    }

    @Test func `the JSON of an object has its IDs and all values`() throws {
        let fixture = try DynamicFixture()
        defer { fixture.owner.close() }
        try fixture.fill()
        let card = try #require(try fixture.owner.object(named: "Card", localID: "card3"))
        let object = try #require(
            try JSONSerialization.jsonObject(with: Data(card.json.utf8)) as? [String: Any])
        #expect(object["localID"] as? String == "card3" && object["serverID"] is NSNull)
        #expect(object["shop"] as? String == "Пятёрочка" && object["points"] as? String == "300")
        #expect(object["isPinned"] as? Bool == true && object["badges"] as? [String] == ["new", "gold"])
        #expect(object.count == 5 + card.model.properties.count)
    }

    @Test func `values have the case of their property's kind`() throws {
        let fixture = try DynamicFixture(models: [EveryType.self])
        defer { fixture.owner.close() }
        var object = EveryType()
        object.date = Date(timeIntervalSinceReferenceDate: 0.5)
        object.uint64 = .max
        object.decimal = 12.5
        object.place = Place(name: "Омск", latitude: 1)
        object.texts = ["a"]
        object.float = 0.25
        let inserted = try fixture.owner.write { try $0.insert(object) }
        let store = try fixture.inspect()
        defer { store.close() }
        let found = try #require(try store.object(named: "EveryType", localID: inserted.localID))
        #expect(found["date"] == .date(object.date))
        #expect(found["uint64"] == .bigInt(BigInt(UInt64.max)))
        #expect(found["decimal"] == .decimal(12.5))
        #expect(found["float"] == .double(0.25))
        #expect(found["level"] == .integer(-1) && found["color"] == .string("red"))
        #expect(found["texts"] == .json("[\"a\"]"))
        #expect(found["place"] == .json("{\"latitude\":1,\"name\":\"Омск\"}"))
        #expect(found["uuid"] == .uuid(object.uuid) && found["url"] == .url(object.url))
        #expect(found["maybeInt"] == .null && found["one"] == .null && found["many"] == .references([]))
        #expect(found.values.map(\.property.name) == found.model.properties.map(\.name))
    }

    @Test func `JSON that could not be read again is refused`() throws {
        let fixture = try DynamicFixture(models: [EveryType.self])
        defer { fixture.owner.close() }
        let inserted = try fixture.owner.write { try $0.insert(EveryType()) }
        let store = try fixture.inspect(isWritable: true)
        defer { store.close() }
        func place(digits: Int) -> DynamicValue {
            .json("{\"latitude\":\(String(repeating: "1", count: digits)),\"name\":\"Омск\"}")
        }
        let readable = place(digits: 10_000)
        let written = try store.write {
            try $0.update("EveryType", localID: inserted.localID, values: ["place": readable])
        }
        #expect(written["place"] == readable)
        expectError(.invalidValue) {
            try store.write {
                try $0.update("EveryType", localID: inserted.localID, values: ["place": place(digits: 10_001)])
            }
        }
    }

    @Test func `a value of another kind in the file is shown as unreadable`() throws {
        let fixture = try DynamicFixture()
        defer { fixture.owner.close() }
        try fixture.fill()
        try fixture.owner.writer.queue.unsafeReentrantWrite { _ in
            try fixture.owner.writer.connection.execute("UPDATE Card SET points = 'many' WHERE localID = 'card1'")
        }
        let store = try fixture.inspect()
        defer { store.close() }
        let card = try #require(try store.object(named: "Card", localID: "card1"))
        #expect(card["points"] == .unreadable("many"))
        #expect(card["shop"] == .string("Лента"))
        #expect(try store.objects(named: "Card").all().count == 4)
    }

    @Test(arguments: StoreKind.files)
    func `attachments are listed and read`(kind: StoreKind) throws {
        let fixture = try DynamicFixture(kind, models: [Album.self])
        defer { fixture.owner.close() }
        let cover = try fixture.owner.attach("обложка", name: "a.jpg")
        let page = try fixture.owner.attach("страница", name: "b.txt")
        let album = try fixture.owner.write { try $0.insert(Album(title: "Лето", cover: cover, pages: [page])) }
        let store = try fixture.inspect()
        defer { store.close() }
        let found = try #require(try store.object(named: "Album", localID: album.localID))
        #expect(found.attachments.map(\.property.name) == ["cover", "pages"])
        #expect(found["cover"] == .attachment(cover) && found["pages"] == .attachments([page]))
        #expect(try store.attachments.data(of: found.attachments[0].attachment) == Data("обложка".utf8))
    }

    @Test func `an attached file is written by name, and its file is kept`() throws {
        let fixture = try DynamicFixture(models: [Album.self])
        defer { fixture.owner.close() }
        let store = try fixture.inspect(isWritable: true)
        defer { store.close() }
        let cover = try store.attach("обложка", name: "a.jpg")
        let page = try store.attach("страница", name: "b.txt")
        let album = try store.write {
            try $0.insert(
                "Album", values: ["title": "Лето", "cover": .attachment(cover), "pages": .attachments([page])])
        }
        let typed = try #require(try fixture.owner.object(ofType: Album.self, forPrimaryKey: album.localID))
        #expect(typed.cover == cover && typed.pages == [page])
        #expect(try fixture.owner.attachments.data(of: page) == Data("страница".utf8))
        #expect(try fixture.owner.checkIntegrity() == [])
    }
}
