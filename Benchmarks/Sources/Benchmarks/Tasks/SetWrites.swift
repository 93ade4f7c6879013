import Tandem

extension Benchmark {
    /// Toggles a synced Bool in 10,000 of 100,000 cards by one set-based update, as `update-bulk` does in a loop. It
    /// queues the operations in the order of the local IDs, and the baseline in a random order. The second subject
    /// toggles a flag that is not sent, against the same baseline.
    static let updateBulkSet = Benchmark("update-bulk-set") { context in
        let files = try CardFiles(context)
        let (path, shuffled) = try files.storeWithCards(context.count(100_000))
        let ids = Array(shuffled.prefix(context.count(10_000)))
        let flagged = try files.flaggedCopy(of: path)
        func makeContest(
            _ name: String, from template: String, bound: Double, models: [any Model.Type],
            outcome: @escaping (String) throws -> String, run: @escaping (Store) throws -> Void
        ) -> Contest {
            Contest(
                subject: updating(
                    name, from: template, files: files, open: { try Store(at: $0, models: models) },
                    close: { $0.close() }, outcome: outcome, run: run),
                baselines: [
                    updating(
                        "raw-sqlite", from: path, files: files, open: { try RawCards($0) }, close: { $0.close() },
                        outcome: outcome, run: { try $0.flipPins(ids) })
                ],
                bounds: ["raw-sqlite": bound])
        }
        var contest = makeContest(
            "tandem", from: path, bound: 0.45, models: [Card.self, Person.self],
            outcome: { try CardFiles.contents(of: $0, inOrder: false) },
            run: { store in
                _ = try store.write { tx in
                    try tx.update(
                        tx.objects(Card.self).where { $0.localID.in(ids) },
                        set: { [$0.isPinned.set(to: !$0.isPinned)] })
                }
            })
        contest.beside = [
            makeContest(
                "tandem-local-only", from: flagged, bound: 0.2, models: [FlaggedCard.self, Person.self],
                outcome: { try CardFiles.pins(of: $0) },
                run: { store in
                    _ = try store.write { tx in
                        try tx.update(
                            tx.objects(FlaggedCard.self).where { $0.localID.in(ids) },
                            set: { [$0.isPinned.set(to: !$0.isPinned)] })
                    }
                })
        ]
        return contest
    }

    /// Creates a contender that opens a new copy of a file for each round.
    private static func updating<Access>(
        _ name: String, from template: String, files: CardFiles, open: @escaping (String) throws -> Access,
        close: @escaping (Access) throws -> Void, outcome: @escaping (String) throws -> String,
        run: @escaping (Access) throws -> Void
    ) -> Contender {
        let path = files.context.path(name)
        var access: Access?
        return Contender(
            name: name,
            prepare: {
                try files.copy(template, to: path)
                access = try open(path)
            },
            run: { try run(access!) },
            finish: {
                try close(access!)
                access = nil
            },
            outcome: { try outcome(path) })
    }
}
