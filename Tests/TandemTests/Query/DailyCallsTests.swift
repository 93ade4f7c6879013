import BigInt
import Foundation
import TandemTesting
import TestSupport
import Testing

@testable import Tandem

@Model struct Release {
    @Folded var name: String
    var lead: Reference<Musician>?
    var members: [Reference<Musician>] = []
}

@Model struct Musician {
    @Folded var name: String
    @Inverse(\Release.lead) var leads: InverseLinks<Release>
    @Inverse(\Release.members) var albums: InverseLinks<Release>
}

@Suite("Common calls", .ownThreads)
struct DailyCallsTests {
    /// A store with three albums of two musicians.
    private struct Discography {
        let store: Store
        let zemfira: Musician
        let kino: Musician
        let first: Release

        init(_ kind: StoreKind) throws {
            let store = try kind.make([Release.self, Musician.self])
            (zemfira, kino, first) = try store.write { tx in
                let zemfira = try tx.insert(Musician(name: "Земфира").identified(by: "z"))
                let kino = try tx.insert(Musician(name: "Кино").identified(by: "k"))
                let first = try tx.insert(
                    Release(
                        name: "Группа крови", lead: kino.reference,
                        members: [zemfira.reference, kino.reference, zemfira.reference, Reference(localID: "gone")]
                    ).identified(by: "1"))
                try tx.insert(Release(name: "Прости меня моя любовь", lead: zemfira.reference).identified(by: "2"))
                try tx.insert(
                    Release(name: "Ночь", lead: kino.reference, members: [kino.reference]).identified(by: "3"))
                return (zemfira, kino, first)
            }
            self.store = store
        }
    }

    @Test(arguments: StoreKind.memoryAndEncrypted)
    func `predicates can be made before their queries, joined and reused`(kind: StoreKind) throws {
        let discography = try Discography(kind)
        let (store, kino) = (discography.store, discography.kino)
        let isLong = Release.predicate { $0.name.matches("моя") }
        let isKino = Release.predicate { $0.lead == kino }
        let albums = store.objects(Release.self)
        #expect(try albums.where(isKino).localIDs() == ["1", "3"])
        #expect(try albums.where(isLong || isKino && Release.predicate { $0.name == "Ночь" }).localIDs() == ["2", "3"])
        #expect(try albums.where(!isKino).where(isLong).count() == 1)
    }

    @Test(arguments: StoreKind.memoryAndEncrypted)
    func `an object is updated from its stored values, not from an old value`(kind: StoreKind) throws {
        let discography = try Discography(kind)
        let (store, first) = (discography.store, discography.first)
        try store.write { try $0.update(first) { $0.name += "!" } }
        let renamed = try store.write { try $0.update(first) { $0.name += "?" } }
        #expect(renamed.name == "Группа крови!?")
        try store.write { try $0.delete(first) }
        let error = #expect(throws: TandemError.self) { try store.write { try $0.update(first) { $0.name = "" } } }
        #expect(error?.code == .objectDeleted || error?.code == .notFound)
    }

    @Test(arguments: StoreKind.memoryAndEncrypted)
    func `queries are read without blocking the task's thread`(kind: StoreKind) async throws {
        let discography = try Discography(kind)
        let (store, kino) = (discography.store, discography.kino)
        let albums = store.objects(Release.self).sorted(by: \.name, ascending: false)
        #expect(try await albums.all().map(\.localID) == ["2", "3", "1"])
        #expect(try await albums.first()?.localID == "2")
        #expect(try await albums.where { $0.lead == kino }.count() == 2)
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await albums.all()
        }
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test(arguments: StoreKind.memoryAndEncrypted)
    func `objects are returned with their lists and inverse links`(kind: StoreKind) throws {
        let discography = try Discography(kind)
        let store = discography.store
        let rows = try store.objects(Release.self).with(\.lead, \.members).all()
        #expect(rows.map(\.0.localID) == ["1", "2", "3"])
        #expect(rows.map(\.1?.name) == ["Кино", "Земфира", "Кино"])
        #expect(rows.map { $0.2.map(\.localID) } == [["z", "k", "z"], [], ["k"]])
        let artists = try store.objects(Musician.self).sorted(by: \.name).with(\.leads, \.albums).all()
        #expect(artists.map(\.0.localID) == ["z", "k"])
        #expect(artists.map { $0.1.map(\.localID) } == [["2"], ["1", "3"]])
        #expect(artists.map { $0.2.map(\.localID) } == [["1"], ["1", "3"]])
        let through = try store.objects(Release.self).with(\.lead.leads).all()
        #expect(through.map { $0.1.map(\.localID) } == [["1", "3"], ["2"], ["1", "3"]])
    }

    @Test(arguments: StoreKind.memoryAndEncrypted)
    func `links are read in the state of their objects, in batches too`(kind: StoreKind) throws {
        let discography = try Discography(kind)
        let (store, zemfira, kino, first) = (
            discography.store, discography.zemfira, discography.kino, discography.first
        )
        try store.write { tx in
            try tx.delete(first)
            for index in 0..<600 {
                try tx.insert(Release(name: "Альбом \(index)", lead: zemfira.reference, members: [kino.reference]))
            }
        }
        var count = 0
        try store.objects(Release.self).where { $0.name.hasPrefix("Альбом") }.with(\.lead, \.members).forEach {
            _, lead, members in
            #expect(lead?.localID == "z" && members.map(\.localID) == ["k"])
            count += 1
        }
        #expect(count == 600)
        let singer = try store.objects(Musician.self).sorted(by: \.name).with(\.leads).first()
        #expect(singer?.1.count == 601)
    }

