import BigInt
import Foundation
import GRDB
import TandemTestScript
import TandemTesting
import Testing

@testable import Tandem

/// A store with live queries, and another store of the same file, whose commits the first one follows.
final class ObservedPair {
    let folder: TestFolder
    let path: String
    let kind: StoreKind
    let store: Store
    let other: Store
    private var checks: [(SourceLocation) throws -> Void] = []

    /// Creates both stores. The log is not empty, so that its position is known.
    init(_ kind: StoreKind, tuning: LiveTuning = LiveTuning(), isReadOnly: Bool = false) throws {
        self.kind = kind
        var tuning = tuning
        tuning.observerInterval = 0
        folder = try TestFolder()
        path = folder.file(kind)
        other = try kind.open(at: path, Self.models)
        other.live.tuning = tuning
        try other.write { tx in
            let ada = try tx.insert(Person(name: "Ада"))
            for index in 0..<20 {
                try tx.insert(
                    Card(
                        shop: "Лента \(index)", barcode: "\(index)", points: BigInt(index),
                        owner: index.isMultiple(of: 2) ? ada.reference : nil))
            }
        }
        var configuration = Store.Configuration()
        configuration.isReadOnly = isReadOnly
        store = try kind.open(at: path, Self.models, configuration: configuration)
        store.live.tuning = tuning
    }

    deinit {
        store.close()
        other.close()
    }

    private static var models: [any Model.Type] { [Badge.self, Person.self, Card.self] }

    var cards: Results<Card> { store.objects(Card.self) }

    /// Follows lists, a count, a sum, and queries of folded texts and through references.
    func watchAll() {
        watch(cards.sorted(by: \.shop))
        watch(cards.where { $0.points > 5 }.sorted(by: \.points).limit(4))
        watch(cards.where { $0.owner.name == "Ада" }.sorted(by: \.barcode))
        watch(cards.where { $0.shop.folded.hasPrefix("ЛЕНТА 1") }.sorted(by: \.shop, ascending: false))
        watch(cards.where { $0.points > 7 }.countPublisher) {
            try $0.objects(Card.self).where { $0.points > 7 }.count()
        }
        watch(cards.where { $0.points < 9 }.publisher(of: .sum(\.points))) {
            try $0.objects(Card.self).where { $0.points < 9 }.sum(of: \.points)
        }
        waitUntilDelivered()
    }

    /// Follows a query by applying its change sets to an array.
    func watch(_ query: Results<Card>) {
        let follower = Follower(query)
        checks.append { _ = try follower.next(sourceLocation: $0) }
    }

    /// Follows a value.
    func watch<Value: Equatable & Sendable>(_ publisher: LivePublisher<Value>, fresh: @escaping (Store) throws -> Value)
    {
        let recorder = publisher.on(.immediate).record()
        checks.append { [store] location in
            let now = try fresh(store)
            #expect(recorder.values.last == now, sourceLocation: location)
        }
    }

    /// Waits until all commits are noticed and delivered.
    func waitUntilDelivered() {
        #expect(store.live.waitUntilIdle(store))
    }

    /// Checks the values of all live queries.
    func check(sourceLocation: SourceLocation = #_sourceLocation) throws {
        waitUntilDelivered()
        for check in checks { try check(sourceLocation) }
    }

    /// The number of times that the live queries were read.
    var loads: Int {
        waitUntilDelivered()
        return store.live.present.map(\.loads).reduce(0, +)
    }

    /// Runs commits of others while the store with the live queries can't check for them. It then sees them together.
    func unnoticed(_ body: () throws -> Void) throws {
        try store.writer.queue.unsafeReentrantWrite { _ in try body() }
    }

    /// Changes the points of a card.
    func setPoints(_ barcode: String, _ points: Int, in store: Store? = nil) throws {
        let store = store ?? other
        try store.write { tx in
            try tx.update(tx.objects(Card.self).where { $0.barcode == barcode }) { $0.points = BigInt(points) }
        }
    }

    /// Changes points as a program without Tandem does.
    func setPointsWithoutTandem(_ barcode: String, _ points: Int) throws {
        let connection = try DatabaseQueue(path: path)
        var bytes: [UInt8] = []
        OrderedBigInt.append(BigInt(points), to: &bytes)
        try connection.write { db in
            try db.execute(
                sql: "UPDATE \"Card\" SET \"points\" = ? WHERE \"barcode\" = ?", arguments: [Data(bytes), barcode])
        }
        try connection.close()
    }

    /// The number of recorded commits, or `nil` without their table.
    func recordedCommits(in store: Store? = nil) throws -> StorageValue? {
        let store = store ?? other
        guard try !store.sql("SELECT 1 FROM sqlite_master WHERE name = '__recent_commits'").isEmpty else { return nil }
        return try store.sql("SELECT count(*) FROM \"__recent_commits\"")[0][0]
    }

    /// Lets SQLite begin the log again with the next commit.
    func emptyLog() throws {
        try other.writer.queue.unsafeReentrantWrite { _ in
            _ = try other.writer.connection.value("PRAGMA wal_checkpoint(TRUNCATE)")
        }
    }
}
