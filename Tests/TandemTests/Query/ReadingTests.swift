import BigInt
import Foundation
import TandemTesting
import TestSupport
import Testing

@testable import Tandem

@Suite("Results are read lazily, in order, in several forms", .ownThreads)
struct ReadingTests {
    let ada = Owner("Ада", age: 36).identified(by: "o1")
    let bob = Owner("Bob", boss: Reference(localID: "o1")).identified(by: "o2")

    private func makeStore(_ kind: StoreKind) throws -> Store {
        let store = try makeQueryStore(kind: kind)
        try store.put(ada, bob)
        try store.put(Tag("new", rank: 1).identified(by: "t1"), Tag("old").identified(by: "t2"))
        try store.put(
            Thing("Лента", code: "b", int: 3, owner: ada.reference, tags: [Reference(localID: "t1")]).identified(
                by: "1"),
            Thing("Магнит", code: "a", int: 2, owner: bob.reference).identified(by: "2"),
            Thing("лента", code: "b", int: 1, amount: 7).identified(by: "3"),
            Thing("Пятёрочка", code: "c", flag: true, int: 4, owner: Reference(localID: "gone")).identified(by: "4"))
        var deleted = Thing("Дом").identified(by: "5")
        deleted.__state.isDeleted = true
        try store.put(deleted)
        return store
    }

    @Test(arguments: StoreKind.fileAndEncrypted)
    func `objects are in the order of local IDs unless sorted`(kind: StoreKind) throws {
        let things = try makeStore(kind).objects(Thing.self)
        #expect(try things.all().map(\.text) == ["Лента", "Магнит", "лента", "Пятёрочка"])
        #expect(try things.sorted(by: \.text).localIDs() == ["3", "1", "2", "4"])
        #expect(try things.first()?.localID == "1")
        #expect(try things.where { $0.int > 9 }.first() == nil)
    }

    @Test(arguments: StoreKind.fileAndEncrypted)
    func `deleted objects are found only on request`(kind: StoreKind) throws {
        let store = try makeStore(kind)
        let things = store.objects(Thing.self)
        #expect(try things.count() == 4)
        #expect(try things.includingDeleted().count() == 5)
        #expect(try things.onlyDeleted().localIDs() == ["5"])
        #expect(try things.includingDeleted().where { $0.isDeleted }.localIDs() == ["5"])
        #expect(try store.object(ofType: Thing.self, forPrimaryKey: "5") == nil)
    }

    @Test(arguments: StoreKind.fileAndEncrypted)
    func `iteration returns each object once and allows other queries`(kind: StoreKind) throws {
        let things = try makeStore(kind).objects(Thing.self)
        var seen: [LocalID] = []
        try things.forEach { (thing: Thing) throws in
            seen.append(thing.localID)
            #expect(try things.count() == 4)
            #expect(try things.all().count == 4)
        }
        #expect(seen == ["1", "2", "3", "4"])
    }

