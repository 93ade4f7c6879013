import Foundation
import GRDBSQLite
import Synchronization
import TandemTesting
import TestSupport
import Testing

@testable import Tandem

/// Long lists that two connections read.
@Suite(.ownThreads) struct DividedReadingTests {
    /// Divides the lists of the tests.
    private let threads = TwoThreads(leastRows: 100)
    /// A query that takes minutes.
    private static let slowSQL =
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 2000000000) SELECT max(i) FROM n"

    @Test(arguments: StoreKind.allCases)
    func `two connections read a long list`(_ kind: StoreKind) throws {
        try kind.withStore(Card.self, Person.self, Badge.self) { store in
            store.live.tuning.threads = threads
            let cards = try store.write { tx in
                try (0..<400).map { try tx.insert(Card(shop: "Лента \($0 * 37 % 400)", barcode: "\($0)", points: 1)) }
            }
            try store.write { tx in for card in cards[150..<250] { try tx.delete(card) } }
            let query = store.cards.where { $0.points > 0 }.sorted(by: \.shop)
            let recorder = query.changesetPublisher.on(.immediate).record()
            let expected = try query.all()
            #expect(recorder.values.last.map { Array($0.results) } == expected && expected.count == 300)
            #expect(store.readers.map { $0.made == 2 } ?? true)
            // Later changes find the rows of both halves.
            try store.write { tx in
                for card in [cards[1], cards[399]] { try tx.update(Card.self, localID: card.localID) { $0.shop = "Ы" } }
            }
            #expect(recorder.values.last.map { Array($0.results) } == (try query.all()))
            #expect(recorder.values.last?.moves.count == 2)
            recorder.cancel()
        }
    }

    @Test func `a short list needs one connection`() throws {
        let folder = try TemporaryFolder()
        let store = try Store(at: folder.path(of: "a.tandem"), models: Card.self, Person.self, Badge.self)
        store.live.tuning.threads = threads
        try store.write { tx in for number in 0..<10 { try tx.insert(Card(shop: "А", barcode: "\(number)")) } }
        let recorder = store.cards.changesetPublisher.on(.immediate).record()
        #expect(recorder.values.last?.results.count == 10 && store.readers?.made == 1)
        recorder.cancel()
    }

    /// With a condition on the rowid, SQLite would not use these indexes.
    @Test func `a list that an index finds is read by one connection`() throws {
        let folder = try TemporaryFolder()
        let store = try Store(at: folder.path(of: "a.tandem"), models: Card.self, Person.self, Badge.self)
        store.live.tuning.threads = threads
        try store.write { tx in for number in 0..<400 { try tx.insert(Card(shop: "Лента", barcode: "\(number)")) } }
        let cards = store.cards
        func read(_ cards: Results<Card>) -> Int? {
            let recorder = cards.changesetPublisher.on(.immediate).record()
            defer { recorder.cancel() }
            return recorder.values.last?.results.count
        }
        #expect(read(cards.where { $0.barcode >= "39" }) == 77 && store.readers?.made == 1)
        #expect(read(cards.where { $0.barcode == "7" }) == 1 && store.readers?.made == 1)
        #expect(read(cards.distinct(by: \.shop)) == 1 && store.readers?.made == 1)
        // Joined rows are found by their IDs, in each half.
        let joined = cards.where { $0.points == 0 }.sorted(by: \.owner.name)
        #expect(read(joined) == 400 && store.readers?.made == 2)
    }

    @Test(.timeLimit(.minutes(2))) func `stopping the first connection stops the second one`() throws {
        let folder = try TemporaryFolder()
        let store = try Store(at: folder.path(of: "a.tandem"), models: Card.self, Person.self, Badge.self)
        try store.live.read(store) { snapshot in
            let used = try snapshot.withSecondConnection { second in
                snapshot.connection.mustStop.isSet = true
                #expect(throws: (any Error).self) { try second.value(Self.slowSQL) }
                return second
            }
            snapshot.connection.mustStop.isSet = false
            // The pool lends it to others.
            #expect(try #require(used).otherMustStop == nil)
        }
    }

    /// Reads 400 rows with two threads. One of them finds an error in its half, and the other one needs minutes.
    @Test(
        .timeLimit(.minutes(2)), .enabled(if: ProcessInfo.processInfo.activeProcessorCount > 1),
        arguments: [(slow: 1, wrong: 390), (slow: 390, wrong: 1)])
    func `an error in one half stops the other half`(slow: Int64, wrong: Int64) throws {
        struct Wrong: Error {}
        let folder = try TemporaryFolder()
        let store = try Store(at: folder.path(of: "a.tandem"), models: Card.self, Person.self, Badge.self)
        try store.write { tx in for number in 0..<400 { try tx.insert(Card(shop: "А", barcode: "\(number)")) } }
        let slowCode = Mutex(SQLITE_OK)
        let maker = RowMaker(
            columns: { "\(alias: $1.alias).\"__rid\"" }, width: 1,
            append: { statement, position, _, _ in
                if position.rowID == wrong { throw Wrong() }
                guard position.rowID == slow else { return }
                let code = sqlite3_exec(sqlite3_db_handle(statement.handle), Self.slowSQL, nil, nil, nil)
                slowCode.withLock { $0 = code }
            }, comparison: { { _, _ in true } })
        let query = store.cards.query
        let reading = RowReading(maker: maker, section: nil, order: RowOrder(query.order))
        try store.live.read(store) { snapshot in
            #expect(throws: Wrong.self) { try reading.rows(query, in: snapshot, threads: threads) }
            #expect(slowCode.withLock { $0 } == SQLITE_INTERRUPT)
            #expect(!snapshot.connection.mustStop.isSet && store.readers?.made == 2)
        }
    }

    @Test func `a second connection is not used after a commit`() throws {
        let folder = try TemporaryFolder()
        let models: [any Model.Type] = [Card.self, Person.self, Badge.self]
        let store = try Store(at: folder.path(of: "a.tandem"), models: models)
        let other = try Store(at: folder.path(of: "a.tandem"), models: models)
        for writer in [store, other] {
            try store.live.read(store) { snapshot in
                func count() throws -> Int? {
                    try snapshot.withSecondConnection {
                        try $0.count(#"SELECT count(*) FROM "Card""#)
                    }
                }
                let before = try #require(try count())
                #expect(try count() == before)
                _ = try writer.insert("А")
                #expect(try count() == nil)
            }
        }
    }

    @Test(arguments: [[150], [390], [150, 390]])
    func `an error in either half ends the query`(rows: [Int]) throws {
        let folder = try TemporaryFolder()
        let store = try Store(at: folder.path(of: "a.tandem"), models: EveryColumn.self)
        store.live.tuning.threads = threads
        try store.write { tx in
            for number in 0..<400 { try tx.insert(EveryColumn(name: "\(number)")) }
            for row in rows {
                try tx.connection.execute(#"UPDATE "EveryColumn" SET "uuid" = X'00' WHERE "__rid" = \#(row)"#)
            }
        }
        let recorder = store.objects(EveryColumn.self).changesetPublisher.on(.immediate).record()
        #expect(recorder.error?.code == .invalidValue && recorder.values.isEmpty)
        // The connections are used again.
        #expect(try store.objects(EveryColumn.self).count() == 400)
        #expect(store.readers?.made == 2)
    }
}
