import Foundation
import Tandem

extension Benchmark {
    /// Inserts 100,000 cards in one transaction, into a store without cards.
    static let insertBulk = Benchmark("insert-bulk") { context in
        let files = try CardFiles(context)
        let cards = files.newCards(context.count(100_000))
        return writing(
            to: files.peopleOnly, files: files,
            tandem: { store in try store.write { tx in try tx.insert(contentsOf: cards) } },
            raw: { try $0.insert(cards) },
            grdb: { try $0.insert(cards) })
    }

    /// Toggles a synced Bool in 10,000 of 100,000 cards, in random order, in one transaction. The cards are synced
    /// before, so each gets an operation with the old value.
    static let updateBulk = Benchmark("update-bulk") { context in
        let files = try CardFiles(context)
        let (path, shuffled) = try files.storeWithCards(context.count(100_000))
        let ids = Array(shuffled.prefix(context.count(10_000)))
        return writing(
            to: path, files: files,
            tandem: { store in
                try store.write { tx in
                    for id in ids { try tx.update(Card.self, localID: id) { $0.isPinned.toggle() } }
                }
            },
            raw: { try $0.flipPins(ids) },
            grdb: { try $0.flipPins(ids) })
    }

    /// Runs 2,000 transactions, each of which inserts one card.
    static let commitSingle = Benchmark("commit-single") { context in
        let files = try CardFiles(context)
        let cards = files.newCards(context.count(2000))
        return writing(
            to: files.peopleOnly, files: files,
            tandem: { store in for card in cards { try store.write { tx in try tx.insert(card) } } },
            raw: { try $0.insertEachAlone(cards) },
            grdb: { try $0.insertEachAlone(cards) })
    }

    /// Creates a contest of writers. Each opens a new copy of a file for each round.
    private static func writing(
        to template: String, files: CardFiles,
        tandem: @escaping (Store) throws -> Void,
        raw: @escaping (RawCards) throws -> Void,
        grdb: @escaping (GRDBCards) throws -> Void
    ) -> Contest {
        func contender<Access>(
            _ name: String, open: @escaping (String) throws -> Access, close: @escaping (Access) throws -> Void,
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
                outcome: { try CardFiles.contents(of: path) })
        }
        return Contest(
            subject: contender(
                "tandem", open: { try Store(at: $0, models: Card.self, Person.self) }, close: { $0.close() },
                run: tandem),
            baselines: [
                contender("raw-sqlite", open: { try RawCards($0) }, close: { $0.close() }, run: raw),
                contender("grdb", open: { try GRDBCards($0) }, close: { try $0.close() }, run: grdb),
            ])
    }
}
