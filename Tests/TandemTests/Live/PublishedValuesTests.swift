import BigInt
import Foundation
import TandemTesting
import TestSupport
import Testing

@testable import Tandem

/// Counts, aggregates, single objects, references and combined queries.
@Suite(.ownThreads) struct PublishedValuesTests {
    @Test(arguments: StoreKind.allCases)
    func `a count is published when it changes`(_ kind: StoreKind) throws {
        try kind.withStore(Card.self, Person.self, Badge.self) { store in
            let recorder = store.cards.where { $0.points > 1 }.countPublisher.on(.immediate).record()
            let top = store.cards.limit(1).countPublisher.on(.immediate).record()
            let owned = store.cards.where { $0.owner.name == "Ада" }.countPublisher.on(.immediate).record()
            let ada = try store.write { try $0.insert(Person(name: "Ада")) }
            let card = try store.insert("А", 5, owner: ada)
            try store.insert("Б", 1)
            try store.change(card) { $0.points = 6 }
            try store.change(card) { $0.points = 0 }
            try store.write { tx in try tx.update(Person.self, localID: ada.localID) { $0.name = "Боб" } }
            #expect(recorder.values == [0, 1, 0])
            #expect(top.values == [0, 1])
            #expect(owned.values == [0, 1, 0])
            for recorder in [recorder, top, owned] { recorder.cancel() }
        }
    }

    @Test func `aggregates of every kind follow random changes`() throws {
        let store = try makeQueryStore()
        defer { store.close() }
        var random = SeededGenerator(seed: 7)
        let things = store.objects(Thing.self).where { $0.int >= 0 }
        let count = things.publisher(of: .count).on(.immediate).record()
        let ints = things.publisher(of: .sum(\.int)).on(.immediate).record()
        let bigs = things.publisher(of: .sum(\.amount)).on(.immediate).record()
        let prices = things.publisher(of: .sum(\.price)).on(.immediate).record()
        let ratios = things.publisher(of: .sum(\.ratio)).on(.immediate).record()
        let means = things.publisher(of: .average(\.int)).on(.immediate).record()
        let least = things.publisher(of: .min(\.day)).on(.immediate).record()
        let most = things.publisher(of: .max(\.text)).on(.immediate).record()
        var known: [LocalID] = []
        for step in 0..<150 {
            try store.write { tx in
                let pick = Int.random(in: 0..<10, using: &random)
                func fill(_ thing: inout Thing) {
                    thing.int = Int.random(in: -3...9, using: &random)
                    thing.amount = BigInt(Int.random(in: -9...9, using: &random)) << 80
                    thing.price =
                        Bool.random(using: &random) ? nil : Decimal(Int.random(in: 0...999, using: &random)) / 100
                    thing.ratio = Double.random(in: -1...1, using: &random)
                    thing.day = Bool.random(using: &random) ? nil : Date(timeIntervalSince1970: Double(step))
                    thing.text = "\(Int.random(in: 0...20, using: &random))"
                }
                if pick < 5 || known.isEmpty {
                    var thing = Thing()
                    fill(&thing)
                    known.append(try tx.insert(thing).localID)
                } else if pick < 8 {
                    try tx.update(Thing.self, localID: known.randomElement(using: &random)!) { fill(&$0) }
                } else {
                    try tx.delete(
                        Thing.self, localID: known.remove(at: Int.random(in: 0..<known.count, using: &random)))
                }
            }
            #expect(count.values.last == (try things.count()))
            #expect(ints.values.last == (try things.sum(of: \.int)))
            #expect(bigs.values.last == (try things.sum(of: \.amount)))
            #expect(prices.values.last == (try things.sum(of: \.price)))
            #expect(ratios.values.last == (try things.sum(of: \.ratio)))
            #expect(means.values.last == (try things.average(of: \.int)))
            #expect(least.values.last == (try things.min(of: \.day)))
            #expect(most.values.last == (try things.max(of: \.text)))
        }
        // No value is published that equals the one before.
        #expect(zip(ints.values, ints.values.dropFirst()).allSatisfy { $0 != $1 })
        #expect(zip(most.values, most.values.dropFirst()).allSatisfy { $0 != $1 })
    }

