import BigInt
import Foundation
import OpenCombine
import Synchronization
import Tandem

/// The time from a commit of another process to the delivery of its change set.
///
/// It is measured with an idle store, and with a store whose own writer commits without pause. The baseline is a
/// connection that reads the changed value each millisecond.
///
/// Each commit is requested a moment after the previous one was noticed, so that the store is at rest. A round's cost
/// is the median. The notes have the 99th percentile of all rounds. A quick run fails if it exceeds ``limit``.
/// `Scripts/bench.sh --check` therefore guards this time, because tests assert nothing about time.
///
/// `100-queries` compares a recorded commit with one after which all live queries are read again: see
/// ``ForeignFollowers``.
extension Benchmark {
    static let liveForeign = Benchmark("live-foreign") { context in
        let files = try LiveFiles(context)
        let commits = context.isQuick ? 25 : 100
        func contest(_ name: String, isBusy: Bool) throws -> (Contest, ForeignNotices) {
            let notices = try ForeignNotices(context, files: files, name: name, isBusy: isBusy)
            let contest = Contest(
                subject: notices.contender(name, way: .live, commits: commits),
                baselines: [notices.contender("read-each-ms", way: .polling, commits: commits)])
            return (contest, notices)
        }
        let (idle, idleNotices) = try contest("idle", isBusy: false)
        let (busy, busyNotices) = try contest("busy-writer", isBusy: true)
        let followers = try ForeignFollowers(context, files: files)
        let following = Contest(
            subject: followers.contender("100-queries", way: .tandem, commits: context.isQuick ? 5 : 10),
            baselines: [followers.contender("read-again", way: .sqlite, commits: context.isQuick ? 5 : 10)],
            bounds: context.isQuick ? [:] : ["read-again": 0.05])
        var both = idle
        both.beside = [busy, following]
        both.notes = {
            let all = [("idle", idleNotices), ("with a busy writer", busyNotices)]
            for (name, notices) in all where context.isQuick && notices.worst > ForeignNotices.limit {
                throw TooLate(name: name, seconds: notices.worst)
            }
            return all.map { "\($0): \($1.description)" }
        }
        return both
    }
}

/// An error: commits of another process were noticed too late.
private struct TooLate: Error, CustomStringConvertible {
    let name: String
    let seconds: Double

    var description: String {
        "live-foreign, \(name): p99 is \(LiveTimes.text(seconds)), above \(LiveTimes.text(ForeignNotices.limit))"
    }
}

/// A store with a live query on one card, another process that changes the card, and the waiting subscriber.
private final class ForeignNotices {
    enum Way { case live, polling }

    /// The time limit for noticing another process's commit, in seconds.
    static let limit = 0.1

    private let path: String
    private let isBusy: Bool
    private let store: Store
    private let card: LocalID
    /// The card that the store's own writer changes.
    private let other: LocalID
    private let process: CommitProcess
    private let inbox = Inbox()
    private var subscription: AnyCancellable?
    private var poller: RawConnection?
    private var points = 0
    private var round: [Double] = []
    /// The times of the live query in all rounds.
    private var times: [Double] = []

    /// The last noticed value and its time.
    private final class Inbox: Sendable {
        let points = Atomic<Int>(0)
        let time = Atomic<UInt64>(0)
        let signal = DispatchSemaphore(value: 0)

        func take(_ points: Int) {
            time.store(CommitClock.now, ordering: .releasing)
            self.points.store(points, ordering: .releasing)
            signal.signal()
        }
    }

    init(_ context: Context, files: LiveFiles, name: String, isBusy: Bool) throws {
        self.isBusy = isBusy
        path = context.path("foreign-\(name)")
        try files.files.copy(files.files.peopleOnly, to: path)
        store = try Store(at: path, models: Card.self, Person.self)
        var cards = files.files.newCards(1000)
        cards[0].barcode = "watched"
        try store.write { tx in try tx.insert(contentsOf: cards) }
        (card, other) = (cards[0].localID, cards[1].localID)
        process = try CommitProcess(path, card: card)
    }

    deinit {
        subscription?.cancel()
        poller?.close()
        store.close()
    }

    var worst: Double { times.percentile(0.99) }

    var description: String {
        """
        \(times.count) commits of another process, noticed after \(LiveTimes.text(times.median)) (p99 \
        \(LiveTimes.text(worst)), \(worst <= Self.limit ? "within" : "above") \(LiveTimes.text(Self.limit)))
        """
    }

    func contender(_ name: String, way: Way, commits: Int) -> Contender {
        Contender(
            name: name, prepare: { try self.begin(way) },
            run: {
                self.round = []
                try self.whileWriting { try self.wait(way, commits: commits) }
                if way == .live { self.times += self.round }
            },
            cost: { self.round.median },
            finish: { self.end() },
            outcome: { "\(self.round.count) commits noticed" })
    }

    private func begin(_ way: Way) throws {
        guard way == .live else {
            poller = try RawConnection(path, readOnly: true, cacheKiB: 2048)
            return
        }
        subscription = store.objects(Card.self).where { $0.barcode == "watched" }.changesetPublisher.on(.immediate)
            .sink { _ in
            } receiveValue: { [inbox] change in
                if !change.isInitial, let card = change.results.first { inbox.take(Int(card.points)) }
            }
    }

    private func end() {
        subscription?.cancel()
        subscription = nil
        poller?.close()
        poller = nil
    }

    /// Runs a block while the store's own writer commits, if the contest requires that.
    private func whileWriting(_ body: () throws -> Void) throws {
        guard isBusy else { return try body() }
        let isOver = Flag()
        let failure = Failure()
        let done = DispatchSemaphore(value: 0)
        Thread { [store, other] in
            var points = 0
            while !isOver.value.load(ordering: .acquiring) {
                points += 1
                do {
                    try store.write { tx in try tx.update(Card.self, localID: other) { $0.points = BigInt(points) } }
                } catch {
                    failure.error.withLock { $0 = error }
                    break
                }
                // Releases the lock to other processes: SQLite does not queue for it.
                usleep(200)
            }
            done.signal()
        }.start()
        defer {
            isOver.value.store(true, ordering: .releasing)
            done.wait()
        }
        try body()
        if let error = failure.error.withLock({ $0 }) { throw error }
    }

    private func wait(_ way: Way, commits: Int) throws {
        let statement = try poller?.prepare("SELECT \"points\" FROM \"Card\" WHERE \"barcode\" = 'watched'")
        defer { statement?.finalize() }
        for _ in 0..<commits {
            // The store's file watcher is at rest after this time.
            usleep(3000)
            points += 1
            try process.commit(points: points)
            if let statement {
                while try read(statement) != points { usleep(1000) }
                inbox.time.store(CommitClock.now, ordering: .releasing)
            } else {
                while inbox.points.load(ordering: .acquiring) != points {
                    guard inbox.signal.wait(timeout: .now() + 60) == .success else {
                        throw UsageError(problem: "a commit of another process was never noticed")
                    }
                }
            }
            let noticed = inbox.time.load(ordering: .acquiring)
            let committed = try process.commitTime()
            // The subscriber may notice the commit before the process records its time.
            round.append(noticed > committed ? Double(noticed - committed) * 1e-9 : 0)
        }
    }

    private func read(_ statement: RawStatement) throws -> Int {
        defer { statement.reset() }
        guard try statement.step() else { return -1 }
        return Int(RawInteger.get(statement.bytes(0)))
    }
}

private final class Flag: Sendable {
    let value = Atomic<Bool>(false)
}

private final class Failure: Sendable {
    let error = Mutex<(any Error)?>(nil)
}
