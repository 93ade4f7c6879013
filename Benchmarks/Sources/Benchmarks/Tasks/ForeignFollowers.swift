import Foundation
import OpenCombine
import Synchronization
import Tandem

/// A store with 100 live queries over 100,000 cards, their waiting subscribers, and two other processes.
///
/// The processes change a card of all queries. The first one uses Tandem, which records its commits. The other one uses
/// SQLite alone, so all queries are read again after its commits. Before Tandem recorded commits, each commit of
/// another process had this effect.
///
/// A commit's cost is the time from the commit to the last delivery. Each query has a thousand cards.
final class ForeignFollowers {
    private static let queryCount = 100

    private let store: Store
    private let processes: [CommitProcess.Way: CommitProcess]
    private let inbox = Inbox()
    private var subscriptions: [AnyCancellable] = []
    private var points = 0
    private var round: [Double] = []

    /// The number of deliveries, and the time of the last one.
    private final class Inbox: Sendable {
        private let state = Mutex((count: 0, time: UInt64(0)))
        private let signal = DispatchSemaphore(value: 0)

        func take() {
            let count = state.withLock { state in
                state = (state.count + 1, CommitClock.now)
                return state.count
            }
            if count == ForeignFollowers.queryCount { signal.signal() }
        }

        func clear() { state.withLock { $0.count = 0 } }

        /// Waits for a delivery to each query, and returns the time of the last one.
        func wait() throws -> UInt64 {
            guard signal.wait(timeout: .now() + 60) == .success else {
                throw UsageError(problem: "a commit of another process was not delivered to all live queries")
            }
            return state.withLock { $0.time }
        }
    }

    init(_ context: Context, files: LiveFiles) throws {
        let path = context.path("foreign-followers")
        try files.files.copy(files.files.peopleOnly, to: path)
        store = try Store(at: path, models: Card.self, Person.self)
        var cards = files.files.newCards(context.isQuick ? 1_000 : 100_000)
        for index in cards.indices { cards[index].barcode = "\(index % Self.queryCount)" }
        cards[0].barcode = "watched"
        let card = cards[0].localID
        try store.write { [cards] tx in try tx.insert(contentsOf: cards) }
        processes = [
            .tandem: try CommitProcess(path, card: card), .sqlite: try CommitProcess(path, card: card, way: .sqlite),
        ]
        for number in 0..<Self.queryCount {
            let query = store.objects(Card.self).where { $0.barcode == "\(number)" || $0.barcode == "watched" }
            let subscription = query.sorted(by: \.shop).changesetPublisher.on(.immediate).sink { _ in
            } receiveValue: { [inbox] _ in
                inbox.take()
            }
            subscriptions.append(subscription)
        }
        _ = try inbox.wait()
    }

    deinit {
        for subscription in subscriptions { subscription.cancel() }
        store.close()
    }

    func contender(_ name: String, way: CommitProcess.Way, commits: Int) -> Contender {
        Contender(
            name: name, run: { try self.commit(commits, way: way) }, cost: { self.round.median },
            outcome: { "\(self.round.count) commits delivered to \(Self.queryCount) queries" })
    }

    private func commit(_ commits: Int, way: CommitProcess.Way) throws {
        round = []
        guard let process = processes[way] else { return }
        for _ in 0..<commits {
            // The store's file watcher is at rest after this time.
            usleep(3000)
            points += 1
            inbox.clear()
            try process.commit(points: points)
            let delivered = try inbox.wait()
            let committed = try process.commitTime()
            round.append(delivered > committed ? Double(delivered - committed) * 1e-9 : 0)
        }
    }
}
