import Dispatch
import Foundation
import Synchronization
import TandemTestScript
import TandemTesting

@testable import Tandem

/// Runs a history and checks each subscription after each commit.
///
/// `@unchecked Sendable`: only the thread of the run changes the list of watches. If deliveries may write, it does this
/// in a transaction. A watch records a commit inside that commit's transaction, and transactions are serial. The run
/// reads the records when nothing is in progress. Deliveries do not write while another process does.
final class OracleRun: @unchecked Sendable {
    private let history: OracleHistory
    private let folder: TestFolder?
    private let path: String
    private let patience: Double
    private let store: Store
    private var second: Store?
    private var watches: [AnyOracleWatch] = []
    private(set) var tally = OracleTally()
    private var log: [String] = []
    private var isCalm = true
    private let planter: FaultPlanter?
    /// Whether a delivery may write.
    private var hasReactions = false
    private struct Undone: Error {}

    /// - Parameters:
    ///   - planter: Plants a fault.
    ///   - patience: The number of seconds to wait for work in progress.
    init(_ history: OracleHistory, planter: FaultPlanter? = nil, patience: Double = 60) throws {
        self.history = history
        self.planter = planter
        self.patience = patience
        var tuning = history.tuning
        tuning.stopsAtContradictions = planter == nil
        folder = history.isInMemory ? nil : try TestFolder()
        path = folder?.file(Peer.name(history.kind)) ?? ""
        if !history.isInMemory { try OracleTemplates.copy(history.world, history.kind, to: path) }
        store = try history.kind.open(at: path, history.world.schema)
        store.live.tuning = tuning
        tally.note("world \(history.world)")
        tally.note("store \(history.kind)")
    }

    deinit {
        second?.close()
        store.close()
    }

    /// Returns the problems together with the steps, or an empty array.
    func run() throws -> [String] {
        for (index, step) in history.steps.enumerated() {
            try perform(step)
            let isLast = index == history.steps.count - 1
            let problems = isCalm || isLast ? check() : []
            if !problems.isEmpty {
                for watch in watches { watch.cancel(isCalm: false) }
                return problems + ["after"] + log
            }
        }
        for watch in watches {
            tally.note("delivery", watch.deliveries)
            tally.note("merged delivery", watch.merged)
            if !watch.isCancelled { watch.cancel(isCalm: true) }
        }
        // A sequence ends its subscription after its task has seen the cancellation.
        let areGone = stores.allSatisfy { store in
            store.live.waitUntilIdle(store, seconds: patience) { store.live.present.count == 0 }
        }
        if !areGone { return ["a cancelled subscription stays", "after"] + log }
        return watches.flatMap { problems(of: $0, isCalm: false) }
    }

    private var stores: [Store] { [store] + [second].compactMap(\.self) }

    private func secondStore() throws -> Store {
        if let second { return second }
        let other = try history.kind.open(at: path, history.world.schema)
        other.live.tuning = store.live.tuning
        second = other
        return other
    }

    // MARK: Steps

    private func perform(_ step: OracleHistory.Step) throws {
        switch step {
        case .subscribe(let seed):
            let watch = try makeWatch(seed)
            log.append("subscribe \(describe(watch))")
            watch.begin()
        case .commit(let commit): try perform(commit)
        case .ask(let seed):
            log.append("ask")
            var r = SeededGenerator(seed: seed)
            for watch in watches where watch.asking == .rarely && !watch.isCancelled && (seed == 0 || r.chance(60)) {
                watch.ask(r.pick([1, 1, 2]))
            }
        case .cancel(let seed):
            var r = SeededGenerator(seed: seed)
            guard let watch = watches.filter({ !$0.isCancelled }).randomElement(using: &r) else { return }
            log.append("cancel \(watch.number)")
            tally.note("cancel")
            watch.cancel(isCalm: isCalm)
        case .react(let seed): try react(seed)
        }
    }

    private func describe(_ watch: AnyOracleWatch) -> String {
        let suffix = watch.store === store ? "" : " second store"
        return "\(watch.number): \(watch.text) \(watch.delivery) \(watch.asking)\(suffix)"
    }

