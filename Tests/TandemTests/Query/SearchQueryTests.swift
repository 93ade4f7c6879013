import Foundation
import TandemTesting
import TestSupport
import Testing

@testable import Tandem

@Suite("Words are found through the trigram index, and shorter ones without it", .ownThreads)
struct SearchQueryTests {
    private func makeStore(_ kind: StoreKind) throws -> Store {
        let store = try makeQueryStore(kind: kind)
        let ada = Owner("Ада Лавлейс").identified(by: "o1")
        try store.put(ada)
        try store.put(
            Thing("Магнит Косметик", nickname: "пятёрка").identified(by: "1"),
            Thing("пятёрка", nickname: "магнит", owner: ada.reference).identified(by: "2"),
            Thing("Starbucks 星巴克咖啡", nickname: nil).identified(by: "3"),
            Thing("*[x]?*", nickname: "").identified(by: "4"), Thing("abcxbcd").identified(by: "5"))
        return store
    }

    @Test(arguments: StoreKind.fileAndEncrypted)
    func `a search uses the trigram index`(kind: StoreKind) throws {
        let things = try makeStore(kind).objects(Thing.self)
        let plan = try things.where { $0.text.matches("магнит") }.explain().plan
        #expect(plan.contains { $0.contains("VIRTUAL TABLE INDEX 0:G0") }, "\(plan)")
        #expect(plan.contains { $0.contains("SEARCH t0 USING INTEGER PRIMARY KEY") }, "\(plan)")
        let second = try things.where { $0.nickname.matches("магнит") }.explain().plan
        #expect(second.contains { $0.contains("VIRTUAL TABLE INDEX 0:G1") }, "\(second)")
        let linked = try things.where { $0.owner.name.matches("лавлейс") }.explain().plan
        #expect(linked.contains { $0.contains("SEARCH t0 USING INDEX __link_Thing_owner") }, "\(linked)")
    }

    @Test(arguments: StoreKind.fileAndEncrypted)
    func `the index distinguishes two searched properties`(kind: StoreKind) throws {
        let things = try makeStore(kind).objects(Thing.self)
        #expect(try things.where { $0.text.matches("магнит") }.localIDs() == ["1"])
        #expect(try things.where { $0.nickname.matches("магнит") }.localIDs() == ["2"])
    }

    /// SQLite refuses expressions of more than 1,000 levels.
    @Test(arguments: [99, 101, 1_500], StoreKind.fileAndEncrypted)
    func `a needle may have any number of words`(count: Int, kind: StoreKind) throws {
        let store = try makeStore(kind)
        let things = store.objects(Thing.self)
        let words = (0..<count).map { String($0, radix: 36) }
        try store.put(Thing(words.joined(separator: " "), nickname: nil).identified(by: "9"))
        #expect(try things.where { $0.text.matches(words.joined(separator: " ")) }.localIDs() == ["9"])
        #expect(try things.where { $0.text.matches((words + ["нет"]).joined(separator: " ")) }.isEmpty())
        #expect(try things.where { $0.nickname.matches(words.joined(separator: " ")) }.isEmpty())
        #expect(try things.where { $0.owner.name.matches(words.joined(separator: " ")) }.isEmpty())
    }

    @Test(arguments: StoreKind.fileAndEncrypted)
    func `scattered trigrams of a word do not match`(kind: StoreKind) throws {
        let things = try makeStore(kind).objects(Thing.self)
        #expect(try things.where { $0.text.matches("abcd") }.isEmpty())
        #expect(try things.where { $0.text.matches("bcxbc") }.isEmpty() == false)
    }

    @Test(arguments: StoreKind.fileAndEncrypted)
    func `every word must occur in any order`(kind: StoreKind) throws {
        let things = try makeStore(kind).objects(Thing.self)
        let searches: [(needle: String, found: [LocalID])] = [
            ("косм магн", ["1"]), ("ко ма", ["1"]), ("ит", ["1"]), ("星巴", ["3"]), ("星巴克", ["3"]), ("咖", ["3"]),
            ("star 克", ["3"]), ("", []), ("   ", []), ("нет", []), ("[x]", ["4", "5"]), ("?*", []),
            ("*[x]?*", ["4", "5"]),
        ]
        for (needle, found) in searches {
            #expect(try things.where { $0.text.matches(needle) }.localIDs() == found, "\(needle)")
        }
    }