    @Test(arguments: StoreKind.fileAndEncrypted)
    func `iteration ends with an error thrown by its block`(kind: StoreKind) throws {
        let things = try makeStore(kind).objects(Thing.self)
        struct Enough: Error {}
        var seen = 0
        #expect(throws: Enough.self) {
            try things.forEach { _ in
                seen += 1
                if seen == 2 { throw Enough() }
            }
        }
        #expect(seen == 2)
    }

    /// `filter` and `map` of a sequence would read all objects. Only `elements` has them.
    @Test(arguments: StoreKind.fileAndEncrypted)
    func `results are not sequences, but their elements are`(kind: StoreKind) throws {
        let things = try makeStore(kind).objects(Thing.self)
        let (results, elements): (Any, Any) = (things, things.elements)
        let isSequence = results is any Sequence || results is any AsyncSequence
        #expect(!isSequence)
        let isAsynchronous = elements is any AsyncSequence
        #expect(isAsynchronous)
    }

    @Test(arguments: StoreKind.fileAndEncrypted)
    func `asynchronous iteration returns each object once`(kind: StoreKind) async throws {
        let things = try makeStore(kind).objects(Thing.self)
        var seen: [LocalID] = []
        for try await thing in things.where({ $0.int < 4 }).sorted(by: \.int).elements { seen.append(thing.localID) }
        #expect(seen == ["3", "2", "1"])
    }

    @Test(arguments: StoreKind.fileAndEncrypted)
    func `asynchronous iteration continues over many batches`(kind: StoreKind) async throws {
        let store = try makeStore(kind)
        try store.put((0..<1000).map { Tag("many", rank: $0).identified(by: LocalID("m\($0)")) })
        var ranks: [Int] = []
        for try await tag in store.objects(Tag.self).where({ $0.name == "many" }).sorted(by: \.rank).elements {
            ranks.append(tag.rank)
        }
        #expect(ranks == Array(0..<1000))
    }

    @Test(arguments: StoreKind.fileAndEncrypted)
    func `asynchronous iteration ends when its task is canceled`(kind: StoreKind) async throws {
        let things = try makeStore(kind).objects(Thing.self)
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            for try await _ in things.elements {}
        }
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test(arguments: StoreKind.fileAndEncrypted)
    func `values are read without their objects`(kind: StoreKind) throws {
        let things = try makeStore(kind).objects(Thing.self)
        #expect(try things.values(of: \.code) == ["b", "a", "b", "c"])
        #expect(try things.values(of: \.owner.name) == ["Ада", "Bob", nil, nil])
        #expect(try things.where { $0.code == "b" }.values(of: \.owner) == [ada.reference, nil])
    }

    @Test(arguments: StoreKind.fileAndEncrypted)
    func `existence is checked without reading objects`(kind: StoreKind) throws {
        let things = try makeStore(kind).objects(Thing.self)
        #expect(try !things.isEmpty())
        #expect(try things.where { $0.int > 9 }.isEmpty())
        #expect(try things.limit(0).isEmpty())
        #expect(try things.where { $0.int > 2 }.contains("1"))
        #expect(try !things.where { $0.int > 2 }.contains("2"))
    }

    @Test(arguments: StoreKind.fileAndEncrypted)
    func `distinct keeps the first object of each value in the order`(kind: StoreKind) throws {
        let things = try makeStore(kind).objects(Thing.self)
        #expect(try things.sorted(by: \.int).distinct(by: \.code).localIDs() == ["3", "2", "4"])
        #expect(try things.distinct(by: \.code).count() == 3)
        #expect(try things.distinct(by: \.owner.name).localIDs() == ["1", "2", "3"])
    }

    @Test(arguments: StoreKind.fileAndEncrypted)
    func `limits and offsets apply in the written order`(kind: StoreKind) throws {
        let things = try makeStore(kind).objects(Thing.self)
        #expect(try things.offset(1).limit(2).localIDs() == ["2", "3"])
        #expect(try things.limit(2).offset(1).localIDs() == ["2"])
        #expect(try things.limit(2).where { $0.int < 3 }.localIDs() == ["2"])
        #expect(try things.limit(3).sorted(by: \.int).localIDs() == ["3", "2", "1"])
        #expect(try things.limit(2).count() == 2)
        #expect(try things.limit(2).sum(of: \.int) == 5)
        #expect(try things.limit(1).includingDeleted().localIDs() == ["1"])
    }

    @Test(arguments: StoreKind.fileAndEncrypted)
    func `objects are returned with the objects they refer to`(kind: StoreKind) throws {
        let things = try makeStore(kind).objects(Thing.self)
        let pairs = try things.with(\.owner).all()
        #expect(pairs.map(\.0.localID) == ["1", "2", "3", "4"])
        #expect(pairs.map(\.1?.name) == ["Ада", "Bob", nil, nil])
        let triples = try things.sorted(by: \.int, ascending: false).with(\.owner, \.owner.boss).all()
        #expect(triples.map(\.1?.localID) == [nil, "o1", "o2", nil])
        #expect(triples.map(\.2?.localID) == [nil, nil, "o1", nil])
        let first = try things.with(\.owner).first()
        #expect(first?.1 == ada)
        var names: [String] = []
        try things.with(\.owner).forEach { thing, owner in names.append(thing.text + (owner?.name ?? "-")) }
        #expect(names == ["ЛентаАда", "МагнитBob", "лента-", "Пятёрочка-"])
    }

    @Test(arguments: StoreKind.fileAndEncrypted)
    func `sections have keys, counts and their own results`(kind: StoreKind) throws {
        let things = try makeStore(kind).objects(Thing.self)
        let sections = try things.sorted(by: \.int).sectioned(by: \.code)
        #expect(sections.map(\.key) == ["a", "b", "c"])
        #expect(sections.map(\.count) == [1, 2, 1])
        let objects = try sections.map { try $0.results.localIDs() }
        #expect(objects == [["2"], ["3", "1"], ["4"]])
        let byOwner = try things.sectioned(by: \.owner.name, ascending: false)
        #expect(byOwner.map(\.key) == ["Ада", "Bob", nil])
        #expect(try byOwner[2].results.localIDs() == ["3", "4"])
        let limited = try things.limit(2).sectioned(by: \.code).map { try $0.results.localIDs() }
        #expect(limited == [["2"], ["1"]])
    }

    @Test(arguments: StoreKind.fileAndEncrypted)
    func `sections of NaN find their objects`(kind: StoreKind) throws {
        let store = try makeStore(kind)
        let things = store.objects(Thing.self)
        try store.put(Thing(ratio: .nan).identified(by: "n"))
        let sections = try things.sectioned(by: \.ratio)
        #expect(sections.map(\.count) == [4, 1])
        #expect(sections[1].key.isNaN)
        #expect(try sections[1].results.localIDs() == ["n"])
    }

    @Test(arguments: StoreKind.fileAndEncrypted)
    func `references are read as objects`(kind: StoreKind) throws {
        let store = try makeStore(kind)
        let things = store.objects(Thing.self)
        #expect(try store.object(ofType: Owner.self, forPrimaryKey: "o1") == ada)
        #expect(try store.object(things.where { $0.int == 3 }.first()?.owner) == ada)
        #expect(try store.object(Reference<Owner>(localID: "gone")) == nil)
        #expect(try store.object(nil as Reference<Owner>?) == nil)
        #expect(
            try store.objects([bob.reference, Reference(localID: "gone"), ada.reference, bob.reference]) == [
                bob, ada, bob,
            ])
        #expect(try store.objects(ada.things).localIDs() == ["1"])
        #expect(try store.objects(Tag("x").identified(by: "t1").things).localIDs() == ["1"])
    }

    @Test(arguments: StoreKind.fileAndEncrypted)
    func `an object is found by its server ID`(kind: StoreKind) throws {
        let store = try makeStore(kind)
        var thing = Thing("x").identified(by: "7")
        thing.__state.serverID = "server"
        try store.put(thing)
        #expect(try store.object(ofType: Thing.self, forServerID: "server")?.localID == "7")
        #expect(try store.object(ofType: Thing.self, forServerID: "other") == nil)
    }
}
