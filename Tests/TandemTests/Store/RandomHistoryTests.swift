import Foundation
import TandemTesting
import TestSupport
import Testing

@testable import Tandem

/// Random histories on a store and on an oracle in plain Swift. After each step both have the same content, and the
/// store's integrity check finds nothing.
@Suite(.ownThreads) struct RandomHistoryTests {
    @Test(arguments: StoreKind.allCases)
    func `a store behaves like the oracle`(_ kind: StoreKind) throws {
        let dice = Dice.seeded("histories \(kind)")
        // Short histories, each on a separate store. A failure shows within a few hundred steps.
        for round in 0..<(isSoak ? 30 : kind == .memory ? 10 : 2) {
            let isSound = try kind.withStore(Node.self) { store in
                var history = RandomHistory(store: store, dice: Dice(seed: dice.seed &+ UInt64(round)))
                return try history.run(steps: isSoak ? 1000 : 250)
            }
            // The log of the first failing history is enough.
            if !isSound { break }
        }
    }
}

struct RandomHistory {
    let store: Store
    var dice: Dice
    var oracle = StoreOracle()
    var log: [String] = []
    var clock = 0
    static let ids = (0..<9).map { LocalID("n\($0)") }

    struct Undone: Error {}

    mutating func run(steps: Int) throws -> Bool {
        for step in 0..<steps {
            oracle.transaction = step
            let before = oracle
            do {
                try store.write { tx in
                    try act(in: tx)
                    if dice.chance(10) { throw Undone() }
                }
            } catch is Undone {
                log.append("undone")
                oracle = before
            }
            // The check reads the whole store, so it runs only often enough to identify the few steps that broke it.
            let problems = try differences() + (step % 5 == 4 ? store.checkIntegrity() : [])
            if !problems.isEmpty {
                Issue.record(
                    """
                    seed \(dice.seed), step \(step):
                    \(problems.joined(separator: "\n"))
                    after
                    \(log.suffix(25).joined(separator: "\n"))
                    """
                )
                return false
            }
        }
        return true
    }

    private mutating func act(in tx: WriteTransaction) throws {
        for _ in 0...dice.below(3) {
            guard dice.chance(15) else {
                try event(in: tx)
                continue
            }
            let before = oracle
            log.append("{")
            do {
                try store.write { inner in
                    try event(in: inner)
                    try event(in: inner)
                    if dice.bool() { throw Undone() }
                }
                log.append("}")
            } catch is Undone {
                log.append("} undone")
                oracle = before
            }
        }
    }

    private mutating func event(in tx: WriteTransaction) throws {
        let store = store
        let id = dice.element(of: Self.ids)
        switch dice.below(19) {
        case 0, 1, 2:
            let node = randomNode(id)
            try both("insert \(text(node))", { try $0.insert(node) }) { try tx.insert(node) }
        case 3, 4, 5:
            guard var node = try store.stored(Node.self, id) else { return }
            vary(&node)
            try both("update \(text(node))", { try $0.update(node) }) { try tx.update(node) }
        case 6:
            let node = randomNode(id)
            try both("upsert \(text(node))", { try $0.upsert(node, only: nil) }) { try tx.upsert(node) }
        case 7:
            let node = randomNode(id)
            let only: Set = ["count", "next", "friends"]
            try both("upsert count, next, friends of \(text(node))", { try $0.upsert(node, only: only) }) {
                try tx.upsert(node, properties: \.count, \.next, \.friends)
            }
        case 8, 9:
            try both("delete \(id)", { try $0.delete(id) }) { try tx.delete(Node.self, localID: id) }
        case 10:
            try both("undelete \(id)", { try $0.undelete(id) }) { try tx.undelete(Node.self, localID: id) }
        case 11, 12, 13, 14:
            let node = randomNode(id)
            let isDeleted = dice.chance(25)
            let item = serverItem(node, isDeleted: isDeleted)
            try both("server sends \(isDeleted ? "tombstone of \(id)" : text(node))", { $0.take(node, isDeleted) }) {
                try tx.sync.applyServerItem(item, in: "Node")
            }
        default:
            guard let operation = try store.operations.all().randomElement(using: &dice) else { return }
            let id = operation.localID
            switch dice.below(13) {
            case 0, 1:
                try both("begin \(id)", { try $0.begin(id) }) { try tx.beginAttempt(operation.id) }
            case 2:
                try both("acknowledge \(id)", { try $0.acknowledge(id) }) {
                    try tx.acknowledge(operation.id, serverID: ServerID(id.rawValue))
                }
            case 3, 4:
                guard var node = try store.stored(Node.self, id) else { return }
                if dice.bool() { vary(&node) }
                let item = serverItem(node)
                let attempt = dice.chance(90) ? operation.attempts : operation.attempts + 1
                var expected: ResponseOutcome?
                try both(
                    "acknowledge attempt \(attempt) of \(id) with \(text(node))",
                    { expected = $0.acknowledge(id, attempt, with: node) }
                ) {
                    let outcome = try tx.sync.acknowledge(operation.id, attempt: attempt, with: item)
                    #expect(outcome == expected)
                }
            case 5:
                let isUnderWay = oracle.objects[id]?.op?.sent != nil
                try both("mark \(id) unknown", { $0.markOutcomeUnknown(id) }) {
                    let isLeft = try tx.sync.markOutcomeUnknown(
                        operation.id, attempt: operation.attempts,
                        error: OperationError(message: "lost", at: .distantPast))
                    #expect(isLeft == isUnderWay)
                }
            case 6:
                try both("hold \(id)", { $0.hold(id) }) { try tx.sync.hold(operation.id) }
            case 7, 8:
                try both("release \(id)", { $0.release(id) }) { try tx.sync.release(operation.id) }
            case 9:
                try both("discard \(id)", { try $0.discard(id) }) { try tx.sync.discard(operation.id) }
            case 10:
                guard var node = try store.stored(Node.self, id) else { return }
                if dice.bool() { vary(&node) }
                let item = serverItem(node, isDeleted: dice.chance(15))
                let servers = Set(["name", "count", "next", "friends"].filter { _ in dice.chance(25) })
                var expected: RebaseOutcome?
                try both(
                    "rebase \(id) onto \(item.isDeleted ? "a tombstone" : text(node)), the server's \(servers)",
                    { expected = try $0.rebase(id, onto: item.isDeleted ? nil : node, servers) }
                ) {
                    let outcome = try tx.sync.rebase(operation.id, onto: item, takingServers: servers) { $1 }
                    #expect(outcome == expected)
                }
            case 11:
                let retry = dice.bool()
                let isUnderWay = oracle.objects[id]?.op?.sent != nil
                try both(
                    "attempt of \(id) fails\(retry ? ", to be retried" : "")", { $0.failAttempt(id, retry: retry) }
                ) {
                    let isNoted = try tx.sync.fail(
                        operation.id, attempt: operation.attempts,
                        with: OperationError(message: "no", at: .distantPast),
                        retry: retry)
                    #expect(isNoted == isUnderWay)
                }
            default:
                let retry = dice.bool()
                try both("fail \(id)\(retry ? ", to be retried" : "")", { $0.fail(id, retry: retry) }) {
                    try tx.fail(operation.id, with: OperationError(message: "no", at: .distantPast), retry: retry)
                }
            }
        }
    }

