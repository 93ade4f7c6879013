import Foundation
import Tandem
import TandemTesting
import TestSupport
import Testing

/// The code of the guide for users of Realm, compiled and run on the guide's own export. The lines between the markers
/// are the guide's, which the last test makes sure of.
@Suite(.ownThreads) struct RealmArticleTests {
    // ComingFromRealm begins
    struct Address: Codable, Hashable, Sendable {
        var city: String
        var street: String
    }

    @Model struct Person {
        @Folded var name: String
        var address: Address?
    }

    @Model struct Tag {
        var name: String
    }

    @Model struct Card {
        @Folded var shop: String
        var points = 0
        var owner: Reference<Person>?
        var tags: [Reference<Tag>] = []
        var photo: Attachment?
    }
    // ComingFromRealm ends

    // ComingFromRealm begins
    struct RealmExport: Decodable {
        struct PersonRow: Decodable {
            let id: String
            let name: String
            let address: Address?
        }

        struct TagRow: Decodable {
            let id: Int
            let name: String
        }

        struct CardRow: Decodable {
            let id: String
            let shop: String
            let points: Int
            let owner: String?
            let tags: [Int]
            let photo: Data?
        }

        let people: [PersonRow]
        let tags: [TagRow]
        let cards: [CardRow]
    }
    // ComingFromRealm ends

    // ComingFromRealm begins
    func move(_ export: RealmExport, into store: Store) throws {
        let photos = try export.cards.map { row in
            try row.photo.map { try store.attachments.add($0, name: "photo.jpg") }
        }
        try store.write { tx in
            for row in export.people {
                try tx.upsert(Person(name: row.name, address: row.address).identified(by: LocalID(row.id)))
            }
            for row in export.tags {
                try tx.upsert(Tag(name: row.name).identified(by: LocalID("\(row.id)")))
            }
            for (row, photo) in zip(export.cards, photos) {
                let card = Card(
                    shop: row.shop, points: row.points,
                    owner: row.owner.map { Reference(localID: LocalID($0)) },
                    tags: row.tags.map { Reference(localID: LocalID("\($0)")) },
                    photo: photo)
                try tx.upsert(card.identified(by: LocalID(row.id)))
            }
        }
    }
    // ComingFromRealm ends

    private static let article = "Sources/Tandem/Tandem.docc/ComingFromRealm.md"
    private let folder: TemporaryFolder
    private let path: String
    private let export: URL

    init() throws {
        folder = try TemporaryFolder()
        path = folder.path(of: "cards.tandem")
        export = URL(fileURLWithPath: folder.path(of: "export.json"))
        let text = try String(contentsOf: Snippets.root.appendingPathComponent(Self.article), encoding: .utf8)
        let json = try #require(text.components(separatedBy: "```json\n").dropFirst().first)
        try Data(json.components(separatedBy: "```")[0].utf8).write(to: export)
    }

    /// Moves the guide's export into a store, and returns the store and the cards of the guide's query.
    private func moved() throws -> (Store, [Card]) {
        // ComingFromRealm begins
        let store = try Store(at: path, models: Person.self, Tag.self, Card.self)
        try move(JSONDecoder().decode(RealmExport.self, from: Data(contentsOf: export)), into: store)
        let cards = try store.objects(Card.self).where { $0.owner.name == "Мария Звонарёва" }.all()
        // ComingFromRealm ends
        return (store, cards)
    }

    @Test func `an export of Realm is moved with its references and files`() throws {
        defer { folder.remove() }
        let (store, cards) = try moved()
        defer { store.close() }
        #expect(cards.map(\.shop) == ["Пятёрочка"])
        let card = try #require(cards.first)
        #expect(card.localID == "64b7f0c2" && card.points == 120)
        #expect(try store.object(card.owner)?.address == Address(city: "Королёв", street: "улица Циолковского"))
        #expect(try card.tags.map { try store.object($0)?.name } == ["у дома", "продукты"])
        let photo = try #require(card.photo)
        #expect(try store.attachments.data(of: photo) == Data([0xFF, 0xD8, 0xFF, 0xE0, 0x00, 0x10]))
        let other = try #require(try store.objects(Card.self).where { $0.shop.matches("лент") }.first())
        #expect(other.owner == nil && other.tags.isEmpty && other.photo == nil)
    }

    @Test func `a second move of the same export adds no objects`() throws {
        defer { folder.remove() }
        try moved().0.close()
        let (store, _) = try moved()
        defer { store.close() }
        #expect(try store.objects(Card.self).count() == 2)
        #expect(try store.objects(Person.self).count() == 1)
        #expect(try store.objects(Tag.self).count() == 2)
        #expect(try store.operations.count() == 5)
    }

    @Test func `a move that is rolled back keeps neither objects nor files`() throws {
        defer { folder.remove() }
        struct Stop: Error {}
        let store = try Store(at: path, models: Person.self, Tag.self, Card.self)
        defer { store.close() }
        let rows = try JSONDecoder().decode(RealmExport.self, from: Data(contentsOf: export))
        #expect(throws: Stop.self) {
            try store.write { _ in
                try move(rows, into: store)
                #expect(try store.blobs().count == 1)
                throw Stop()
            }
        }
        #expect(try store.objects(Person.self).count() == 0)
        #expect(try store.objects(Card.self).count() == 0)
        #expect(try store.blobs() == [])
    }

    @Test func `the guide shows the tested code`() throws {
        #expect(try Snippets.blocks(of: Self.article) == Snippets.marked("ComingFromRealm", in: #filePath))
    }
}
