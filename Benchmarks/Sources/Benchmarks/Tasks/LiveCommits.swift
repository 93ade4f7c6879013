import Tandem

/// One-object commits against a live query: the cards that are not pinned, ordered by the folded name, with so many in
/// its result.
///
/// What is measured is the time from the commit to the delivery: from when SQLite has done COMMIT (see ``CommitClock``)
/// to when the subscriber is called with the change set, for both alike. A round's figure is the median of its commits.
/// Two of three commits give a card another name, so that it moves; each third changes its points alone. What a live
/// query costs before the commit, in the transaction, is told by the whole writes in the notes.
///
/// The subject delivers with the immediate scheduler; the baselines `tandem-queue` and `tandem-sequence` are Tandem as
/// well, delivering to a `DispatchQueue` and to an `AsyncSequence`.
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
                subject: cards.contender("tandem", .immediate, commits: commits),
                baselines: [
                    observation.contender(commits: context.isQuick ? 1 : observed),
                    cards.contender("tandem-queue", .queue, commits: commits),
                    cards.contender("tandem-sequence", .sequence, commits: commits),
                ],
                bounds: rows == 100_000 ? ["value-observation": 1 / 500] : [:],
                notes: { observation.notes + (try cards.notes(commits: commits)) })
        }
    }

    /// The same with a million rows, against a thousand.
    static let liveScale = Benchmark("live-scale") { context in
        let files = try LiveFiles(context)
        func contender(_ name: String, rows: Int) throws -> Contender {
            let rows = context.count(rows)
            return try LiveCards(path: try files.store(cards: rows), count: rows)
                .contender(name, .immediate, commits: context.count(1500))
        }
        return Contest(
            subject: try contender("live-1m", rows: 1_000_000), baselines: [try contender("live-1k", rows: 1000)],
            bounds: ["live-1k": 3])
    }
}
