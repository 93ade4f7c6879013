import Foundation
import Synchronization
import TandemTesting
import Testing

@testable import Tandem
@testable import TandemTestScript

/// A store that notices external commits as the live engine does.
final class CommitWatch: Sendable {
    struct Sight {
        let time: UInt64
        /// The number of people in the store.
        let people: Int
    }

    private struct State {
        var version: StorageValue?
        var sights: [Sight] = []
        var checks = 0
    }

    let store: Store
    private let state = Mutex(State())
    private let watcher = Mutex<ExternalCommitMonitor?>(nil)
    var commits: ExternalCommitMonitor { watcher.withLock { $0! } }

    init(
        _ path: String, kind: StoreKind? = nil, readOnly: Bool = false,
        makeChanges: @escaping FileChangesMaker = systemFileChanges,
        onSight: @escaping @Sendable (CommitWatch) -> Void = { _ in }
    ) throws {
        store = try Peer.open(path, kind, readOnly: readOnly)
        try check()
        state.withLock { $0.sights = [] }
        let commits = ExternalCommitMonitor(path: path, makeChanges: makeChanges) { [weak self] in
            guard let self else { return .unknown }
            state.withLock { $0.checks += 1 }
            do {
                let (foreign, isNew) = try check()
                if isNew { onSight(self) }
                return foreign
            } catch {
                return .unknown
            }
        }
        watcher.withLock { $0 = commits }
    }

    deinit { watcher.withLock { $0 }?.stop() }

    @discardableResult
    private func check() throws -> (ExternalTransactions, isNew: Bool) {
        try store.writer.queue.unsafeReentrantWrite { _ in
            let connection = store.writer.connection
            let foreign = connection.externalTransactions
            return (foreign, try note(connection))
        }
    }

    private func note(_ connection: Connection) throws -> Bool {
        let version = try connection.value("PRAGMA data_version")
        guard state.withLock({ $0.version != version }) else { return false }
        guard case .integer(let people)? = try connection.value("SELECT count(*) FROM \"PeerPerson\"") else {
            return false
        }
        let sight = Sight(time: PeerClock.now, people: Int(people))
        state.withLock {
            $0.version = version
            $0.sights.append(sight)
        }
        return true
    }

    /// Writes as the live engine does: checks under the lock and reports the write.
    func write(_ name: String) throws {
        try store.write { tx in
            _ = try note(store.writer.connection)
            commits.recordOwnWrite()
            _ = try tx.insert(PeerPerson(name: name))
        }
        commits.recordOwnCommit()
    }

    var checks: Int { state.withLock { $0.checks } }
    var sights: [Sight] { state.withLock { $0.sights } }
    var people: Int { sights.last?.people ?? 0 }

    /// Waits until a condition is true, for at most ten seconds.
    func wait(until condition: () -> Bool) -> Bool {
        for _ in 0..<5000 {
            if condition() { return true }
            usleep(2000)
        }
        return condition()
    }

    /// Waits until no check has been made for a while.
    func waitForQuiet() {
        var last = -1
        while checks != last || last < 1 {
            last = checks
            usleep(150_000)
        }
    }

    /// Returns the time in milliseconds until each commit that a peer printed was noticed, or `nil` if it was not.
    /// Prints the median and the maximum.
    func latencies(of peer: PeerProcess, base: Int = 0, _ test: String) -> [Double?] {
        let commits = peer.lines.filter { $0.hasPrefix("commit ") }.map { $0.split(separator: " ") }
        let all = commits.map { words -> Double? in
            guard let sight = sights.first(where: { $0.people >= base + Int(words[1])! }) else { return nil }
            // A commit may be noticed before the writer prints it.
            return max(0, Double(sight.time) - Double(words[2])!) / 1e6
        }
        let known = all.compactMap { $0 }.sorted()
        if let worst = known.last {
            print("\(test): \(all.count) commits, ms to notice: median \(known[known.count / 2]), worst \(worst)")
        }
        return all
    }
}
