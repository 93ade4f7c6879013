import DatasyncWire
import Foundation
import Tandem
import TandemSync
import TestSupport
import Testing

private typealias C = Card.Columns

private func text(_ wire: Wire, _ predicate: some Tandem.PredicateExpression<Card>) throws -> String? {
    let filter = try RemoteFilter(predicate, format: wire.dialect.format) { id, _ in
        id == "unsent" ? nil : ServerID("s-" + id.rawValue)
    }
    return try FilterWriter(wire.dialect).text(filter)
}

@Suite(.ownThreads) struct FilterTests {
    private let card = Card.Columns()

    /// Expects the same text in both grammars.
    private func expect(
        _ predicate: some Tandem.PredicateExpression<Card>, _ expected: String?,
        _ location: SourceLocation = #_sourceLocation
    ) throws {
        for wire in Wire.allCases { #expect(try text(wire, predicate) == expected, sourceLocation: location) }
    }

    private func expect(
        _ predicate: some Tandem.PredicateExpression<Card>, azure: String, datasync: String,
        _ location: SourceLocation = #_sourceLocation
    ) throws {
        #expect(try text(.azure, predicate) == azure, sourceLocation: location)
        #expect(try text(.datasync, predicate) == datasync, sourceLocation: location)
    }

    @Test func `comparisons are encoded`() throws {
        try expect(card.points == 7, "(points eq 7)")
        try expect(card.points != -7, "(points ne -7)")
        try expect(card.points.contains(1..<5), "((points ge 1) and (points lt 5))")
        try expect(card.weight > 1.5, "(weight gt 1.5)")
        try expect(card.weight > 1e20, "(weight gt 1e20)")
        try expect(card.shop == "О'Кей", "(shop eq 'О''Кей')")
        try expect(card.shop == "'\u{301}", "(shop eq '''\u{301}')")
        try expect(card.colour == "红 👋", "(colour_1 eq '红 👋')")
        try expect(card.serverID == "a", "(id eq 'a')")
        try expect(card.isDeleted, "(deleted eq true)")
        try expect(
            card.key == UUID(uuidString: "018F0000-0000-7000-8000-00000000000A")!,
            "(key eq '018f0000-0000-7000-8000-00000000000a')")
        try expect(card.owner == Reference<Person>(localID: "p"), "(owner eq 's-p')")
    }

    @Test func `nil is compared as in Swift`() throws {
        try expect(card.nickname == nil, "(nickname eq null)")
        try expect(card.nickname != nil, "(nickname ne null)")
        try expect(card.nickname == "x", "(nickname eq 'x')")
        try expect(card.nickname != "x", "((nickname ne 'x') or (nickname eq null))")
        try expect(!(card.nickname == "x"), "((nickname ne 'x') or (nickname eq null))")
        try expect(!(card.nickname != "x"), "(nickname eq 'x')")
        try expect(card.weight < 2, "(weight lt 2.0)")
        try expect(!(card.weight < 2), "((weight ge 2.0) or (weight eq null))")
        try expect(!(card.points < 2), "(points ge 2)")
        try expect(!(card.isOld == true), "((isOld ne true) or (isOld eq null))")
        try expect(!card.isPinned, "(isPinned ne true)")
        try expect(card.owner == nil, "(owner eq null)")
    }

    @Test func `properties are compared with each other`() throws {
        try expect(card.shop == card.barcode, "(shop eq barcode)")
        try expect(
            card.nickname == card.colour,
            "((nickname eq colour_1) or ((nickname eq null) and (colour_1 eq null)))")
        try expect(
            card.nickname != card.colour,
            """
            ((nickname ne colour_1) or (((nickname eq null) and (colour_1 ne null)) or \
            ((nickname ne null) and (colour_1 eq null))))
            """)
    }

    @Test func `conjunctions, disjunctions and negations are encoded`() throws {
        try expect(
            card.points > 1 && card.points < 9 || card.isPinned,
            "(((points gt 1) and (points lt 9)) or (isPinned eq true))")
        try expect(
            !(card.points > 1 && !card.isPinned || card.shop == "a"),
            "(((points le 1) or (isPinned eq true)) and (shop ne 'a'))")
        try expect(!(!(card.points == 1)), "(points eq 1)")
    }

    @Test func `constants are simplified`() throws {
        try expect(Tandem.Predicate<Card>.true, nil)
        try expect(Tandem.Predicate<Card>.false, "(id eq null)")
        try expect(Tandem.Predicate<Card>.true && card.points == 1 && Tandem.Predicate<Card>.true, "(points eq 1)")
        try expect(Tandem.Predicate<Card>.false || card.points == 1, "(points eq 1)")
        try expect(!(Tandem.Predicate<Card>.false && card.points == 1), nil)
        try expect(card.weight == .nan, "(id eq null)")
        try expect(card.weight != .nan, nil)
        try expect(!(card.weight < .nan), nil)
        try expect(card.points.in([]), "(id eq null)")
    }

    @Test func `lists are encoded`() throws {
        try expect(
            card.shop.in(["a", "b", "c"]), azure: "(((shop eq 'a') or (shop eq 'b')) or (shop eq 'c'))",
            datasync: "(shop in ('a','b','c'))")
        try expect(
            !card.nickname.in(["a", "b"]),
            azure: "(((nickname ne 'a') and (nickname ne 'b')) or (nickname eq null))",
            datasync: "((not (nickname in ('a','b'))) or (nickname eq null))")
        try expect(
            card.nickname.in(["a", nil]), azure: "((nickname eq 'a') or (nickname eq null))",
            datasync: "((nickname in ('a')) or (nickname eq null))")
        try expect(card.weight.in([.nan]), "(id eq null)")
    }

    @Test func `text functions are encoded`() throws {
        try expect(card.shop.hasPrefix("Ма"), "startswith(shop,'Ма')")
        try expect(card.shop.hasSuffix("'"), "endswith(shop,'''')")
        try expect(card.shop.contains("a"), azure: "substringof('a',shop)", datasync: "contains(shop,'a')")
        try expect(
            !card.nickname.hasPrefix("x"), "((not startswith(nickname,'x')) or (nickname eq null))")
        try expect(card.shop.hasPrefix(""), nil)
        try expect(card.nickname.contains(""), "(nickname ne null)")
    }

    @Test func `times are compared at the precision of the wire format`() throws {
        let exact = try #require(WireTimestamp("2026-11-21T03:14:34.003Z")).date
        let between = try #require(WireTimestamp("2026-11-21T03:14:34.0034Z")).date
        func azure(_ text: String) -> String { text.replacing("T", with: "datetimeoffset'2026-11-21T03:14:34.003Z'") }
        func datasync(_ text: String) -> String {
            text.replacing("T", with: "cast(2026-11-21T03:14:34.003Z,Edm.DateTimeOffset)")
        }
        func expectTime(
            _ predicate: some Tandem.PredicateExpression<Card>, _ text: String,
            _ location: SourceLocation = #_sourceLocation
        ) throws {
            try expect(predicate, azure: azure(text), datasync: datasync(text), location)
        }
        try expectTime(card.seen == exact, "(seen eq T)")
        try expectTime(card.seen >= exact, "(seen ge T)")
        try expectTime(card.seen < exact, "(seen lt T)")
        try expectTime(card.updatedAt > exact, "(updatedAt gt T)")
        // A server's 34.003 may stand for 34.0034. Only values above it are certain.
        try expectTime(card.seen >= between, "(seen gt T)")
        try expectTime(card.seen > between, "(seen gt T)")
        try expectTime(card.seen <= between, "(seen le T)")
        try expectTime(card.seen < between, "(seen le T)")
        try expect(card.seen == between, "(id eq null)")
        try expect(card.seen != between, nil)
    }

    @Test func `the creation time is only sent to Azure Mobile Apps`() throws {
        #expect(try text(.azure, card.createdAt == nil) == "(createdAt eq null)")
        #expect(throws: RequestEncodingError.self) { try text(.datasync, card.createdAt == nil) }
    }

    @Test(arguments: Wire.allCases) func `an invalid member name is refused`(wire: Wire) {
        #expect(throws: RequestEncodingError.self) { try text(wire, card.odd == "x") }
        #expect(throws: RequestEncodingError.self) {
            try FilterWriter(wire.dialect).text(.isNull(.init("a eq 1) or (b", isOptional: true)))
        }
    }
}