    @Test(arguments: StoreKind.fileAndEncrypted)
    func `words are found through references`(kind: StoreKind) throws {
        let things = try makeStore(kind).objects(Thing.self)
        #expect(try things.where { $0.owner.name.matches("лавл ада") }.localIDs() == ["2"])
        #expect(try things.where { $0.owner.name.matches("ад") }.localIDs() == ["2"])
        #expect(try things.where { !$0.owner.name.matches("лавл") }.localIDs() == ["1", "3", "4", "5"])
    }

    @Test(arguments: StoreKind.fileAndEncrypted)
    func `an or over a text and the text of a reference uses both search indexes`(kind: StoreKind) throws {
        let things = try makeStore(kind).objects(Thing.self)
        let found = things.where { $0.text.matches("магнит") || $0.owner.name.matches("лавлейс") }
        #expect(try found.localIDs() == ["1", "2"])
        #expect(try found.count() == 2)
        for results in [
            found, found.sorted(by: \.text), found.sorted(by: \.owner.name).limit(1), found.includingDeleted(),
        ] {
            let plan = try results.explain().plan
            #expect(plan.contains("MULTI-INDEX OR"), "\(plan)")
            #expect(plan.contains { $0.contains("SCAN __search_Thing VIRTUAL TABLE INDEX 0:G0") }, "\(plan)")
            #expect(plan.contains { $0.contains("SCAN __search_Owner VIRTUAL TABLE INDEX 0:G0") }, "\(plan)")
            #expect(plan.contains { $0.contains("SEARCH t0 USING INDEX __link_Thing_owner") }, "\(plan)")
            #expect(!plan.contains { $0.contains("SCAN t0") }, "\(plan)")
        }
    }

    @Test(arguments: StoreKind.fileAndEncrypted)
    func `an or of searches may have short words, conditions and negations`(kind: StoreKind) throws {
        let things = try makeStore(kind).objects(Thing.self)
        #expect(
            try things.where { $0.text.matches("магнит ко") || $0.owner.name.matches("лавлейс ад") }.localIDs() == [
                "1", "2",
            ])
        #expect(
            try things.where { $0.text.matches("магнит нет") || $0.owner.name.matches("лавлейс ад") }.localIDs() == [
                "2"
            ])
        #expect(
            try things.where { $0.text.matches("магнит") && $0.nickname == "x" || $0.owner.name.matches("лавл") }
                .localIDs()
                == ["2"])
        #expect(
            try things.where { !($0.text.matches("магнит") || $0.owner.name.matches("лавлейс")) }.localIDs()
                == ["3", "4", "5"])
    }

    @Test(arguments: StoreKind.fileAndEncrypted)
    func `an or of a search and a unique property uses both indexes`(kind: StoreKind) throws {
        let store = try makeQueryStore([Voucher.self, Holder.self], kind: kind)
        try store.write { tx in
            try tx.insert(Voucher(shop: "Магнит", number: "1").identified(by: "v1"))
            try tx.insert(Voucher(shop: "Лента", number: "2").identified(by: "v2"))
            try tx.insert(Voucher(shop: "Пятёрочка", number: "3").identified(by: "v3"))
        }
        let found = store.objects(Voucher.self).where { $0.shop.matches("маг") || $0.number == "2" }
        #expect(try found.localIDs() == ["v1", "v2"])
        #expect(
            try store.objects(Voucher.self).where { !($0.shop.matches("маг") || $0.number == "2") }.localIDs() == ["v3"]
        )
        let plan = try found.sorted(by: \.shop).explain().plan
        #expect(plan.contains { $0.contains("SCAN __search_Voucher VIRTUAL TABLE INDEX 0:G0") }, "\(plan)")
        #expect(plan.contains { $0.contains("SEARCH t0 USING INDEX __unique_Voucher_number (number=?)") }, "\(plan)")
        #expect(try found.includingDeleted().localIDs() == ["v1", "v2"])
    }
}
