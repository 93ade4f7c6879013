import Foundation
import TestSupport
import Testing

@testable import Tandem

@Suite("Words are found through the trigram index, and shorter ones without it", .ownThreads)
struct SearchQueryTests {
    let store: Store
    var things: Results<Thing> { store.objects(Thing.self) }

    init() throws {
        store = try makeQueryStore()
        let ada = Owner("Ада Лавлейс").identified(by: "o1")
        try store.put(ada)
        try store.put(
            Thing("Магнит Косметик", nickname: "пятёрка").identified(by: "1"),
            Thing("пятёрка", nickname: "магнит", owner: ada.reference).identified(by: "2"),
            Thing("Starbucks 星巴克咖啡", nickname: nil).identified(by: "3"),
            Thing("*[x]?*", nickname: "").identified(by: "4"), Thing("abcxbcd").identified(by: "5"))
    }

    @Test func aSearchGoesThroughTheTrigramIndex() throws {
        let plan = try things.where { $0.text.matches("магнит") }.explain().plan
        #expect(plan.contains { $0.contains("VIRTUAL TABLE INDEX 0:G0") }, "\(plan)")
        #expect(plan.contains { $0.contains("SEARCH t0 USING INTEGER PRIMARY KEY") }, "\(plan)")
        let second = try things.where { $0.nickname.matches("магнит") }.explain().plan
        #expect(second.contains { $0.contains("VIRTUAL TABLE INDEX 0:G1") }, "\(second)")
        let linked = try things.where { $0.owner.name.matches("лавлейс") }.explain().plan
        #expect(linked.contains { $0.contains("SEARCH t0 USING INDEX __link_Thing_owner") }, "\(linked)")
    }

    @Test func theIndexTellsTwoSearchedPropertiesApart() throws {
        #expect(try things.where { $0.text.matches("магнит") }.localIDs() == ["1"])
        #expect(try things.where { $0.nickname.matches("магнит") }.localIDs() == ["2"])
    }

    /// SQLite refuses expressions of more than 1,000 levels.
    @Test(arguments: [99, 101, 1_500]) func `A needle may have any number of words`(count: Int) throws {
        let words = (0..<count).map { String($0, radix: 36) }
        try store.put(Thing(words.joined(separator: " "), nickname: nil).identified(by: "9"))
        #expect(try things.where { $0.text.matches(words.joined(separator: " ")) }.localIDs() == ["9"])
        #expect(try things.where { $0.text.matches((words + ["нет"]).joined(separator: " ")) }.isEmpty())
        #expect(try things.where { $0.nickname.matches(words.joined(separator: " ")) }.isEmpty())
        #expect(try things.where { $0.owner.name.matches(words.joined(separator: " ")) }.isEmpty())
    }

    @Test func trigramsOfAWordScatteredInATextAreNoMatch() throws {
        #expect(try things.where { $0.text.matches("abcd") }.isEmpty())
        #expect(try things.where { $0.text.matches("bcxbc") }.isEmpty() == false)
    }

    @Test(arguments: [
        ("косм магн", ["1"]), ("ко ма", ["1"]), ("ит", ["1"]), ("星巴", ["3"]), ("星巴克", ["3"]), ("咖", ["3"]),
        ("star 克", ["3"]), ("", []), ("   ", []), ("нет", []), ("[x]", ["4", "5"]), ("?*", []), ("*[x]?*", ["4", "5"]),
    ])
    func everyWordMustBeThereInAnyWord(needle: String, found: [LocalID]) throws {
        #expect(try things.where { $0.text.matches(needle) }.localIDs() == found)
    }

    @Test func wordsAreFoundThroughReferences() throws {
        #expect(try things.where { $0.owner.name.matches("лавл ада") }.localIDs() == ["2"])
        #expect(try things.where { $0.owner.name.matches("ад") }.localIDs() == ["2"])
        #expect(try things.where { !$0.owner.name.matches("лавл") }.localIDs() == ["1", "3", "4", "5"])
    }
}
