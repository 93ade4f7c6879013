import Foundation
import Tandem
import TandemSync

/// The push and pull of 10,000 cards with Kinto on PostgreSQL, against kinto-http, Kinto's own Python client. Without
/// Kinto's packages there are no such tasks.
extension Benchmark {
    static let kinto: [Benchmark] = KintoServerProcess.python == nil ? [] : [kintoPush, kintoPull]

    /// Pushes new cards to empty collections. The baseline `kinto-http` creates the same cards in batches of the same
    /// size. The baseline `prepared-requests` sends these batches one after another over one connection, encoded in
    /// advance. Its time is the least of a client that does so.
    private static let kintoPush = Benchmark("kinto-push") { context in
        let server = try KintoServerProcess()
        let cards = WireCards.cards(context.count(10_000))
        let file = context.folder + "/cards.jsonl"
        try writeLines(cards, to: file)
        let store = SyncedStore(context.path("kinto-push"))
        var bucket = ""
        let subject = Contender(
            name: "tandem",
            prepare: {
                bucket = try server.createBucket()
                try store.open(server.url, bucket: bucket)
                try store.opened.store.write { tx in try tx.insert(contentsOf: cards) }
            },
            run: {
                let sync = try store.opened.sync
                let result = try blocking { try await sync.push() }
                guard result.isComplete else { throw UsageError(problem: "\(result)") }
            },
            finish: {
                store.close()
                try server.deleteBucket(bucket)
            },
            outcome: { try server.contents(of: bucket) })
        func baseline(_ name: String, command: String) -> Contender {
            var seconds = 0.0
            return Contender(
                name: name,
                prepare: { bucket = try server.createBucket() },
                run: { seconds = try number(try server.run(command, server.url.absoluteString, bucket, file)) },
                cost: { seconds },
                finish: { try server.deleteBucket(bucket) },
                outcome: { try server.contents(of: bucket) })
        }
        return Contest(
            subject: subject,
            baselines: [baseline("kinto-http", command: "push"), baseline("prepared-requests", command: "send")],
            bounds: ["kinto-http": 0.8])
    }

    /// Pulls the cards into an empty store. The baseline is kinto-http's `get_records`, whose records Python writes to
    /// a SQLite table with an index.
    private static let kintoPull = Benchmark("kinto-pull") { context in
        let server = try KintoServerProcess()
        let file = context.folder + "/cards.jsonl"
        try writeLines(WireCards.cards(context.count(10_000)), to: file)
        let bucket = try server.createBucket()
        _ = try server.run("push", server.url.absoluteString, bucket, file)
        let store = SyncedStore(context.path("kinto-pull"))
        let subject = Contender(
            name: "tandem",
            prepare: { try store.open(server.url, bucket: bucket) },
            run: {
                let sync = try store.opened.sync
                _ = try blocking { try await sync.pull(Card.self, queryID: "all") }
            },
            finish: { store.close() },
            outcome: { try store.contents() })
        let database = context.folder + "/kinto-http.sqlite"
        var printed = ""
        let baseline = Contender(
            name: "kinto-http",
            prepare: {
                for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: database + suffix) }
            },
            run: { printed = try server.run("pull", server.url.absoluteString, bucket, database) },
            cost: { (try? number(String(printed.prefix { $0 != "\t" }))) ?? .nan },
            outcome: { String(printed.drop { $0 != "\t" }.dropFirst()) })
        return Contest(subject: subject, baselines: [baseline], bounds: [baseline.name: 1.0])
    }

    private static func number(_ text: String) throws -> Double {
        guard let number = Double(text) else { throw UsageError(problem: "bench.py printed: \(text)") }
        return number
    }

    /// Writes cards for the Python client, a JSON object on each line.
    private static func writeLines(_ cards: [Card], to path: String) throws {
        var lines = Data()
        for card in cards { lines += try WireCards.json(card) + [0x0A] }
        try lines.write(to: URL(fileURLWithPath: path))
    }
}
