import Foundation
import TandemTesting
import TestSupport
import Testing

@testable import Tandem

/// Queries by names in a store without Swift types.
@Suite(.ownThreads) struct DynamicQueryTests {
    @Test(arguments: StoreKind.files)
    func `conditions in text form find the objects`(kind: StoreKind) throws {
        let fixture = try DynamicFixture(kind)
        defer { fixture.owner.close() }
        try fixture.fill()
        let store = try fixture.inspect()
        defer { store.close() }
        let cards = try store.objects(named: "Card")
        func expect(_ text: String, _ ids: [String], sourceLocation: SourceLocation = #_sourceLocation) throws {
            let found = try cards.where(text)
            #expect(try found.ids == ids, "\(text)", sourceLocation: sourceLocation)
            #expect(try found.count() == ids.count, "\(text)", sourceLocation: sourceLocation)
            #expect(try found.all().map(\.localID.rawValue) == ids, "\(text)", sourceLocation: sourceLocation)
        }
        try expect("shop beginsWith 'лен' and points > 10", ["card1"])
        try expect("shop beginsWith 'лен'", ["card1", "card2"])
        try expect("shop beginsWith[s] 'Лен'", ["card1"])
        try expect("shop beginsWith[c] 'ЛЕН'", ["card1", "card2"])
        try expect("shop ==[c] 'лента'", ["card1"])
        try expect("shop !=[c] 'лента'", ["card2", "card3", "card4"])
        try expect("shop == 'лента'", [])
        try expect("shop matches 'пятероч'", ["card3"])
        try expect("shop contains 'ТОЧ'", ["card2"])
        try expect("shop contains[s] 'точ'", [])
        try expect("shop endsWith 'нит'", ["card4"])
        try expect("barcode like '?'", ["card1", "card2", "card3", "card4"])
        try expect("barcode in ('1', '4')", ["card1", "card4"])
        try expect("isPinned", ["card3"])
        try expect("not isPinned and owner is not nil", ["card1", "card2"])
        try expect("owner is nil", ["card4"])
        try expect("owner == 'boris'", ["card2"])
        try expect("owner.name beginsWith 'ада'", ["card1", "card3"])
        try expect("owner.name matches 'лавл'", ["card1", "card3"])
        try expect("owner.name != 'Борис'", ["card1", "card3", "card4"])
        try expect("badges contains 'gold'", ["card1", "card3"])
        try expect("any badges (name == 'new')", ["card3"])
        try expect("none badges (name == 'new')", ["card1", "card2", "card4"])
        try expect("badges.@count == 2", ["card3"])
        try expect("owner.@links.Card.owner.@count == 2", ["card1", "card3"])
        try expect("points in (5, 300)", ["card2", "card3"])
        try expect("localID > 'card2'", ["card3", "card4"])
        try expect("serverID is nil and not isSynced", ["card1", "card2", "card3", "card4"])
        try expect("true", ["card1", "card2", "card3", "card4"])
        let people = try store.objects(named: "Person")
        #expect(try people.where("any @links.Card.owner (points > 100)").ids == ["ada"])
        #expect(try people.where("@links.Card.owner contains 'card2'").ids == ["boris"])
    }