    @Test(arguments: StoreKind.allCases)
    func `an object is nil while it is not in the store`(_ kind: StoreKind) throws {
        try kind.withStore(Card.self, Person.self, Badge.self) { store in
            let card = try store.applyServerObject(Card(shop: "А", barcode: "1"), serverID: "s1", version: "1")
            let recorder = store.publisher(for: card).on(.immediate).record()
            let unknown = store.publisher(for: Reference<Card>(localID: "?")).on(.immediate).record()
            try store.insert("Б")
            try store.change(card) { $0.points = 3 }
            try store.write { try $0.delete(card) }
            try store.write { try $0.undelete(card) }
            #expect(recorder.values.map { $0?.points } == [0, 3, nil, 3])
            #expect(unknown.values.map { $0?.shop } == [nil])
            recorder.cancel()
            unknown.cancel()
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `references are published and their objects are read on access`(_ kind: StoreKind) throws {
        try kind.withStore(Card.self, Person.self, Badge.self) { store in
            let a = try store.insert("А", 1)
            let recorder = store.cards.sorted(by: \.shop).referenceChangesetPublisher.on(.immediate).record()
            try store.insert("Б", 2)
            try store.change(a) { $0.points = 10 }
            #expect(recorder.values.map(\.results.count) == [1, 2, 2])
            #expect(recorder.values.last?.modifiedIDs == [a.localID])
            let shown = try recorder.values.last?.results.compactMap { try store.object($0)?.points }
            #expect(shown == [10, 2])
            recorder.cancel()
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `combined values have one state and one delivery for each commit`(_ kind: StoreKind) throws {
        try kind.withStore(Card.self, Person.self, Badge.self) { store in
            let screen = store.combined(
                store.cards.sorted(by: \.shop).changesetPublisher, store.objects(Person.self).countPublisher,
                store.cards.publisher(of: .sum(\.points)))
            let recorder = screen.on(.immediate).record()
            try store.write { tx in
                let ada = try tx.insert(Person(name: "Ада"))
                try tx.insert(Card(shop: "А", barcode: "1", points: 5, owner: ada.reference))
            }
            try store.write { _ = try $0.insert(Person(name: "Боб")) }
            #expect(recorder.values.map { $0.0.results.count } == [0, 1, 1])
            #expect(recorder.values.map { $0.1 } == [0, 1, 2])
            #expect(recorder.values.map { $0.2 } == [0, 5, 5])
            #expect(recorder.values.last?.0.isEmpty == true && recorder.values.last?.0.isInitial == false)
            recorder.cancel()
        }
    }

    @Test(.timeLimit(.minutes(10)), arguments: StoreKind.files)
    func `combined values never mix two states during writes`(_ kind: StoreKind) throws {
        try kind.withStore(Card.self, Person.self, Badge.self) { store in
            let screen = store.combined(store.cards.countPublisher, store.objects(Person.self).countPublisher)
            let recorder = screen.record()
            DispatchQueue.concurrentPerform(iterations: 3) { writer in
                for index in 0..<40 {
                    _ = try? store.write { tx in
                        try tx.insert(Card(shop: "\(writer)-\(index)", barcode: ""))
                        try tx.insert(Person(name: "\(writer)-\(index)"))
                    }
                }
            }
            #expect(recorder.waitForValue { $0.0 == 120 })
            #expect(recorder.values.allSatisfy { $0.0 == $0.1 })
            #expect(zip(recorder.values, recorder.values.dropFirst()).allSatisfy { $0.0 < $1.0 })
            recorder.cancel()
        }
    }
}
