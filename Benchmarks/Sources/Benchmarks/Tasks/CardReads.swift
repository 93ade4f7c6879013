import Foundation
import Tandem

extension Benchmark {
    /// Reads 100,000 cards by their local IDs in random order, all in one read block.
    static let pointRead = Benchmark("point-read") { context in
        let cards = try ReadCards(context)
        return cards.tallying(
            tandem: { store, ids, tally in
                try store.read { tx in
                    for id in ids {
                        if let card = try tx.object(ofType: Card.self, forPrimaryKey: id) { tally.add(card) }
                    }
                }
            },
            raw: { try $0.readInOneTransaction($1, counting: &$2) },
            grdb: { $2 = try $0.readInOneTransaction($1) })
    }

    /// Reads 100,000 cards by their local IDs in random order, each by its own call.
    static let pointReadSingle = Benchmark("point-read-single") { context in
        let cards = try ReadCards(context)
        return cards.tallying(
            tandem: { store, ids, tally in
                for id in ids {
                    if let card = try store.object(ofType: Card.self, forPrimaryKey: id) { tally.add(card) }
                }
            },
            raw: { try $0.readEachAlone($1, counting: &$2) },
            grdb: { $2 = try $0.readEachAlone($1) })
    }

    /// Reads 10,000 cards ten times each by their local IDs in random order.
    ///
    /// The reads are single calls, or all in one read block. After the first round, all cards come from the cache of
    /// objects.
    static let pointReadWarm = Benchmark("point-read-warm") { context in
        let cards = try ReadCards(context, count: 10_000, times: 10)
        var single = cards.contest("single-calls", bound: 0.25) { store, ids, tally in
            for id in ids {
                if let card = try store.object(ofType: Card.self, forPrimaryKey: id) { tally.add(card) }
            }
        } raw: {
            try $0.readEachAlone($1, counting: &$2)
        }
        single.beside = [
            cards.contest("one-block", bound: 0.15) { store, ids, tally in
                try store.read { tx in
                    for id in ids {
                        if let card = try tx.object(ofType: Card.self, forPrimaryKey: id) { tally.add(card) }
                    }
                }
            } raw: {
                try $0.readInOneTransaction($1, counting: &$2)
            }
        ]
        return single
    }

    /// Reads all 100,000 cards into an array, ordered by local ID. Freeing them is not timed.
    static let readAll = Benchmark("read-all") { context in
        let cards = try ReadCards(context)
        func contender<Value: CardFields>(_ name: String, _ read: @escaping () throws -> [Value]) -> Contender {
            var values: [Value] = []
            return Contender(
                name: name, run: { values = try read() }, finish: { values = [] },
                outcome: {
                    var tally = Tally()
                    for value in values { tally.add(value) }
                    return tally.outcome
                })
        }
        return Contest(
            subject: contender("tandem") { try cards.store.objects(Card.self).all() },
            baselines: [
                contender("raw-sqlite") { try cards.raw.all() },
                contender("grdb") { try cards.grdb.all() },
            ])
    }
}

/// A store with cards, open in all three ways.
private struct ReadCards {
    let store: Store
    let raw: RawCards
    let grdb: GRDBCards
    let ids: [LocalID]

    /// - Parameters:
    ///   - count: The number of cards.
    ///   - times: The number of reads of each card.
    init(_ context: Context, count: Int = 100_000, times: Int = 1) throws {
        let (path, ids) = try CardFiles(context).storeWithCards(context.count(count))
        var random = SplitMix64(seed: 11)
        self.ids = times == 1 ? ids : Array(repeatElement(ids, count: times).joined()).shuffled(using: &random)
        store = try Store(at: path, models: Card.self, Person.self)
        raw = try RawCards(path, readOnly: true)
        grdb = try GRDBCards(path)
    }

    /// Compares Tandem with SQLite alone.
    func contest(
        _ name: String, bound: Double, tandem: @escaping (Store, [LocalID], inout Tally) throws -> Void,
        raw: @escaping (RawCards, [LocalID], inout Tally) throws -> Void
    ) -> Contest {
        Contest(
            subject: contender("tandem-\(name)") { try tandem(self.store, self.ids, &$0) },
            baselines: [contender("raw-sqlite") { try raw(self.raw, self.ids, &$0) }],
            bounds: ["raw-sqlite": bound])
    }

    private func contender(_ name: String, _ read: @escaping (inout Tally) throws -> Void) -> Contender {
        var tally = Tally()
        return Contender(
            name: name, prepare: { tally = Tally() }, run: { try read(&tally) }, outcome: { tally.outcome })
    }

    func tallying(
        tandem: @escaping (Store, [LocalID], inout Tally) throws -> Void,
        raw: @escaping (RawCards, [LocalID], inout Tally) throws -> Void,
        grdb: @escaping (GRDBCards, [LocalID], inout Tally) throws -> Void
    ) -> Contest {
        Contest(
            subject: contender("tandem") { try tandem(self.store, ids, &$0) },
            baselines: [
                contender("raw-sqlite") { try raw(self.raw, ids, &$0) },
                contender("grdb") { try grdb(self.grdb, ids, &$0) },
            ])
    }
}
