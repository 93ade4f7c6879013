import Foundation
import Tandem
import TandemDatasync
import TandemSync

extension Benchmark {
    static let sync: [Benchmark] = [.push, .pull100k, .syncIdle]

    /// Pushes 2,000 new cards to a server that responds after 5 ms: 8 requests in flight, or one at a time.
    static let push = Benchmark("push") { context in
        let server = try ServerProcess(cards: 0, latency: 5)
        let count = context.count(2000)
        func contender(_ name: String, inFlight: Int) -> Contender {
            let store = SyncedStore(context.path("push-\(inFlight)"))
            return Contender(
                name: name,
                prepare: {
                    var options = SyncContext.Options()
                    options.inFlight = inFlight
                    try store.open(server.url, options: options)
                    // The cards are new in each round, since the server keeps those of earlier rounds.
                    let cards = WireCards.cards(count)
                    try store.opened.store.write { tx in try tx.insert(contentsOf: cards) }
                },
                run: {
                    let sync = try store.opened.sync
                    let result = try blocking { try await sync.push() }
                    guard result.isComplete else { throw UsageError(problem: "\(result)") }
                },
                finish: { store.close() },
                outcome: {
                    let store = try store.opened.store
                    return
                        "\(try store.objects(Card.self).count()) cards, \(try store.operations.count()) to send"
                })
        }
        return Contest(
            subject: contender("8-in-flight", inFlight: 8), baselines: [contender("1-in-flight", inFlight: 1)],
            bounds: ["1-in-flight": 0.2])
    }

    /// Pulls 100,000 cards from a server in pages of 100. The baseline inserts the same cards in transactions of 100.
    ///
    /// Tandem's own cost of a pull is measured over recorded responses, without a server and a socket. It is compared
    /// with SQLite alone. The warm-up records SQLite's work in the pull, with all statements and values. The recording
    /// is replayed on the connection of another new store.
    static let pull100k = Benchmark("pull-100k") { context in
        OpenConnections.begin
        let count = context.count(100_000)
        let server = try ServerProcess(cards: count)
        let cards = WireCards.cards(count)
        let recorded = RecordedTransport(try AsyncHTTPTransport())
        let tape = StatementTape()
        let costs = PullCosts(objects: count)

        func contender(
            _ name: String, over transport: RecordedTransport? = nil, _ run: @escaping (SyncedStore) throws -> Void
        ) -> Contender {
            let store = SyncedStore(context.path("pull-\(name)"))
            return Contender(
                name: name,
                prepare: { try store.open(server.url, over: transport) },
                run: { try run(store) },
                finish: { store.close() },
                outcome: { try store.contents() })
        }
        func pull(_ store: SyncedStore) throws {
            let sync = try store.opened.sync
            _ = try blocking { try await sync.pull(Card.self, queryID: "all") }
        }
        let insert = contender("insert") { store in
            let store = try store.opened.store
            for start in stride(from: 0, to: count, by: 100) {
                try store.write { tx in try tx.insert(contentsOf: cards[start..<min(start + 100, count)]) }
            }
        }
        let own = contender("pull-recorded", over: recorded) { store in
            guard tape.isEmpty else { return costs.notePull(seconds: try ProcessTime.measure { try pull(store) }) }
            // The warm-up records the responses, the memory, and SQLite's work.
            try pull(store)
            try store.open(server.url, over: recorded)
            costs.held = try recorded.held { try pull(store) }
            try store.open(server.url, over: recorded)
            tape.begin(try store.writer)
            try pull(store)
            tape.end(try store.writer)
        }
        let replay = contender("sqlite-alone") { store in
            costs.noteReplay(seconds: try tape.run(on: store.writer), statements: tape.count)
        }
        return Contest(
            subject: contender("pull", pull), baselines: [insert], bounds: ["insert": 1.3],
            notes: { costs.notes },
            beside: [
                Contest(
                    subject: own.measuringProcessTime(), baselines: [replay, insert].map { $0.measuringProcessTime() })
            ])
    }

    /// Runs 100 syncs of two tables without changes. The baseline is one request for each table.
    ///
    /// The cards are an hour old. Each pull repeats items that are newer than the overlap in which a server may commit
    /// late.
    static let syncIdle = Benchmark("sync-idle") { context in
        CommitClock.begin
        let server = try ServerProcess(cards: context.count(1000), age: 3600)
        let syncs = context.count(100)
        let store = SyncedStore(context.path("idle"))
        let counter = CountingTransport(try AsyncHTTPTransport())
        try store.open(server.url, over: counter)
        let (sync, remote) = (try store.opened.sync, try store.opened.remote)
        _ = try blocking { try await sync.synchronize() }
        CommitClock.attach()
        let (asked, committed) = (counter.count, CommitClock.commit)
        _ = try blocking { try await sync.synchronize() }
        let said = """
            a sync with nothing to do costs \(counter.count - asked) requests for 2 tables, and \
            \(CommitClock.commit == committed ? "no" : "A") commit
            """
        return Contest(
            subject: Contender(
                name: "synchronize", run: { for _ in 0..<syncs { _ = try blocking { try await sync.synchronize() } } },
                outcome: { "\(syncs) times" }),
            baselines: [
                Contender(
                    name: "bare-requests",
                    run: {
                        for _ in 0..<syncs {
                            try blocking {
                                for table in ["Card", "Person"] as [RemoteTableName] {
                                    _ = try await remote.page(
                                        PageRequest(
                                            table: table,
                                            order: .updatedAt(from: WireTimestamp("2099-01-01T00:00:00Z")),
                                            top: 100, includeDeleted: true))
                                }
                            }
                        }
                    }, outcome: { "\(syncs) times" })
            ],
            notes: {
                store.close()
                // Keeps the server running until here.
                return withExtendedLifetime(server) { [said] }
            })
    }
}