@Suite(.ownThreads) struct UnsupportedFilterTests {
    private let card = Card.Columns()

    private func part(_ predicate: some Tandem.PredicateExpression<Card>) -> String? {
        #expect(throws: UnsupportedFilterError.self) { try text(.datasync, predicate) }?.part
    }

    @Test func `the part that can't be encoded is named`() {
        #expect(part(card.shop.matches("маг")) == "shop.matches")
        #expect(part(card.points > 1 && card.barcode.like("4*")) == "barcode.like")
        #expect(part(!(card.owner.name == "Ада")) == "owner.name")
        #expect(part(card.labels.contains("new")) == "labels.contains")
        #expect(part(card.labels.count > 2) == "labels.count")
        #expect(part(card.note == "x") == "note")
        #expect(part(card.localID == "x") == "localID")
        #expect(part(card.isSynced) == "isSynced")
        #expect(part(card.version == "x") == "version")
        #expect(part(card.price > 1) == "price")
        #expect(part(card.price == 1) == "price")
        #expect(part(card.points > 9_007_199_254_740_993) == "points")
        #expect(part(card.weight < .infinity) == "weight")
        #expect(part(card.owner == Reference<Person>(localID: "unsent")) == "owner")
        #expect(part(card.expires < Date(timeIntervalSince1970: 1e13)) == "expires")
    }
}
