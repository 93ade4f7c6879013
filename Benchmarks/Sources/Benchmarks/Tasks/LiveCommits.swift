import Tandem

/// Commits of one object against a live query: the unpinned cards ordered by the folded name, in different numbers.
///
/// The measured time is from the commit to the delivery, for both contenders. It begins at the end of SQLite's COMMIT
/// (see ``CommitClock``). It ends when the subscriber is called with the change set. A round's result is the median of
/// its commits. Two of three commits change a card's name, so that it moves. Each third changes only its points. A live
/// query also has a cost in the transaction, before the commit. The times of whole writes in the notes include it.
///
/// The subject delivers with the immediate scheduler. The baselines `tandem-queue` and `tandem-sequence` are also
/// Tandem, and deliver to a `DispatchQueue` and to an `AsyncSequence`.
extension Benchmark {
    static let live1k = live("live-1k", rows: 1000, commits: 1500, observed: 30)
    static let live10k = live("live-10k", rows: 10_000, commits: 1500, observed: 30)
    static let live100k = live("live-100k", rows: 100_000, commits: 1500, observed: 12)
    static let live1m = live("live-1m", rows: 1_000_000, commits: 1500, observed: 3)

    private static func live(_ name: String, rows: Int, commits: Int, observed: Int) -> Benchmark {
        Benchmark(name) { context in
            let files = try LiveFiles(context)
            let (rows, commits) = (context.count(rows), context.count(commits))
            let cards = try LiveCards(path: try files.store(cards: rows), count: rows)
            let observation = try ObservedCards(path: try files.copy(cards: rows), count: rows)
            return Contest(
                subject: cards.contender("tandem", delivery: .immediate, commits: commits),
                baselines: [
                    observation.contender(commits: context.isQuick ? 1 : observed),
                    cards.contender("tandem-queue", delivery: .queue, commits: commits),
                    cards.contender("tandem-sequence", delivery: .sequence, commits: commits),
                ],
                bounds: rows == 100_000 ? ["value-observation": 1 / 500] : [:],
                notes: { observation.notes + (try cards.notes(commits: commits)) })
        }
    }

    /// The same task with a million rows, against a thousand.
    static let liveScale = Benchmark("live-scale") { context in
        let files = try LiveFiles(context)
        func contender(_ name: String, rows: Int) throws -> Contender {
            let rows = context.count(rows)
            return try LiveCards(path: try files.store(cards: rows), count: rows, seed: 7)
                .contender(name, delivery: .immediate, commits: context.count(1500))
        }
        return Contest(
            subject: try contender("live-1m", rows: 1_000_000), baselines: [try contender("live-1k", rows: 1000)],
            bounds: ["live-1k": 3])
    }
}
