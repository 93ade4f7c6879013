import BigInt
import Foundation
import TandemTesting
import TestSupport
import Testing

@testable import Tandem

@Suite("Query semantics that differ from SQL, SQLite or String", .ownThreads)
struct QuerySemanticsTests {
    private func found(_ results: Results<Thing>) throws -> [String] { try results.localIDs().map(\.rawValue) }

    @Test(arguments: StoreKind.fileAndEncrypted)
    func `two encodings of one character are two texts`(kind: StoreKind) throws {
        let store = try makeQueryStore(kind: kind)
        let things = store.objects(Thing.self)
        try store.put(Thing(code: "é").identified(by: "1"), Thing(code: "e\u{301}").identified(by: "2"))
        #expect(try found(things.where { $0.code == "é" }) == ["1"])
        #expect(try found(things.where { $0.code.hasPrefix("e") }) == ["2"])
        #expect(try found(things.where { $0.code.in(["e\u{301}"]) }) == ["2"])
        #expect(try things.grouped(by: \.code).values(.count).count == 2)
    }

    @Test(arguments: StoreKind.fileAndEncrypted)
    func `texts with a null character are complete`(kind: StoreKind) throws {
        let store = try makeQueryStore(kind: kind)
        let things = store.objects(Thing.self)
        try store.put(
            Thing(code: "a\u{0}b").identified(by: "1"), Thing(code: "a").identified(by: "2"),
            Thing(code: "a\u{0}c").identified(by: "3"))
        #expect(try found(things.where { $0.code == "a\u{0}b" }) == ["1"])
        #expect(try found(things.where { $0.code == "a" }) == ["2"])
        #expect(try found(things.where { $0.code.hasPrefix("a\u{0}") }) == ["1", "3"])
        #expect(try found(things.where { $0.code.hasSuffix("\u{0}c") }) == ["3"])
        #expect(try found(things.where { $0.code.contains("\u{0}") }) == ["1", "3"])
        #expect(try found(things.where { $0.code.like("a?b") }) == ["1"])
        #expect(try found(things.where { $0.code.like("*\u{0}c") }) == ["3"])
        #expect(try found(things.where { $0.code.in(["a\u{0}c", "x"]) }) == ["3"])
        #expect(try found(things.sorted(by: \.code)) == ["2", "1", "3"])
    }

    @Test(arguments: StoreKind.fileAndEncrypted)
    func `wildcards of SQL have no meaning`(kind: StoreKind) throws {
        let store = try makeQueryStore(kind: kind)
        let things = store.objects(Thing.self)
        try store.put(Thing(code: "100%").identified(by: "1"), Thing(code: "1000").identified(by: "2"))
        #expect(try found(things.where { $0.code.like("100%") }) == ["1"])
        #expect(try found(things.where { $0.code.like("100?") }) == ["1", "2"])
        #expect(try found(things.where { $0.code.contains("%") }) == ["1"])
    }

    @Test(arguments: StoreKind.fileAndEncrypted)
    func `not is true where the predicate is false, also for nil`(kind: StoreKind) throws {
        let store = try makeQueryStore(kind: kind)
        let things = store.objects(Thing.self)
        try store.put(Thing(small: nil).identified(by: "1"), Thing(small: 3).identified(by: "2"))
        #expect(try found(things.where { $0.small > 5 }) == [])
        #expect(try found(things.where { !($0.small > 5) }) == ["1", "2"])
        #expect(try found(things.where { $0.small != 3 }) == ["1"])
        #expect(try found(things.where { !($0.small == 3) }) == ["1"])
        #expect(try found(things.where { !(!($0.small < 5)) }) == ["2"])
        #expect(try found(things.where { !($0.owner.name == "x" || $0.small == 3) }) == ["1"])
    }

    @Test(arguments: StoreKind.fileAndEncrypted)
    func `NaN and minus zero keep their places`(kind: StoreKind) throws {
        let store = try makeQueryStore(kind: kind)
        let things = store.objects(Thing.self)
        try store.put(
            Thing(ratio: .nan).identified(by: "1"), Thing(ratio: .infinity).identified(by: "2"),
            Thing(ratio: -0.0).identified(by: "3"), Thing(ratio: 0.0).identified(by: "4"))
        #expect(try found(things.sorted(by: \.ratio)) == ["3", "4", "2", "1"])
        #expect(try found(things.where { $0.ratio == 0 }) == ["3", "4"])
        #expect(try found(things.where { $0.ratio > 1 }) == ["2"])
        #expect(try found(things.where { $0.ratio == .nan }) == [])
        #expect(try found(things.where { $0.ratio != .nan }) == ["1", "2", "3", "4"])
        #expect(try found(things.where { !($0.ratio <= .infinity) }) == ["1"])
        #expect(try things.where { $0.ratio == 0 }.first()?.ratio.sign == .minus)
    }