    private func makeWatch(_ seed: UInt64) throws -> AnyOracleWatch {
        var r = SeededGenerator(seed: seed)
        let isElsewhere = try !history.isInMemory && history.world != .peer && r.chance(15) && secondStore() !== store
        let watch = WatchMaker.random(
            watches.count, history, try isElsewhere ? secondStore() : store, &r, &tally)
        watch.planter = planter
        try withoutReactions { store in
            watch.note(watch.result(in: store))
            watches.append(watch)
        }
        return watch
    }

    private func react(_ seed: UInt64) throws {
        var r = SeededGenerator(seed: seed)
        guard let watch = watches.filter({ !$0.isCancelled }).randomElement(using: &r) else { return }
        // A reaction to another process's commit may write before this run records that commit.
        switch Int.random(in: 0..<(history.world == .peer ? 2 : 3), using: &r) {
        case 0:
            log.append("\(watch.number) will cancel in its next delivery")
            tally.note("cancel in a delivery")
            watch.react { watch.cancel(isCalm: true) }
        case 1:
            let other = try makeWatch(r.next())
            log.append("\(watch.number) will subscribe \(describe(other)) in its next delivery")
            tally.note("subscribe in a delivery")
            watch.react { other.begin() }
        default:
            log.append("\(watch.number) will write in its next delivery")
            tally.note("write in a delivery")
            hasReactions = true
            let act = OracleHistory.Act(kind: r.pick([.insert, .update, .delete]), seed: r.next())
            watch.react { [self] in
                try? watch.store.write { tx in
                    try OracleActor(tx: tx, world: history.world).perform(act)
                    note(tx.store)
                }
            }
        }
    }

    // MARK: Commits

    private func perform(_ commit: OracleHistory.Commit) throws {
        tally.note("commit \(commit.kind)")
        for act in commit.acts { tally.note("change \(act.kind)") }
        log.append("commit \(commit.kind)\(commit.isDrained ? "" : ", not waited for") \(commit.acts.map(\.kind))")
        var r = SeededGenerator(seed: commit.seed)
        let late = try commit.subscribes ? makeWatch(r.next()) : nil
        if let late {
            tally.note("subscribe in a transaction")
            log.append("inside of it subscribe \(describe(late))")
        }
        planter?.prepare(for: commit.kind, of: store)
        @Sendable func act(_ tx: WriteTransaction) throws {
            let actor = OracleActor(tx: tx, world: history.world)
            for (index, act) in commit.acts.enumerated() {
                if index == commit.acts.count / 2 {
                    late?.begin()
                    if index > 0 { try planter?.plantBetweenActs(of: tx) }
                }
                try actor.perform(act)
            }
            if commit.kind == .throwing { throw Undone() }
            note(tx.store)
            planter?.plantAtEnd(of: tx)
        }
        do {
            switch commit.kind {
            case .throwing where planter?.fault == .rolledBackPublished:
                try planter?.writeReportingRollback(to: store, body: act)
            case .plain, .throwing, .fromServer: try store.write(act)
            case .secondStore: try secondStore().write(act)
            case .quiet: try writeQuietly(&r, isDrained: commit.isDrained, but: late, act)
            case .otherThread:
                try DispatchQueue(label: "oracle.writer").sync { _ = try store.write(act) }
            case .async: try writeAsynchronously(act)
            case .otherProcess: try writeElsewhere()
            }
        } catch is Undone {
        } catch let error as TandemError {
            log.append("refused: \(error.code)")
            // The records of a rolled back transaction are wrong, so the current state is recorded again.
            try withoutReactions { note($0) }
        }
        isCalm = commit.isDrained
    }

    /// Calls a function while no delivery can write. Without such deliveries, it needs no transaction, which would also
    /// find the commits of other stores.
    private func withoutReactions(_ body: (Store) -> Void) throws {
        if hasReactions { try store.write { body($0.store) } } else { body(store) }
    }

    private func note(_ store: Store) {
        for watch in watches where !watch.isOver { watch.note(watch.result(in: store)) }
    }

