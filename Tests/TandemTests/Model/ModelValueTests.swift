import BigInt
import Foundation
import TandemTesting
import TestSupport
import Testing

@testable import Tandem

@Suite(.ownThreads) struct ModelValueTests {
    @Test func `new values have distinct ascending IDs`() {
        let cards = (0..<1000).map { HandCard(shop: "\($0)", barcode: "") }
        #expect(Set(cards.map(\.id)).count == 1000)
        #expect(cards.map(\.localID) == cards.map(\.localID).sorted())
        // Some servers compare IDs exactly, and some write them in lower case.
        let texts = cards.map(\.localID.rawValue)
        #expect(texts.allSatisfy { $0.utf8.count == 36 && $0 == $0.lowercased() && UUID(uuidString: $0) != nil })
        // Version 7, and the variant of RFC 9562.
        #expect(texts.allSatisfy { $0.dropFirst(14).first == "7" && "89ab".contains($0.dropFirst(19).first ?? " ") })
        #expect(cards[0].id == cards[0].localID && cards[0].reference.localID == cards[0].localID)
        #expect(UUID(uuidString: cards[0].localID.rawValue) != nil)
    }

    @Test func `a copy is equal and a changed copy is not`() {
        let card = HandCard(shop: "é", barcode: "1")
        var other = card
        #expect(other == card && other.hashValue == card.hashValue)
        other.shop = "e\u{301}"
        #expect(other != card)
        #expect(Set([card, other]).count == 2)
        #expect(HandCard(shop: "é", barcode: "1") != card)
    }

    @Test func `coding does not change a value`() throws {
        let store = try Store.inMemory(models: HandCard.self, HandPerson.self)
        let person = HandPerson(name: "Ада")
        try store.write { _ = try $0.insert(person) }
        let card = try store.applyServerObject(
            HandCard(shop: "Лента", barcode: "1", points: BigInt(2).power(200), owner: person.reference),
            serverID: "s", version: "v", createdAt: Date(timeIntervalSinceReferenceDate: 0.1),
            updatedAt: .distantFuture)
        let coded = try JSONDecoder().decode(HandCard.self, from: try JSONEncoder().encode(card))
        #expect(coded == card)
        #expect(coded.isSynced && coded.serverID == "s" && coded.version == "v" && coded.owner == person.reference)
        #expect(coded.createdAt == card.createdAt && coded.updatedAt == card.updatedAt)
        let new = try JSONDecoder().decode(HandCard.self, from: Data(#"{"shop":"a","barcode":"b"}"#.utf8))
        #expect(new.points == 0 && !new.isPinned && new.serverID == nil && new.localID != card.localID)
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode(HandCard.self, from: Data(#"{"shop":"a"}"#.utf8))
        }
    }

    @Test func `an app may choose the local ID of a new object`() throws {
        let store = try Store.inMemory(models: HandCard.self, HandPerson.self)
        var received = HandCard(shop: "a", barcode: "b")
        received.__state.serverID = "s"
        received.__state.version = "v"
        let card = received.identified(by: "mine")
        #expect(card.localID == "mine" && card.serverID == nil && card.version == nil && card.shop == "a")
        try store.write { try $0.insert(card) }
        #expect(try store.stored(HandCard.self, "mine") == card)
    }

    @Test func `an app can't set the server's state`() throws {
        let store = try Store.inMemory(models: HandCard.self, HandPerson.self)
        var given = HandCard(shop: "a", barcode: "b")
        func setState(of card: inout HandCard) {
            card.__state.serverID = "s"
            card.__state.version = "v"
            card.__state.createdAt = Date()
            card.__state.isSynced = true
        }
        setState(of: &given)
        var card = try store.write { [given] in try $0.insert(given) }
        #expect(card.serverID == nil && card.version == nil && card.createdAt == nil && !card.isSynced)
        #expect(try store.stored(card) == card)
        setState(of: &card)
        let updated = try store.write { [card] in try $0.update(card) }
        #expect(updated.serverID == nil && updated.version == nil && updated.createdAt == nil && !updated.isSynced)
        #expect(try store.operations.count() == 1)
    }

    @Test func `transient properties are not stored`() throws {
        let store = try Store.inMemory(models: HandCard.self, HandPerson.self)
        var card = HandCard(shop: "a", barcode: "b", isSelected: true)
        card = try store.write { try $0.insert(card) }
        #expect(card.isSelected)
        #expect(try store.stored(card)?.isSelected == false)
    }

    @Test func `values are the same if their stored bits are equal`() {
        #expect(__same(Double.nan, .nan) && !__same(0.0, -0.0) && __same(Float.nan as Float?, .nan))
        #expect(!__same("é", "e\u{301}") && __same("é" as String?, "é") && !__same("" as String?, nil))
        let never = Date(timeIntervalSinceReferenceDate: .nan)
        #expect(__same(never, never) && __same(never as Date?, never) && !__same(never as Date?, nil))
        #expect(!__same(Date(timeIntervalSinceReferenceDate: 0), Date(timeIntervalSinceReferenceDate: -0.0)))
        #expect(__same([Double.nan], [.nan]) && !__same([0.0], [-0.0]) && !__same(["é"], ["e\u{301}"]))
        #expect(__same(["a": never], ["a": never]) && !__same(["a": "é"], ["a": "e\u{301}"]))
        #expect(!__same([["é"]], [["e\u{301}"]]) && __same([Double.nan] as [Double]?, [.nan]))
        #expect(!__same(Set(["é"]), Set(["e\u{301}"])) && __same(Set([1, 2]), Set([2, 1])))
        #expect(__same(Decimal.nan, .nan) && __same(Decimal(string: "1.0"), Decimal(string: "1.00")))
        #expect(
            __same(1, 1) && !__same(Int?.none, 1) && __same(Place(name: "", latitude: 1), Place(name: "", latitude: 1)))
    }

    @Test func `a text is read as a decimal if all of it is a number`() {
        for (text, value) in [
            ("0", "0"), ("+1", "1"), ("-12.50", "-12.5"), (".5", "0.5"), ("-5.", "-5"), ("007", "7"), ("1e5", "100000"),
            ("1E+2", "100"), ("+1.e-3", "0.001"), ("1e127", "1e127"),
            ("340282366920938463463374607431768211455", "340282366920938463463374607431768211455"),
        ] {
            #expect(Decimal(__json: .text(text)) == Decimal(string: value), "\(text)")
        }
        #expect(Decimal(__json: .text("NaN"))?.isNaN == true)
        for text in [
            "", " ", ".", "+", "-", "e5", "1e", "1e+", "+-1", "1.2.3", "1e5e5", "1e5.0", " 1", "1 ", "1\n", "1\0", "1x",
            "nan", "inf", "-infinity", "0x1p3", "1_000", "1,5", "٣", "²", "１", "1\u{301}", "−1",
        ] {
            #expect(Decimal(__json: .text(text)) == nil, "\(text)")
        }
    }

    @Test func `local IDs are compared byte by byte`() throws {
        #expect(LocalID("é") != LocalID("e\u{301}") && LocalID("e\u{301}") < LocalID("é") && LocalID("a") == "a")
        #expect(try JSONDecoder().decode([LocalID].self, from: Data(#"["x"]"#.utf8)) == ["x"])
        let generator = LocalIDGenerator.sequential()
        LocalIDGenerator.$current.withValue(generator) {
            #expect(Node().localID == "00000000-0000-7000-8000-000000000001")
            #expect(Node().localID == "00000000-0000-7000-8000-000000000002")
        }
    }
}
