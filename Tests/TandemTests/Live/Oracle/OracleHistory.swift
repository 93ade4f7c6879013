import TandemTestScript
import TandemTesting

@testable import Tandem

/// A kind of change inside a transaction.
enum ActKind: String, CaseIterable, Sendable {
    case insert, update, updateNothing, updateAndBack, delete, upsert, upsertSome, bulkInsert, bulkUpdate, bulkDelete
    case undelete, serverUpsert, serverDelete, beginAttempt, acknowledge, failOperation, nested, nestedThrows
    case importValues, replace

    /// The change of a server that corresponds to this one. Not random, so that a seed keeps its history.
    var ofServer: ActKind {
        switch self {
        case .delete, .bulkDelete, .serverDelete: .serverDelete
        default: .serverUpsert
        }
    }
}

/// A kind of transaction.
enum CommitKind: String, CaseIterable, Sendable {
    case plain, throwing, quiet, secondStore, otherThread, async, fromServer, otherProcess
}

/// The models of a history.
enum WorldKind: String, CaseIterable, Sendable {
    case things, nodes, every, slips, peer

    var models: [any OracleModel.Type] {
        switch self {
        case .things: [Thing.self, Owner.self, Tag.self]
        case .nodes: [Node.self]
        case .every: [EveryType.self]
        case .slips: [Slip.self]
        case .peer: [PeerPerson.self]
        }
    }

    /// The models of the store.
    var schema: [any Model.Type] {
        switch self {
        case .things: [Thing.self, Owner.self, Tag.self]
        case .nodes: [Node.self, Memo.self]
        case .every: [EveryType.self]
        case .slips: [Slip.self]
        case .peer: [PeerCard.self, PeerPerson.self, PeerMark.self]
        }
    }
}

/// A plan as plain data. Each part has its own seed, so that other parts can be left out.
struct OracleHistory: Sendable {
    struct Act: Sendable {
        var kind: ActKind
        var seed: UInt64
    }

    struct Commit: Sendable {
        var kind: CommitKind
        var acts: [Act]
        /// Whether all values are delivered and checked before the next step.
        var isDrained: Bool
        /// Whether a subscription begins inside the transaction.
        var subscribes: Bool
        var seed: UInt64
    }

    enum Step: Sendable {
        case subscribe(UInt64)
        case commit(Commit)
        case ask(UInt64)
        case cancel(UInt64)
        /// The next delivery cancels, subscribes or writes.
        case react(UInt64)
    }

    let seed: UInt64
    let world: WorldKind
    let kind: StoreKind
    var isInMemory: Bool { kind == .memory }
    var tuning = LiveTuning()
    /// Whether a folded text is sectioned by its first letter.
    let dividesByLetter: Bool
    /// Whether all queries filter or sort by lists of references or inverse links.
    let followsLinks: Bool
    var steps: [Step] = []

    init(seed: UInt64) {
        self.seed = seed
        var r = SeededGenerator(seed: seed)
        world = r.chance(1) ? .peer : r.pick([.things, .things, .things, .nodes, .nodes, .every, .slips])
        let isInMemory = world != .peer && r.chance(60)
        // Not random, so that a seed of the corpus keeps its history.
        kind = isInMemory ? .memory : [.file, .file, .encrypted, .sqlCipher][Int(seed % 4)]
        tuning.bulkLimit = r.chance(30) ? 6 : 10_000
        tuning.joinedLimit = r.chance(20) ? 3 : 2_000
        tuning.leastReserve = r.pick([0, 1, 2, 32])
        // Not random either. The corpus has none of these seeds.
        dividesByLetter = [2, 7].contains(seed % 8)
        followsLinks = [5, 6, 9].contains(seed % 14)
        tuning.resolvingLimit = seed % 5 == 1 ? 40 : 200_000
        // The commits of a second store are recorded always, or sometimes, and with all rows or not.
        tuning.observerInterval = seed % 4 == 3 ? 1_000_000 : 0
        tuning.recordedRows = seed % 7 == 1 ? 2 : 256
        // Two connections read tables with more than ten rows.
        if seed % 3 == 1 { tuning.threads = TwoThreads(leastRows: 10) }
        steps.append(.commit(commit(&r, kind: .plain, acts: (0..<4).map { _ in .bulkInsert })))
        for _ in 0..<Int.random(in: 2...4, using: &r) { steps.append(.subscribe(r.next())) }
        for _ in 0..<Int.random(in: 3...8, using: &r) {
            switch Int.random(in: 0..<12, using: &r) {
            case 0: steps.append(.subscribe(r.next()))
            case 1: steps.append(.cancel(r.next()))
            case 2, 3: steps.append(.ask(r.next()))
            case 4: steps.append(.react(r.next()))
            default: break
            }
            steps.append(.commit(commit(&r, kind: kind(&r), acts: acts(&r))))
        }
        steps.append(.ask(0))
    }

    private func kind(_ r: inout SeededGenerator) -> CommitKind {
        if world == .peer { return r.chance(50) ? .otherProcess : .plain }
        switch Int.random(in: 0..<20, using: &r) {
        case 0, 1: return .throwing
        case 2, 3: return .quiet
        case 4, 5: return isInMemory ? .plain : .secondStore
        case 6: return .otherThread
        case 7: return .async
        case 8: return .fromServer
        default: return .plain
        }
    }

    private func acts(_ r: inout SeededGenerator) -> [ActKind] {
        (0..<r.pick([1, 1, 1, 2, 3, 5])).map { _ in
            world == .slips && r.chance(40) ? .replace : r.pick(Self.frequent)
        }
    }

    private static let frequent: [ActKind] =
        ActKind.allCases.filter { $0 != .replace } + [.insert, .insert, .update, .update, .update, .delete, .undelete]

    private func commit(_ r: inout SeededGenerator, kind: CommitKind, acts: [ActKind]) -> Commit {
        Commit(
            kind: kind, acts: acts.map { Act(kind: kind == .fromServer ? $0.ofServer : $0, seed: r.next()) },
            isDrained: r.chance(75), subscribes: r.chance(4), seed: r.next())
    }

    /// Returns this history without some steps.
    func without(_ range: Range<Int>) -> OracleHistory {
        var shorter = self
        shorter.steps.removeSubrange(range)
        return shorter
    }

    var text: String {
        let lines = steps.map { step in
            switch step {
            case .subscribe(let seed): "subscribe \(seed)"
            case .ask(let seed): "ask \(seed)"
            case .cancel(let seed): "cancel \(seed)"
            case .react(let seed): "react \(seed)"
            case .commit(let commit):
                "commit \(commit.kind)\(commit.isDrained ? "" : ", not waited for") \(commit.acts.map(\.kind))"
            }
        }
        return "\(world) in \(kind), \(tuning)\n" + lines.joined(separator: "\n")
    }
}
