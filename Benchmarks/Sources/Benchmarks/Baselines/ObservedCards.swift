import Dispatch
import Foundation
import GRDB
import Synchronization
import Tandem

/// GRDB's counterpart of a live query: a `ValueObservation` with the same filter and order.
///
/// It observes a copy of the same file, in which a writer changes cards.
///
/// The setup favors GRDB. It reads only row number, sort key and local ID, and no objects. The points are selected,
/// because it would not notice their changes otherwise, but not used. A covering index has the requested order. A
/// custom scheduler delivers each value on the thread that has read it, which is the earliest possible time.
/// (`.immediate` hops to the main queue for all but the first value.)
final class ObservedCards {
    private struct Row: FetchableRecord, Sendable {
        let rowID: Int64
        let key: Data
        let localID: String

        init(row: GRDB.Row) {
            rowID = row[0]
            key = row[1]
            localID = row[2]
        }
    }

    private struct OnTheSpot: ValueObservationScheduler {
        func immediateInitialValue() -> Bool { false }
        func schedule(_ action: @escaping @Sendable () -> Void) { action() }
    }

    private final class Inbox: Sendable {
        private let delivered = Atomic<UInt64>(0)
        let latest = Mutex<[Row]>([])
        let signal = DispatchSemaphore(value: 0)

        func take(_ rows: [Row]) {
            delivered.store(CommitClock.now, ordering: .releasing)
            latest.withLock { $0 = rows }
            signal.signal()
        }

        var time: UInt64 { delivered.load(ordering: .acquiring) }
    }

    private let pool: DatabasePool
    private var rowIDs: [Int64] = []
    private var edits: CardEdits
    private let inbox = Inbox()
    private var observation: AnyDatabaseCancellable?
    private var times = LiveTimes()

    static let query = """
        SELECT "__rid", "__sort_shop", "localID", "points" FROM "Card" WHERE "deleted" = 0 AND "isPinned" = 0 \
        ORDER BY "__sort_shop", "localID"
        """

    init(path: String, count: Int) throws {
        CommitClock.begin
        var configuration = Configuration()
        configuration.foreignKeysEnabled = false
        configuration.prepareDatabase { db in
            try db.execute(
                sql: """
                    PRAGMA temp_store = MEMORY; PRAGMA cache_size = -65536; PRAGMA mmap_size = \(256 << 20); \
                    PRAGMA synchronous = NORMAL
                    """)
        }
        pool = try DatabasePool(path: path, configuration: configuration)
        try pool.write { db in
            try db.execute(
                sql: """
                    CREATE INDEX IF NOT EXISTS "observed" \
                    ON "Card" ("deleted", "isPinned", "__sort_shop", "localID", "points")
                    """)
        }
        CommitClock.attach()
        edits = CardEdits(cards: count)
    }

    private func watch() {
        guard observation == nil else { return }
        observation = ValueObservation.tracking { db in try Row.fetchAll(db, sql: Self.query) }
            .start(in: pool, scheduling: OnTheSpot()) { error in
                fatalError("\(error)")
            } onChange: { [inbox] rows in
                inbox.take(rows)
            }
        inbox.signal.wait()
        rowIDs = inbox.latest.withLock { $0.map(\.rowID) }
    }

    private func commit(_ count: Int) throws {
        times.beginRound()
        for _ in 0..<count {
            let (card, edit) = edits.next()
            let rowID = rowIDs[card]
            try pool.write { db in
                switch edit {
                case .shop(let name):
                    try db.cachedStatement(
                        sql:
                            "UPDATE \"Card\" SET \"shop\" = ?, \"__sort_shop\" = ?, \"__search_shop\" = ? WHERE "
                            + "\"__rid\" = ?"
                    ).execute(
                        arguments: [
                            name, Data(SortLanguage.root.sortKey(name)), Folding.searchKey(name), rowID,
                        ])
                case .points(let points):
                    try db.cachedStatement(sql: "UPDATE \"Card\" SET \"points\" = ? WHERE \"__rid\" = ?")
                        .execute(arguments: [OrderedInteger(value: points), rowID])
                }
            }
            // The first value may arrive twice, the second time late.
            repeat { inbox.signal.wait() } while inbox.time < CommitClock.commit
            times.add(inbox.time - CommitClock.commit, for: edit)
        }
    }

    /// The measurements besides the rounds; empty if there were no rounds.
    var notes: [String] {
        times.round.isEmpty ? [] : ["ValueObservation, after the commit: \(times.description)"]
    }

    func contender(commits: Int) -> Contender {
        Contender(
            name: "value-observation", prepare: { self.watch() }, run: { try self.commit(commits) },
            cost: { self.times.round.median },
            outcome: {
                let list = self.inbox.latest.withLock { $0.map(\.localID) }
                let found = try self.pool.read { try Row.fetchAll($0, sql: Self.query).map(\.localID) }
                self.times.beginAgain()
                return LiveCards.outcome(list == found)
            })
    }

    deinit {
        observation?.cancel()
        try? pool.close()
    }
}
