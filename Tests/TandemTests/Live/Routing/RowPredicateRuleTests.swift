import Foundation
import TestSupport
import Testing

@testable import Tandem

@Suite("Row predicate rules", .ownThreads)
struct RowPredicateRuleTests {
    private let c = Thing.Columns()

    private func predicate(_ predicate: Tandem.Predicate<Thing>) -> RowPredicate? {
        var slots = ColumnSlots()
        return RowPredicate(QueryDescription(Thing.__definition).filtered(predicate.node), slots: &slots)
    }

    @Test func `conditions on other objects are not evaluated`() {
        #expect(predicate(c.owner.name == "x") == nil)
        #expect(predicate(!(c.int > 1 && c.owner.boss == nil)) == nil)
        #expect(predicate(c.tags.any { $0.isNew }) == nil)
        #expect(predicate(c.tags.count > 2) == nil)
        #expect(predicate(c.tags.contains(Tag("x"))) == nil)
        #expect(predicate(c.owner.name.matches("abc")) == nil)
        #expect(predicate(c.nickname == c.owner.name) == nil)
        #expect(predicate(c.owner == nil) != nil)
    }

    @Test func `a query over another query's result is not evaluated`() {
        var slots = ColumnSlots()
        let query = QueryDescription(Thing.__definition)
        #expect(RowPredicate(query.limited(3).filtered(.constant(true)), slots: &slots) == nil)
        #expect(RowPredicate(query.distinct([c.code.__column]), slots: &slots) == nil)
        #expect(RowPredicate(query.limited(3), slots: &slots) != nil)
    }

    @Test func `values that SQLite would convert are not evaluated`() {
        var slots = ColumnSlots()
        let nodes: [PredicateNode] = [
            .comparison(c.int.__column, by: .equal, to: .value("1")), .among(c.text.__column, values: [1]),
            .identical(c.text.__column, to: 1.5), .comparison(c.text.__column, by: .less, to: .column(c.int.__column)),
            .text(c.int.__column, test: .prefix, operand: "1"), .elementCount(c.int.__column, by: .equal, to: 1),
        ]
        let query = QueryDescription(Thing.__definition).living(.any)
        for node in nodes { #expect(RowPredicate(query.filtered(node), slots: &slots) == nil, "\(node)") }
        #expect(slots.columns.isEmpty)
    }

    @Test func `the columns are the properties whose changes matter`() {
        #expect(predicate(c.text.matches("abc") && c.int > 1)?.columns == ["deleted", "text", "int"])
        #expect(predicate(c.day <= c.updatedAt)?.columns == ["deleted", "day", "updatedAt"])
        var slots = ColumnSlots()
        let query = QueryDescription(Thing.__definition).living(.any)
        let all = RowPredicate(query, slots: &slots)
        #expect(all?.columns == [])
        #expect(slots.columns.isEmpty)
        _ = slots.slot(of: "int")
        let found = RowPredicate(query.filtered(c.text.matches("abc").node), slots: &slots)
        #expect(found?.columns == ["text"])
        #expect(found?.slots == [1])
        #expect(slots.columns == ["int", "__search_text"])
    }

    /// SQL finds words of three scalars and more by GLOB, which treats U+FFFE and U+FFFF as U+FFFD.
    @Test func `words are found as in SQL`() throws {
        let store = try makeQueryStore()
        let texts = [
            "abc", "xabcx", "a\u{0}abc", "abc\u{0}x", "ab\u{0}c", "\u{0}", "ab\u{FFFF}", "ab\u{FFFD}", "ab\u{FFFE}",
            "ab",
            "пятёрочка", "[ab]c", "a*c", "星巴克", "星巴", "\u{10FFFF}ab\u{10FFFF}",
        ]
        try store.put(texts.enumerated().map { Thing($1).identified(by: LocalID("\($0)")) })
        var refused: [String] = []
        for needle in texts + ["bc", "c", "abc x", "рочк", "巴克", "a\u{0}a"] {
            let query = QueryDescription(Thing.__definition).filtered(c.text.matches(needle).node)
            var slots = ColumnSlots()
            guard let predicate = RowPredicate(query, slots: &slots) else {
                refused.append(needle)
                continue
            }
            var found: Set<LocalID> = []
            try store.forEachRow(of: Thing.__definition, slots) { row in
                if predicate.holds(row.statement) { found.insert(row.localID) }
            }
            #expect(try Set(store.localIDs(Thing.self, query)) == found, "\(needle.debugDescription)")
        }
        #expect(refused == ["ab\u{FFFF}", "ab\u{FFFD}", "ab\u{FFFE}"])
        let blurred = QueryDescription(Thing.__definition).filtered(c.text.matches("ab\u{FFFF}").node)
        #expect(try store.localIDs(Thing.self, blurred).count == 3)
    }

    @Test func `texts that are not valid UTF-8 are evaluated as in SQL`() throws {
        let store = try makeQueryStore()
        let bytes: [[UInt8]] = [[0x61, 0xFF], [0xFF], [0x80], [0xC2], [0x7F, 0x80], [0xED, 0xA0, 0x80], [0x61]]
        try store.put(bytes.indices.map { Thing().identified(by: LocalID("\($0)")) })
        for (index, bytes) in bytes.enumerated() {
            try store.run(
                "UPDATE \"Thing\" SET \"code\" = CAST(? AS TEXT) WHERE \"__rid\" = ?",
                [.blob(bytes), .integer(Int64(index + 1))])
        }
        for predicate in [
            c.code.hasPrefix("a"), c.code.hasPrefix("\u{7F}"), c.code.hasPrefix("\u{D7FF}"), c.code.contains("a"),
            c.code < "b", c.code > "\u{10FFFF}", c.code.hasSuffix("a"),
        ] {
            let query = QueryDescription(Thing.__definition).filtered(predicate.node)
            var slots = ColumnSlots()
            let asked = try #require(RowPredicate(query, slots: &slots))
            var found: Set<LocalID> = []
            try store.forEachRow(of: Thing.__definition, slots) { row in
                if asked.holds(row.statement) { found.insert(row.localID) }
            }
            #expect(try Set(store.localIDs(Thing.self, query)) == found, "\(predicate.node)")
        }
    }
}
