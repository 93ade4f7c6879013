import Foundation
import OpenCombine
import Synchronization
import Tandem
import TandemTesting

/// Commits of one star each against a live query whose order depends on stars.
///
/// The query puts the cards with a star of a person before 90,000 others. The person has 10,000 stars. The baseline
/// renames cards, against the same query without the stars. Each commit moves a card.
///
/// The cost is that of the live query: the median time of a write with it, until its change set is delivered, less the
/// median time without it. Stars and cards take different times to write.
extension Benchmark {
    static let liveInverse = Benchmark("live-inverse") { context in
        let cards = try StarredCards(context)
        let commits = context.isQuick ? 20 : 1000
        return Contest(
            subject: cards.contender("stars", change: .stars, commits: commits),
            baselines: [cards.contender("no-links", change: .names, commits: commits)],
            bounds: context.isQuick ? [:] : ["no-links": 20], notes: { cards.notes })
    }
}

/// A store with cards, of which a tenth have a star of one person, and a writer that moves them.
private final class StarredCards {
    /// The objects that the commits change. The live query uses stars only in the first case.
    enum Change: CaseIterable {
        case stars, names
    }

    private let store: Store
    private let fan: Person
    /// The cards without a star.
    private let ids: [LocalID]
    private var random = SplitMix64(seed: 3)
    private var number = 0
    /// The star that the next commit removes.
    private var star: Star?
    private let inbox = Inbox()
    private var subscription: AnyCancellable?
    private var times: [Change: (watched: [Double], unwatched: [Double])] = [:]
    private var costs: [Change: Double] = [:]

    /// The last result, and the number of deliveries.
    private final class Inbox: Sendable {
        let latest = Mutex<LiveCollection<StarredCard>>(.empty)
        let count = Atomic<Int>(0)

        func take(_ change: ChangeSet<StarredCard>) {
            latest.withLock { $0 = change.results }
            count.add(1, ordering: .relaxed)
        }
    }

    init(_ context: Context) throws {
        var maker = CardMaker()
        let people = maker.people(1000)
        let cards = maker.cards(context.count(100_000), owners: people).map(StarredCard.copy)
        store = try Store(at: context.path("starred"), models: StarredCard.self, Person.self, Star.self)
        let starred = cards.count / 10
        let fan = people[0]
        try store.applyServerObjects(people, version: "1")
        try store.applyServerObjects(cards, version: "1")
        try store.applyServerObjects(
            cards.prefix(starred).map { Star(card: $0.reference, person: fan.reference) }, version: "1")
        self.fan = fan
        ids = cards.dropFirst(starred).map(\.localID)
    }

    deinit {
        subscription?.cancel()
        store.close()
    }

    private func query(_ change: Change) -> Results<StarredCard> {
        let cards = store.objects(StarredCard.self)
        guard change == .stars else { return cards.sorted(by: \.shop) }
        let fan = fan
        return cards.sorted(by: .matchingFirst { $0.stars.any { $0.person == fan } }, .ascending(\.shop))
    }

    func contender(_ name: String, change: Change, commits: Int) -> Contender {
        Contender(
            name: name, run: { try self.run(change, commits: commits) }, cost: { self.costs[change] ?? .nan },
            finish: { self.subscription = nil },
            outcome: {
                let list = self.inbox.latest.withLock { $0 }
                let isRight = try list.localIDs.elementsEqual(self.query(change).all().map(\.localID))
                self.times[change] = nil
                return LiveCards.outcome(isRight)
            })
    }

    private func run(_ change: Change, commits: Int) throws {
        let unwatched = try (0..<commits).map { _ in try write(change) }
        subscription = query(change).changesetPublisher.on(.immediate).sink { _ in
        } receiveValue: { [inbox] in
            inbox.take($0)
        }
        let before = inbox.count.load(ordering: .relaxed)
        let watched = try (0..<commits).map { _ in try write(change) }
        guard inbox.count.load(ordering: .relaxed) == before + commits else {
            throw UsageError(problem: "a commit of live-inverse moved no card")
        }
        // A difference of zero or less has no ratio.
        costs[change] = max(1e-7, watched.median - unwatched.median)
        times[change, default: ([], [])].watched += watched
        times[change, default: ([], [])].unwatched += unwatched
    }

    /// Moves a card. Returns the time of the write in seconds.
    private func write(_ change: Change) throws -> Double {
        number += 1
        let card = ids[Int(random.next() % UInt64(ids.count))]
        let name = "\(CardMaker.shop(&random)) \(number)"
        let start = CommitClock.now
        if change == .names {
            try store.write { tx in try tx.update(StarredCard.self, localID: card) { $0.shop = name } }
        } else if let star {
            _ = try store.write { try $0.delete(star) }
            self.star = nil
        } else {
            star = try store.write { try $0.insert(Star(card: Reference(localID: card), person: fan.reference)) }
        }
        return Double(CommitClock.now - start) * 1e-9
    }

    /// The times of whole writes.
    var notes: [String] {
        Change.allCases.compactMap { change in
            times[change].map { times in
                """
                a write of one of the \(change): \(LiveTimes.text(times.watched.median)) with the live query, \
                \(LiveTimes.text(times.unwatched.median)) without
                """
            }
        }
    }
}