    private func writeQuietly(
        _ r: inout SeededGenerator, isDrained: Bool, but late: AnyOracleWatch?, _ act: (WriteTransaction) throws -> Void
    ) throws {
        // The subscriber must know all that was delivered, so no other value may be in progress.
        if !isCalm { _ = waitUntilDelivered() }
        // A subscription that begins inside the transaction sees the state before it and gets no notification either.
        let candidates = watches.filter { !$0.isCancelled && $0.store === store && $0 !== late }
        guard let watch = candidates.randomElement(using: &r) else { return try store.write(act) }
        log.append("of which \(watch.number) is not notified")
        failures += watches.flatMap { problems(of: $0, isCalm: true) }
        let before = watch.result(in: store)
        var after = before
        let quiet: Set<LiveToken> = planter?.fault == .quietWriteDelivered ? [] : [watch.token]
        try store.write(withoutNotifying: quiet) { tx in
            try act(tx)
            after = watch.result(in: tx.store)
        }
        // A reaction in a delivery may have written already.
        watch.applySilently(before: before, after: after, isDrained: isDrained && !hasReactions)
    }

    /// The failures found between the steps.
    private var failures: [String] = []

    private func writeAsynchronously(_ act: @escaping @Sendable (WriteTransaction) throws -> Void) throws {
        let result = Mutex<Result<Void, any Error>?>(nil)
        let done = DispatchSemaphore(value: 0)
        Task.detached { [store] in
            let outcome: Result<Void, any Error>
            do {
                try await store.write { tx in try act(tx) }
                outcome = .success(())
            } catch {
                outcome = .failure(error)
            }
            result.withLock { $0 = outcome }
            done.signal()
        }
        done.wait()
        try result.withLock { $0 }?.get()
    }

    private func writeElsewhere() throws {
        guard let folder else { return }
        let process = try PeerProcess(["count", path, "1"], in: folder)
        process.wait()
        note(store)
    }

    // MARK: Checking

    private func waitUntilDelivered() -> Bool {
        let watches = watches
        // A write in a delivery of one store is a change for the other.
        while true {
            let commits = stores.map(\.live.lastCommit)
            for store in stores {
                let isSettled = store.live.waitUntilIdle(store, seconds: patience) { watches.allSatisfy(\.isSettled) }
                if !isSettled { return false }
            }
            if commits == stores.map(\.live.lastCommit) { return true }
        }
    }

    private func problems(of watch: AnyOracleWatch, isCalm: Bool) -> [String] {
        watch.problems(isCalm: isCalm).map { "\(describe(watch)): \($0)" }
    }

    /// Compares reads by ID, which may come from memory, with the stored rows.
    private func cacheProblems() -> [String] {
        func problems<M: OracleModel>(_ model: M.Type, _ store: Store) throws -> [String] {
            try store.cacheProblems(model, M.pool)
        }
        do {
            return try stores.flatMap { store in
                try history.world.models.flatMap { try problems($0, store) }
            }
        } catch {
            return ["\(error)"]
        }
    }

    private func check() -> [String] {
        guard waitUntilDelivered() else {
            let stuck = watches.filter { !$0.isSettled }.map(describe)
            return ["it does not come to rest: \(stuck)"]
        }
        isCalm = true
        let found = failures + watches.flatMap { problems(of: $0, isCalm: true) } + cacheProblems()
        failures = []
        return found
    }
}

/// Template stores. Copying them takes less time than creating tables.
private enum OracleTemplates {
    private static let made = Mutex<[WorldKind: [StoreKind: Data]]>([:])

    static func copy(_ world: WorldKind, _ kind: StoreKind, to path: String) throws {
        let data = try made.withLock { made in
            if let data = made[world]?[kind] { return data }
            let store = try kind.open(at: path, world.schema)
            if world == .peer { try store.write { try $0.insert(PeerMark(number: 0).identified(by: PeerMark.id)) } }
            store.close()
            let data = try Data(contentsOf: URL(fileURLWithPath: path))
            made[world, default: [:]][kind] = data
            return data
        }
        try data.write(to: URL(fileURLWithPath: path))
    }
}