    @Test(arguments: StoreKind.memoryAndEncrypted)
    func `deleting everything queues an operation for each object that a server has`(kind: StoreKind) throws {
        let discography = try Discography(kind)
        let store = discography.store
        #expect(try store.write { try $0.deleteAll(Release.self) } == 3)
        #expect(try store.objects(Release.self).isEmpty() && store.objects(Musician.self).count() == 2)
        #expect(try store.write { try $0.deleteAll() } == 2)
        #expect(try store.objects(Musician.self).isEmpty())
        #expect(try store.operations.all().isEmpty)
        #expect(try store.checkIntegrity() == [])
        try store.applyServerObject(Musician(name: "Αλεξίου"), serverID: "a")
        #expect(try store.write { try $0.deleteAll() } == 1)
        #expect(try store.operations.all().map(\.kind) == [.delete])
        #expect(try store.write { try $0.deleteAll() } == 0)
    }

    @Test(arguments: StoreKind.memoryAndEncrypted)
    func `deleting everything is not denied by references of deleted objects`(kind: StoreKind) throws {
        let store = try Store.ofNodes(kind)
        try store.write { tx in
            var holder = Node("holder")
            holder.keeper = try tx.insert(Node("held")).reference
            try tx.insert(holder)
        }
        #expect(try store.write { try $0.deleteAll() } == 2)
        #expect(try store.objects(Node.self).isEmpty())
    }

    @Test(arguments: StoreKind.memoryAndEncrypted)
    func `an asynchronous write imports values as JSONSerialization makes them`(kind: StoreKind) async throws {
        let store = try kind.make([EveryType.self])
        let json = """
            [{"localID": "a", "flag": true, "int": 1, "int64": 9007199254740993, "uint64": 18446744073709551615,
              "double": 1, "float": 0.5, "text": "Пятёрочка", "big": 123456789012345678901234567890, "level": 0,
              "color": "green", "maybeInt": null, "texts": ["ローソン", "Şok"], "textMap": {"a": "b"}, "int8": 0,
              "place": {"name": "Омск", "latitude": 1, "tags": {"x": 1}}, "maybeFlag": false, "decimal": 12.25}]
            """
        let values = try ObjectValues.list(JSONSerialization.jsonObject(with: Data(json.utf8)))
        let ids = try await store.write { try $0.upsert(EveryType.self, values: values) }
        #expect(ids == ["a"])
        let object = try #require(try await store.objects(EveryType.self).first())
        #expect(object.flag && object.int == 1 && object.int8 == 0 && object.maybeFlag == false)
        #expect(object.int64 == 9_007_199_254_740_993 && object.uint64 == .max)
        #expect(object.double == 1 && object.float == 0.5 && object.decimal == 12.25)
        #expect(object.text == "Пятёрочка" && object.texts == ["ローソン", "Şok"] && object.textMap == ["a": "b"])
        #expect(object.big == BigInt("123456789012345678901234567890"))
        #expect(object.level == .middle && object.color == .green && object.maybeInt == nil)
        #expect(object.place == Place(name: "Омск", latitude: 1, tags: ["x": 1]))
    }

    @Test(arguments: StoreKind.memoryAndEncrypted)
    func `values of the properties' own types are imported and others refused by their key`(
        kind: StoreKind
    ) async throws {
        let store = try kind.make([EveryType.self])
        let date = Date(timeIntervalSinceReferenceDate: 1.5)
        let uuid = UUID()
        let values = try ObjectValues([
            "localID": LocalID("a"), "date": date, "uuid": uuid, "color": Color.odd, "level": Level.high,
            "data": Data([0, 1]), "intSet": Set([3, 1]), "maybeText": String?.none,
        ])
        try await store.write { try $0.upsert(EveryType.self, values: values) }
        let object = try #require(try await store.objects(EveryType.self).first())
        #expect(object.localID == "a" && object.date == date && object.uuid == uuid && object.color == .odd)
        #expect(object.level == .high && object.data == Data([0, 1]) && object.intSet == [1, 3])
        #expect(object.maybeText == nil)
        let referring = try ObjectValues(["localID": "d", "one": Reference<EveryType>(localID: "a")])
        try await store.write { try $0.upsert(EveryType.self, values: referring) }
        #expect(try await store.objects(EveryType.self).where { $0.localID == "d" }.first()?.one?.localID == "a")
        struct Strange {}
        let error = #expect(throws: TandemError.self) { try ObjectValues(["text": Strange()]) }
        #expect(error?.code == .invalidValue && error?.property == "text")
        #expect(throws: TandemError.self) { try ObjectValues.list("text") }
        let boolean = try ObjectValues(["localID": "c", "int": true])
        let refused = await #expect(throws: TandemError.self) {
            try await store.write { try $0.upsert(EveryType.self, values: boolean) }
        }
        #expect(refused?.property == "int")
    }
}
