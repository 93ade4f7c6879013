import BigInt
import Dispatch
import Foundation
import OpenCombine
import Synchronization
import Tandem
import TandemTesting

extension Benchmark {
    /// Runs 1,000 commits in a store with 1,000 live queries.
    ///
    /// Each commit changes the points of one of 10,000 cards. Only 3 of the queries contain the card. The baseline is a
    /// store with only these 3.
    ///
    /// 400 queries filter by a bar code, 300 by a time span, and 300 by a part of a name. No index supports the last
    /// ones, so each of them tests each changed card. All deliver with the immediate scheduler.
    static let liveMany = Benchmark("live-many") { context in
        let files = try LiveFiles(context)
        let many = try ManyQueries(context, files: files, name: "1000-queries", isFull: true)
        let few = try ManyQueries(context, files: files, name: "3-queries", isFull: false)
        let commits = context.count(1000)
        return Contest(
            subject: many.contender(commits: commits), baselines: [few.contender(commits: commits)],
            bounds: ["3-queries": 3])
    }

    /// Inserts 100,000 cards in one transaction, all into the result of a live query ordered by the folded name. The
    /// baseline has no live query. The time includes the delivery of the change set.
    static let liveImport = Benchmark("live-import") { context in
        let files = try CardFiles(context)
        let cards = files.newCards(context.count(100_000))
        func contender(_ name: String, isWatched: Bool) -> Contender {
            let path = context.path(name)
            let count = Counter()
            var store: Store?
            var subscription: AnyCancellable?
            return Contender(
                name: name,
                prepare: {
                    try files.copy(files.peopleOnly, to: path)
                    store = try Store(at: path, models: Card.self, Person.self)
                    guard isWatched else { return }
                    subscription = store!.objects(Card.self).sorted(by: \.shop).changesetPublisher.on(.immediate)
                        .sink { _ in
                        } receiveValue: {
                            count.value.store($0.insertions.count, ordering: .releasing)
                        }
                },
                run: {
                    try store!.write { tx in try tx.insert(contentsOf: cards) }
                    if isWatched, count.value.load(ordering: .acquiring) != cards.count { throw NotDelivered() }
                },
                finish: {
                    subscription = nil
                    store?.close()
                    store = nil
                },
                outcome: { try CardFiles.contents(of: path) })
        }
        return Contest(
            subject: contender("watched", isWatched: true), baselines: [contender("unwatched", isWatched: false)],
            bounds: ["unwatched": 1.15])
    }
}

private final class Counter: Sendable {
    let value = Atomic<Int>(0)
}

/// An error: the change set of an import was not delivered when `write` returned.
private struct NotDelivered: Error {}

/// A store with live queries of one model, three of which each commit affects.
private final class ManyQueries {
    private let name: String
    private let store: Store
    private var subscriptions: [AnyCancellable] = []
    private let deliveries = Counter()
    private let cardID: LocalID
    private var points = 0

    /// Creates a store.
    ///
    /// - Parameter isFull: Whether to start all queries, or only the three.
    init(_ context: Context, files: LiveFiles, name: String, isFull: Bool) throws {
        self.name = name
        let path = context.path(name)
        try files.files.copy(files.files.peopleOnly, to: path)
        store = try Store(at: path, models: Card.self, Person.self)
        var cards = files.files.newCards(10_000)
        let start = Date(timeIntervalSinceReferenceDate: 0)
        for index in cards.indices {
            cards[index].barcode = "b\(index % 5000)"
            cards[index].name = "Владелец №\(index % 300)."
            cards[index].createdOn = start + Double(index % 300) * 1000 + 500
        }
        try store.applyServerObjects(cards, version: "\"1\"")
        cardID = cards[17].localID

        let objects = store.objects(Card.self)
        for number in isFull ? 0..<400 : 17..<18 { watch(objects.where { $0.barcode == "b\(number)" }) }
        for number in isFull ? 0..<300 : 17..<18 {
            let from = start + Double(number) * 1000
            watch(objects.where { $0.createdOn >= from && $0.createdOn < from + 1000 })
            watch(objects.where { $0.name.contains("№\(number).") })
        }
    }

    private func watch(_ query: Results<Card>) {
        subscriptions.append(
            query.changesetPublisher.on(.immediate).sink { _ in
            } receiveValue: { [deliveries] in
                if !$0.isInitial { deliveries.value.add(1, ordering: .relaxed) }
            })
    }

    func contender(commits: Int) -> Contender {
        Contender(
            name: name, prepare: { self.deliveries.value.store(0, ordering: .relaxed) },
            run: {
                for _ in 0..<commits {
                    self.points += 1
                    let points = BigInt(self.points)
                    try self.store.write { tx in try tx.update(Card.self, localID: self.cardID) { $0.points = points } }
                }
            }, outcome: { "\(self.deliveries.value.load(ordering: .relaxed)) deliveries" })
    }
}