    @Test(arguments: StoreKind.fileAndEncrypted)
    func `integers beyond 63 bits and of any size compare as numbers`(kind: StoreKind) throws {
        let store = try makeQueryStore(kind: kind)
        let things = store.objects(Thing.self)
        let big = BigInt(2).power(200)
        try store.put(
            Thing(unsigned: .max, amount: -big).identified(by: "1"),
            Thing(unsigned: UInt64(Int64.max), amount: big).identified(by: "2"),
            Thing(unsigned: 0, amount: 5).identified(by: "3"))
        #expect(try found(things.where { $0.unsigned > UInt64(Int64.max) }) == ["1"])
        #expect(try found(things.sorted(by: \.unsigned)) == ["3", "2", "1"])
        #expect(try found(things.where { $0.amount.contains(-3...big) }) == ["2", "3"])
        #expect(try found(things.sorted(by: \.amount)) == ["1", "3", "2"])
    }

    @Test(arguments: StoreKind.fileAndEncrypted)
    func `membership lists may have any length`(kind: StoreKind) throws {
        let store = try makeQueryStore(kind: kind)
        let things = store.objects(Thing.self)
        try store.put((0..<10).map { Thing(code: "c\u{0}\($0)", int: $0 * 10_000).identified(by: LocalID("\($0)")) })
        #expect(try things.where { $0.int.in(Array(0..<50_000)) }.count() == 5)
        #expect(try things.where { $0.code.in((5..<40_000).map { "c\u{0}\($0)" }) }.count() == 5)
        #expect(try things.where { $0.ratio.in((0..<200).map(Double.init) + [.nan]) }.count() == 10)
        let plan = try things.where { $0.code.in((0..<200).map(String.init)) }.explain().plan
        #expect(plan.first?.contains("USING INDEX __index_Thing_code") == true, "\(plan)")
    }

    /// Some of the texts have characters that JSON escapes.
    @Test(arguments: StoreKind.fileAndEncrypted)
    func `long membership list finds exactly its texts`(kind: StoreKind) throws {
        let store = try makeQueryStore(kind: kind)
        let things = store.objects(Thing.self)
        let plain = [
            "", "Ёлка", "И\u{306}", "Й", "ქართული", "会員証", "👩‍👩‍👧", "\u{7F}", "1", "null", "\u{2028}", "\u{FEFF}x",
            "\u{FFFF}", "\u{10FFFF}",
        ]
        let escaped = ["\"", "\\", "\\u0041", "\n", "\u{0}", "a\u{0}b", "\u{1F}"]
        let texts = plain + escaped
        try store.put(texts.enumerated().map { Thing(code: $1).identified(by: LocalID("\($0)")) })
        let others = (0..<200).map { "x\($0)" }
        for list in [plain, escaped, texts, Array(plain.prefix(2)), Array(escaped.suffix(1)), []] {
            let found = try things.where { $0.code.in(others + list) }.all().map(\.code)
            #expect(Set(found.map { Array($0.utf8) }) == Set(list.map { Array($0.utf8) }))
            #expect(try things.where { !$0.code.in(others + list) }.count() == texts.count - list.count)
        }
    }

    @Test(arguments: StoreKind.fileAndEncrypted)
    func `thousands of terms are not too deep`(kind: StoreKind) throws {
        let store = try makeQueryStore(kind: kind)
        let things = store.objects(Thing.self)
        try store.put(Thing(code: "1999"))
        let terms = (0..<3000).map { String($0) }
        let any = terms.reduce(Tandem.Predicate<Thing>.false) { $0 || Thing.Columns().code == $1 }
        #expect(try things.where { _ in any }.count() == 1)
        let none = terms.reduce(Tandem.Predicate<Thing>.true) { $0 && Thing.Columns().code != $1 }
        #expect(try things.where { _ in none }.count() == 0)
    }

    @Test(arguments: StoreKind.fileAndEncrypted)
    func `a nil reference has no links`(kind: StoreKind) throws {
        let store = try makeQueryStore(kind: kind)
        let things = store.objects(Thing.self)
        try store.put(Thing().identified(by: "1"))
        #expect(try found(things.where { $0.owner.things.any { _ in .true } }) == [])
        #expect(try found(things.where { $0.owner.things.all { _ in .false } }) == ["1"])
        #expect(try found(things.where { $0.owner.things.count == 0 }) == ["1"])
        #expect(try found(things.where { $0.owner.boss.name == nil }) == ["1"])
    }

    @Test(arguments: StoreKind.fileAndEncrypted)
    func `deleted objects are not found through links`(kind: StoreKind) throws {
        let store = try makeQueryStore(kind: kind)
        let things = store.objects(Thing.self)
        var tag = Tag("x", rank: 1).identified(by: "t")
        tag.__state.isDeleted = true
        try store.put(tag)
        try store.put(Thing(tags: [tag.reference]).identified(by: "1"))
        #expect(try found(things.where { $0.tags.any { $0.rank == 1 } }) == [])
        #expect(try found(things.where { $0.tags.isEmpty }) == ["1"])
    }
}