    @Test func `orders, limits and offsets apply as in typed queries`() throws {
        let fixture = try DynamicFixture()
        defer { fixture.owner.close() }
        try fixture.fill()
        let store = try fixture.inspect()
        defer { store.close() }
        let cards = try store.objects(named: "Card")
        #expect(try cards.sorted(by: "shop").ids == ["card1", "card2", "card4", "card3"])
        #expect(try cards.sorted(by: "points", ascending: false).ids == ["card3", "card1", "card2", "card4"])
        #expect(try cards.sorted(by: ["owner.name", "barcode"]).ids == ["card4", "card1", "card3", "card2"])
        #expect(
            try cards.sorted(by: DynamicSort.keys("owner.name nils last, points desc")).ids
                == ["card3", "card1", "card2", "card4"])
        #expect(try cards.sorted(by: "owner").ids == ["card4", "card1", "card3", "card2"])
        #expect(try cards.sorted(by: "isPinned", ascending: false).first()?.localID == "card3")
        let page = try cards.sorted(by: "shop").offset(1).limit(2)
        #expect(try page.ids == ["card2", "card4"])
        #expect(try page.count() == 2)
        #expect(try page.where("points > 0").ids == ["card2"])
        #expect(try cards.sorted(by: "shop").first()?.localID == "card1")
    }

    @Test func `pages follow each other in every order`() throws {
        let fixture = try DynamicFixture()
        defer { fixture.owner.close() }
        var random = SeededGenerator.seeded()
        try fixture.owner.write { tx in
            for index in 0..<200 {
                let shop = random.pick(["Лента", "лента", "Ашан", "Ёлка", ""])
                _ = try tx.insert(Card(shop: shop, barcode: "\(index % 7)", points: .init(index % 5)))
            }
        }
        let store = try fixture.inspect()
        defer { store.close() }
        for order in ["shop", "shop desc, points", "points desc, barcode", "updatedAt, shop", "isPinned, localID desc"]
        {
            let cards = try store.objects(named: "Card").where("points > 0").sorted(by: DynamicSort.keys(order))
            var (found, last): ([DynamicObject], DynamicObject?) = ([], nil)
            repeat {
                let page = try cards.page(after: last, limit: 17)
                found += page
                last = page.last
            } while last != nil
            #expect(try found == cards.all(), "\(order), seed \(random.seed)")
        }
        let owners = try store.objects(named: "Card").sorted(by: "owner.name")
        let first = try #require(try owners.first())
        expectError(.invalidQuery) { try owners.after(first) }
        let byPoints = try store.objects(named: "Card").sorted(by: "points")
        let state = ObjectState(localID: "other")
        let other = DynamicObject(model: try store.model(named: "Badge"), state: state, storedValues: ["gold"])
        expectError(.invalidQuery) { try byPoints.after(other) }
    }

    @Test func `deleted objects are found on request`() throws {
        let fixture = try DynamicFixture()
        defer { fixture.owner.close() }
        try fixture.fill()
        try fixture.owner.applyServerObject(Card(shop: "С сервера", barcode: "9").identified(by: "s"))
        try fixture.owner.write { _ = try $0.delete(Card.self, localID: "s") }
        let store = try fixture.inspect()
        defer { store.close() }
        let cards = try store.objects(named: "Card")
        #expect(try cards.count() == 4)
        #expect(try cards.includingDeleted().count() == 5)
        #expect(try cards.onlyDeleted().ids == ["s"])
        #expect(try store.object(named: "Card", localID: "s") == nil)
        let deleted = try store.object(named: "Card", localID: "s", includingDeleted: true)
        #expect(deleted?.isDeleted == true && deleted?.serverID == "s")
    }

    @Test func `references are followed in both directions`() throws {
        let fixture = try DynamicFixture()
        defer { fixture.owner.close() }
        try fixture.fill()
        let store = try fixture.inspect()
        defer { store.close() }
        let card = try #require(try store.object(named: "Card", localID: "card3"))
        let owner = try #require(try store.target(of: "owner", in: card))
        #expect(owner.model.name == "Person" && owner["name"] == .string("Ада Лавлейс"))
        #expect(try store.targets(of: "badges", in: card).map(\.localID) == ["new", "gold"])
        let link = try #require(try store.inverseLinks(ofModel: "Person").first)
        #expect(try store.objects(linkedBy: link, to: owner).sorted(by: "barcode").ids == ["card1", "card3"])
        let badges = try #require(try store.inverseLinks(ofModel: "Badge").first)
        let gold = try #require(try store.object(named: "Badge", localID: "gold"))
        #expect(badges.path.description == "@links.Card.badges")
        #expect(try store.objects(linkedBy: badges, to: gold).ids == ["card1", "card3"])
        let unowned = try #require(try store.object(named: "Card", localID: "card4"))
        #expect(try store.target(of: "owner", in: unowned) == nil)
        let error = failure { try store.target(of: "badges", in: card) }
        #expect(error?.code == .invalidQuery && error?.advice == "They are: owner.")
    }

    @Test(arguments: [
        ("shpo == 'x'", "Card has no property \"shpo\".", "Its properties are: shop, barcode, points, isPinned,"),
        ("owner.nam == 'x'", "Person has no property \"nam\" in owner.nam.", "Its properties are: name, localID,"),
        ("shop.x == 1", "shop.x leads through shop, which is a String", ""),
        ("badges.name == 'x'", "leads through badges, which is a list", "any badges"),
        ("badges == 'x'", "badges names several objects", "any, all or none"),
        ("points == 'x'", "points is a BigInt, and x is a text.", ""),
        ("points == 1.5", "points is a BigInt, and 1.5 is a number.", ""),
        ("shop > 5", "shop is a String, and 5 is an integer.", ""),
        ("isPinned > true", "can't be compared by >", "Use == or !=."),
        ("points < nil", "is compared with nil by <", "Only == and !="),
        ("points", "points is a BigInt, and not a Bool.", ""),
        ("barcode matches '4'", "can't be searched", "Compare it exactly."),
        ("barcode beginsWith[c] '4'", "without regard to case", "Compare it exactly."),
        ("shop endsWith[c] '4'", "endsWith can't ignore case", ""),
        ("points beginsWith '4'", "points is a BigInt, and not a text.", ""),
        ("shop == points", "shop is a String, and points is a BigInt.", "same kind"),
        ("any owner (name == 'x')", "owner is not a list of references.", ""),
        ("any badges (nam == 'x')", "Badge has no property \"nam\".", "Its properties are: name,"),
        ("@links.Star.card.@count > 1", "does not name inverse links of Card", "No property refers"),
        ("owner.@links.Card.x.@count > 1", "inverse links of Person", "They are: @links.Card.owner."),
        ("shop.@count > 1", "shop is a String, and not a list.", ""),
        ("owner contains 'x'", "owner is a Reference<Person>, and not a text.", ""),
    ])
    func `a condition that does not fit the model is an error with the remedy`(
        text: String, message: String, advice: String
    ) throws {
        let fixture = try DynamicFixture()
        defer { fixture.owner.close() }
        let store = try fixture.inspect()
        defer { store.close() }
        let error = failure { try store.objects(named: "Card").where(text) }
        #expect(error?.code == .invalidQuery)
        #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
        #expect(advice.isEmpty || error?.advice?.contains(advice) == true, "\(error?.advice ?? "")")
        #expect(error?.store == fixture.folder.file())
    }

    @Test func `an order that does not fit the model is an error`() throws {
        let fixture = try DynamicFixture()
        defer { fixture.owner.close() }
        let store = try fixture.inspect()
        defer { store.close() }
        let cards = try store.objects(named: "Card")
        #expect(failure { try cards.sorted(by: "shpo") }?.message == "Card has no property \"shpo\".")
        #expect(failure { try cards.sorted(by: "badges") }?.code == .invalidQuery)
    }

    /// Following the path would exhaust the stack.
    @Test func `a path of a hundred thousand names is an error`() throws {
        let fixture = try DynamicFixture(models: [Node.self])
        defer { fixture.owner.close() }
        let store = try fixture.inspect()
        defer { store.close() }
        let nodes = try store.objects(named: "Node")
        let path = String(repeating: "next.", count: 99_999) + "name"
        let error = failure { try nodes.where("\(path) == 'x'") }
        #expect(error?.code == .invalidQuery && error?.message == "A path has 100000 names.")
        #expect(failure { try nodes.sorted(by: DynamicSort.keys(path)) }?.code == .invalidQuery)
        #expect(try nodes.where("next.next.next.name == 'x'").count() == 0)
    }

    @Test func `elements of collections are found`() throws {
        let fixture = try DynamicFixture(models: [EveryType.self])
        defer { fixture.owner.close() }
        var object = EveryType()
        object.int64s = [1, 2]
        object.texts = ["a", "б"]
        object.uuidSet = [UUID(uuidString: "00000000-0000-4000-8000-000000000001")!]
        object = try fixture.owner.write { try $0.insert(object) }
        let store = try fixture.inspect()
        defer { store.close() }
        let objects = try store.objects(named: "EveryType")
        for (text, count) in [
            ("int64s contains 2", 1), ("int64s contains 3", 0), ("texts contains 'б'", 1), ("texts contains 'x'", 0),
            ("uuidSet contains '00000000-0000-4000-8000-000000000001'", 1), ("int64s.@count == 2", 1),
            ("maybeInt64s.@count >= 0", 0), ("place is nil", 0), ("maybePlace is nil", 1),
        ] {
            #expect(try objects.where(text).count() == count, "\(text)")
        }
        #expect(failure { try objects.where("int64s contains 'x'") }?.code == .invalidQuery)
        for text in ["place == 'x'", "place in ('x', 'y')"] {
            #expect(failure { try objects.where(text) }?.message.contains("can't be compared by ==") == true, "\(text)")
        }
        #expect(failure { try objects.where("textMap contains 'x'") }?.code == .invalidQuery)
    }

    @Test func `a query by names is explained as the typed one`() throws {
        let fixture = try DynamicFixture()
        defer { fixture.owner.close() }
        let store = try fixture.inspect()
        defer { store.close() }
        let typed = try fixture.owner.objects(Card.self).where { $0.points > 10 }.sorted(by: \.shop).explain()
        let dynamic = try store.objects(named: "Card").where("points > 10").sorted(by: "shop").explain()
        #expect(dynamic.sql == typed.sql && dynamic.values == typed.values && dynamic.plan == typed.plan)
        #expect(dynamic.live == typed.live && dynamic.suggestions == typed.suggestions)
    }

    @Test(arguments: StoreKind.allCases)
    func `a typed store is queried by names too`(kind: StoreKind) throws {
        try kind.withStore(Card.self, Person.self, Badge.self) { store in
            try store.write { tx in
                _ = try tx.insert(Card(shop: "Лента", barcode: "1", points: 7))
                let count = try tx.objects(named: "Card").where("points == 7").count()
                #expect(count == 1)
            }
            try store.read { tx in
                let count = try tx.objects(named: "Card").where("shop beginsWith 'лен'").count()
                #expect(count == 1)
            }
        }
    }
}
