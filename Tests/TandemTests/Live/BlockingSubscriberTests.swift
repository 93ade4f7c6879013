import Dispatch
import Foundation
import OpenCombine
import Synchronization
import TandemTesting
import TestSupport
import Testing

@testable import Tandem

/// A subscriber that blocks, and the work for many live queries in one write: other subscriptions continue.
@Suite(.ownThreads) struct BlockingSubscriberTests {
    @Test(arguments: StoreKind.files)
    func `an immediate subscriber that blocks after an external commit delays no other subscription`(
        _ kind: StoreKind
    ) throws {
        let folder = try TestFolder()
        let path = folder.file(kind)
        let store = try kind.open(at: path, [Badge.self])
        let other = try kind.open(at: path, [Badge.self])
        let gate = DispatchSemaphore(value: 0)
        defer {
            gate.signal()
            other.close()
            store.close()
        }
        let badges = store.objects(Badge.self)
        let watching = (0..<4).map { _ in badges.countPublisher.record() }
        #expect(watching.allSatisfy { $0.waitForValue { $0 == 0 } })
        let isBlocking = Atomic<Bool>(false)
        let blocking = badges.countPublisher.on(.immediate).record { count in
            guard count == 1 else { return }
            isBlocking.store(true, ordering: .relaxed)
            gate.wait()
        }
        try other.write { _ = try $0.insert(Badge(name: "Пятёрочка")) }
        #expect(ends { while !isBlocking.load(ordering: .relaxed) { usleep(1000) } })
        // Other subscriptions reload and new ones get their first results while it blocks.
        #expect(watching.allSatisfy { $0.waitForValue { $0 == 1 } })
        let late = (0..<8).map { _ in badges.changesetPublisher.record() }
        #expect(late.allSatisfy { $0.waitForValues(1) })
        gate.signal()
        for recorder in watching { recorder.cancel() }
        for recorder in late { recorder.cancel() }
        blocking.cancel()
    }

    @Test func `a write's work for all live queries together is bounded and each query gets its change`() throws {
        let store = try Store.inMemory(models: Card.self, Person.self, Badge.self)
        defer { store.close() }
        store.live.tuning.resolvingLimit = 400
        let people = try store.write { tx in try (0..<40).map { try tx.insert(Person(name: "Ада \($0)")) } }
        try store.write { tx in
            for person in people {
                _ = try tx.insert(Card(shop: "Лента", barcode: person.name, owner: person.reference))
            }
        }
        let cards = store.objects(Card.self)
        let queries = (0..<10).map {
            cards.where { $0.owner.name.hasPrefix("Ада") }.sorted(by: \.barcode).limit(100 + $0)
        }
        let recorders = queries.map { $0.changesetPublisher.on(.immediate).record() }
        #expect(recorders.allSatisfy { $0.waitForValues(1) })
        let before = store.live.present.map(\.loads).reduce(0, +)
        try store.write { tx in
            for person in people { try tx.update(Person.self, localID: person.localID) { $0.name = "Боб" } }
        }
        #expect(recorders.allSatisfy { $0.waitForValues(2) })
        let loads = store.live.present.map(\.loads).reduce(0, +) - before
        // 40 people refer to 40 cards in 10 queries: 800 statements, of which the limit allows about 23.
        #expect(loads >= 9)
        for recorder in recorders {
            #expect(recorder.values.last?.deletions.count == 40)
            recorder.cancel()
        }
    }

    /// Many queries may follow references to one row, which many rows refer to.
    @Test func `each row of a query that follows references costs work`() throws {
        let store = try Store.inMemory(models: Card.self, Person.self, Badge.self)
        defer { store.close() }
        let person = try store.write { tx in
            let person = try tx.insert(Person(name: "Ада"))
            for index in 0..<30 {
                _ = try tx.insert(Card(shop: "Лента", barcode: "\(index)", owner: person.reference))
            }
            return person
        }
        let query = store.objects(Card.self).where { $0.owner.name == "Ада" }.query
        let reading = RowReading(
            maker: .references(query.model, observed: nil), section: nil, order: RowOrder(query.order))
        let list = LiveList(query, reading: reading, in: store.schema)
        guard case .joined(let watch) = try list.watch(in: store.schema) else {
            Issue.record("The query does not follow references.")
            return
        }
        try store.writer.queue.unsafeReentrantWrite { _ in
            let connection = store.writer.connection
            // The work for 30 rows leaves too little for another statement, or is too much itself.
            for (rows, isEnough) in [(40, true), (10, false)] {
                var tuning = LiveTuning()
                tuning.resolvingLimit = tuning.statementWork + rows
                var budget = ResolvingBudget(tuning)
                var candidates = JoinedCandidates()
                try candidates.addHolders(
                    of: Array(person.localID.rawValue.utf8), reach: watch.reaches[0], to: 7, watch: watch,
                    on: connection, tuning: tuning, budget: &budget)
                let hasMore = budget.spendStatement()
                #expect(!hasMore)
                let isAdded = candidates.add(1, mask: .max, to: 8, watch: watch, budget: &budget)
                #expect(isAdded == isEnough)
                var sealed = CommitChanges(planVersion: 0, hasChanges: true)
                candidates.evaluate(connection, tuning: tuning, budget: &budget, sealed: &sealed)
                #expect(sealed.reloads == [7, 8] && sealed.changes.isEmpty)
            }
        }
    }
}
