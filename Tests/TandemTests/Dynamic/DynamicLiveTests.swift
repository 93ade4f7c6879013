import Foundation
import OpenCombine
import Synchronization
import TandemTesting
import TestSupport
import Testing

@testable import Tandem

/// Live results of queries by names.
@Suite(.ownThreads) struct DynamicLiveTests {
    @Test(arguments: StoreKind.files)
    func `a list follows the commits of the app's store`(kind: StoreKind) throws {
        let fixture = try DynamicFixture(kind)
        defer { fixture.owner.close() }
        try fixture.fill()
        let store = try fixture.inspect()
        defer { store.close() }
        let query = try store.objects(named: "Card").where("points > 10").sorted(by: "shop")
        let recorder = query.changesetPublisher.record()
        defer { recorder.cancel() }
        func ids() -> [LocalID]? { recorder.values.last.map { Array($0.results.localIDs) } }
        #expect(recorder.waitForValues(1))
        #expect(ids() == ["card1", "card3"])

        let new = Card(shop: "Ашан", barcode: "9", points: 50).identified(by: "card9")
        try fixture.owner.write { _ = try $0.insert(new) }
        #expect(recorder.waitForValue { $0.results.count == 3 })
        #expect(ids() == ["card9", "card1", "card3"])
        try fixture.owner.write { _ = try $0.update(Card.self, localID: "card9") { $0.shop = "Яшма" } }
        #expect(recorder.waitForValue { $0.results.last?["shop"] == .string("Яшма") })
        try fixture.owner.write { _ = try $0.delete(Card.self, localID: "card1") }
        #expect(recorder.waitForValue { $0.deletedIDs == ["card1"] })
        #expect(ids() == ["card3", "card9"])
        #expect(try recorder.values.last.map { Array($0.results) } == query.all())
        // Each change set leads from the one before to the next.
        var list: [DynamicObject] = []
        for change in recorder.values {
            change.apply(to: &list)
            #expect(list == Array(change.results))
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `typed and dynamic publishers deliver the same changes`(kind: StoreKind) throws {
        try kind.withStore(Card.self, Person.self, Badge.self) { store in
            let typed = Mutex<[ChangeSet<Card>]>([])
            let dynamic = Mutex<[ChangeSet<DynamicObject>]>([])
            let typedQuery = store.objects(Card.self).where { $0.points > 10 }.sorted(by: \.shop)
            let dynamicQuery = try store.objects(named: "Card").where("points > 10").sorted(by: "shop")
            let subscriptions = [
                typedQuery.changesetPublisher.on(.immediate).sink(receiveCompletion: { _ in }) { change in
                    typed.withLock { $0.append(change) }
                },
                dynamicQuery.changesetPublisher.on(.immediate).sink(receiveCompletion: { _ in }) { change in
                    dynamic.withLock { $0.append(change) }
                },
            ]
            defer { subscriptions.forEach { $0.cancel() } }
            var random = SeededGenerator.seeded()
            for index in 0..<60 {
                try store.write { tx in
                    let ids = try tx.objects(Card.self).localIDs()
                    switch Int.random(in: 0..<4, using: &random) {
                    case 0 where !ids.isEmpty: try tx.delete(Card.self, localID: random.pick(ids))
                    case 1 where !ids.isEmpty:
                        let points = Int.random(in: 0...20, using: &random)
                        try tx.update("Card", localID: random.pick(ids), values: ["points": .integer(Int64(points))])
                    default:
                        try tx.insert(
                            Card(
                                shop: random.pick(["Лента", "Ашан", "Ёлка"]), barcode: "\(index)",
                                points: .init(Int.random(in: 0...20, using: &random))))
                    }
                }
            }
            let (all, byName) = (typed.withLock { $0 }, dynamic.withLock { $0 })
            #expect(all.count == byName.count && all.count > 1, "seed \(random.seed)")
            for (lhs, rhs) in zip(all, byName) {
                #expect(lhs.results.map(\.localID) == rhs.results.map(\.localID))
                #expect(lhs.results.map(\.__state) == rhs.results.map(\.state))
                #expect(lhs.deletions == rhs.deletions && lhs.insertions == rhs.insertions)
                #expect(lhs.modifications.map(\.old) == rhs.modifications.map(\.old))
                #expect(lhs.moves.map(\.to) == rhs.moves.map(\.to))
            }
        }
    }

    @Test func `the values of a query by names are an asynchronous sequence`() async throws {
        let fixture = try DynamicFixture()
        defer { fixture.owner.close() }
        try fixture.fill()
        let query = try fixture.owner.objects(named: "Card").where("points > 10").sorted(by: "shop")
        var cards = query.collectionPublisher.values.makeAsyncIterator()
        let first = try await cards.next()
        #expect(first.map { Array($0.localIDs) } == ["card1", "card3"])
        try await fixture.owner.write { _ = try $0.update("Card", localID: "card2", values: ["points": 11]) }
        let second = try await cards.next()
        #expect(second?.map { $0["points"] } == [.bigInt(20), .bigInt(11), .bigInt(300)])
    }

    @Test func `counts and local IDs are published`() throws {
        let fixture = try DynamicFixture()
        defer { fixture.owner.close() }
        try fixture.fill()
        let store = try fixture.inspect()
        defer { store.close() }
        let query = try store.objects(named: "Card").where("owner.name beginsWith 'ада'")
        let counts = query.countPublisher.record()
        let ids = query.localIDChangesetPublisher.record()
        defer {
            counts.cancel()
            ids.cancel()
        }
        #expect(counts.waitForValues(1) && ids.waitForValues(1))
        #expect(counts.values == [2])
        #expect(ids.values.first.map { Array($0.results) } == ["card1", "card3"])
        // The owner's name decides: the change is in another table.
        try fixture.owner.write { _ = try $0.update(Person.self, localID: "ada") { $0.name = "Вера" } }
        #expect(counts.waitForValue { $0 == 0 })
        #expect(ids.waitForValue { $0.deletedIDs == ["card1", "card3"] })
    }

    @Test func `every kind of value is decoded in a live result`() throws {
        try StoreKind.memory.withStore(EveryType.self) { store in
            var dice = Dice.seeded("live values by name")
            let recorder = try store.objects(named: "EveryType").collectionPublisher.on(.immediate).record()
            defer { recorder.cancel() }
            for _ in 0..<20 {
                let object = EveryType.random(&dice)
                try store.write { _ = try $0.insert(object) }
                let live = try #require(recorder.values.last?.first { $0.localID == object.localID })
                let read = try #require(try store.object(named: "EveryType", localID: object.localID))
                #expect(live == read, "TANDEM_SEED=\(dice.seed)")
            }
        }
    }

    @Test func `a live result ends when its store closes`() throws {
        let fixture = try DynamicFixture()
        defer { fixture.owner.close() }
        let store = try fixture.inspect()
        let recorder = try store.objects(named: "Card").collectionPublisher.record()
        #expect(recorder.waitForValues(1))
        store.close()
        #expect(recorder.waitForEnd())
        #expect(recorder.isFinished)
    }
}