    /// Does the same on the oracle and on the store. Both must refuse it, or neither.
    private mutating func both<T>(
        _ name: String, _ expected: (inout StoreOracle) throws -> Void, _ real: () throws -> T
    ) throws {
        var refusal: StoreOracle.Refusal?
        let before = oracle
        do {
            try expected(&oracle)
        } catch let error as StoreOracle.Refusal {
            refusal = error
            oracle = before
        }
        log.append(name + (refusal.map { ": \($0.code)" } ?? ""))
        var thrown: (any Error)?
        do { _ = try real() } catch { thrown = error }
        let code = (thrown as? TandemError)?.code
        if let refusal {
            if refusal.code != code {
                log.append("THE STORE SAID \(thrown.map { "\($0)" } ?? "nothing")")
                Issue.record("\(name): \(thrown.map { "\($0)" } ?? "no error") in place of \(refusal.code)")
            }
        } else if let thrown {
            log.append("THE STORE SAID \(thrown)")
            Issue.record("\(name): \(thrown), seed \(dice.seed)")
            throw thrown
        }
    }

    // MARK: Values

    private mutating func randomNode(_ id: LocalID) -> Node {
        var node = Node(localID: id)
        vary(&node, chance: 60)
        return node
    }

    private mutating func vary(_ node: inout Node, chance: Int = 25) {
        func reference() -> Reference<Node>? {
            dice.chance(40) ? nil : Reference(localID: dice.element(of: Self.ids))
        }
        func list() -> [Reference<Node>] {
            (0..<dice.below(4)).map { _ in Reference(localID: dice.element(of: Self.ids)) }
        }
        if dice.chance(chance) { node.name = dice.maybe { $0.element(of: ["лента", "магнит", "Пятёрочка", "a", ""]) } }
        if dice.chance(chance) { node.code = dice.maybe { $0.element(of: ["1", "2", "3", "4", "5", "6"]) } }
        if dice.chance(chance) { node.count = dice.below(3) }
        if dice.chance(chance) { node.note = dice.element(of: ["", "x", "y"]) }
        if dice.chance(chance) { node.next = reference() }
        if dice.chance(chance / 2) { node.parent = reference() }
        if dice.chance(chance / 4) { node.keeper = reference() }
        if dice.chance(chance) { node.friends = list() }
        if dice.chance(chance / 4) { node.owners = list() }
        if dice.chance(chance / 8) { node.anchors = list() }
    }

    /// Returns a server's item, newer than all earlier ones.
    private mutating func serverItem(_ node: Node, isDeleted: Bool = false) -> ServerItem {
        clock += 1
        return ServerItem(
            serverID: ServerID(node.localID.rawValue), version: "\(clock)",
            updatedAt: Date(timeIntervalSinceReferenceDate: Double(clock)), isDeleted: isDeleted,
            values: isDeleted ? [:] : StoreOracle.values(node), source: [UInt8](node.localID.rawValue.utf8))
    }

    private func text(_ node: Node) -> String {
        "\(node.localID) \(node.name ?? "nil") \(node.code ?? "nil") \(node.count) "
            + StoreOracle.links.map { "\($0)=\(node.ids($0))" }.joined(separator: " ")
    }
}
