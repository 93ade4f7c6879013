import Foundation
import TandemTesting
import Testing

@testable import Tandem

/// Random histories on a store and on an oracle in plain Swift: after each step both hold the same, and the store finds
/// nothing wrong with itself.
@Suite struct RandomHistoryTests {
    @Test(arguments: StoreKind.allCases)
    func aStoreHoldsWhatItsRulesSay(_ kind: StoreKind) throws {
        let isSoak = ProcessInfo.processInfo.environment["TANDEM_SOAK"] == "1"
        let dice = Dice.seeded("histories \(kind)")
        // Short histories, each on a store of its own: what fails is found within a few hundred steps.
        for round in 0..<(isSoak ? 30 : kind == .memory ? 10 : 2) {
            let isSound = try kind.withStore(Node.self) { store in
                var history = RandomHistory(store: store, dice: Dice(seed: dice.seed &+ UInt64(round)))
                return try history.run(steps: isSoak ? 1000 : 250)
            }
            // The log of the first one that fails tells enough.
            if !isSound { break }
        }
    }
}

struct RandomHistory {
    let store: Store
    var dice: Dice
    var oracle = StoreOracle()
    var log: [String] = []
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
            // The check reads the whole store: often enough to tell which few steps broke it.
            let problems = try differences() + (step % 5 == 4 ? store.checkIntegrity() : [])
            if !problems.isEmpty {
                Issue.record(
                    "seed \(dice.seed), step \(step):\n\(problems.joined(separator: "\n"))\nafter\n\(log.suffix(25).joined(separator: "\n"))"
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
        switch dice.below(16) {
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
            try both("delete \(id)", { try $0.delete(id) }) { try tx.delete(Node.self, id) }
        case 10:
            try both("undelete \(id)", { try $0.undelete(id) }) { try tx.undelete(Node.self, id) }
        case 11:
            // An object that no server can know would be another one than the server's.
            if let there = oracle.objects[id], !there.hasServerID, there.op?.attempts ?? 0 == 0 { return }
            let node = randomNode(id)
            try both("receive \(text(node))", { try $0.receive(node) }) {
                try store.write(from: .server) {
                    try $0.upsert(node.received(serverID: ServerID(id.rawValue), version: "v"))
                }
            }
        case 12:
            try both("server deletes \(id)", { try $0.serverDelete(id) }) {
                try store.write(from: .server) { try $0.delete(Node.self, id) }
            }
        default:
            guard let operation = try store.operations.all().randomElement(using: &dice) else { return }
            let id = operation.localID
            switch dice.below(4) {
            case 0, 1:
                try both("begin \(id)", { $0.begin(id) }) { try tx.beginAttempt(operation.id) }
            case 2:
                try both("acknowledge \(id)", { try $0.acknowledge(id) }) {
                    try tx.acknowledge(operation.id, serverID: ServerID(id.rawValue))
                }
            default:
                let retry = dice.bool()
                try both("fail \(id)\(retry ? ", to be retried" : "")", { $0.fail(id, retry: retry) }) {
                    try tx.fail(operation.id, OperationError(message: "no", at: .distantPast), retry: retry)
                }
            }
        }
    }

    /// Does the same on the oracle and on the store; both must refuse it, or neither.
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

    private func text(_ node: Node) -> String {
        "\(node.localID) \(node.name ?? "nil") \(node.code ?? "nil") \(node.count) "
            + StoreOracle.links.map { "\($0)=\(node.ids($0))" }.joined(separator: " ")
    }

    // MARK: Comparing

    private func differences() throws -> [String] {
        var problems: [String] = []
        func compare<T: Equatable>(_ id: LocalID, _ what: String, _ stored: T, _ expected: T) {
            if stored != expected { problems.append("\(id) \(what): \(stored), expected \(expected)") }
        }
        var waiting: [String: [WaitingEntry]] = [:]
        for row in try store.sql(
            """
            SELECT n.localID, u."column", u.position, u.id FROM __unresolved u JOIN Node n ON n.__rid = u.object \
            ORDER BY u.position
            """)
        {
            guard case .text(let id) = row[0], case .text(let column) = row[1], case .integer(let position) = row[2],
                case .text(let target) = row[3]
            else { continue }
            waiting["\(id).\(column)", default: []].append(WaitingEntry(position: Int(position), id: LocalID(target)))
        }
        let operations = Dictionary(
            uniqueKeysWithValues: try store.operations.all().enumerated().map { ($1.localID, ($0, $1)) })
        var queued: [(Int, Int)] = []
        for id in Self.ids {
            let stored = try store.stored(Node.self, id)
            guard let stored, let expected = oracle.objects[id] else {
                compare(id, "is there", stored != nil, oracle.objects[id] != nil)
                continue
            }
            compare(id, "name", stored.name, expected.name)
            compare(id, "code", stored.code, expected.code)
            compare(id, "count", stored.count, expected.count)
            compare(id, "note", stored.note, expected.note)
            compare(id, "deleted", stored.isDeleted, expected.isDeleted)
            compare(id, "server ID", stored.serverID, expected.hasServerID ? ServerID(id.rawValue) : nil)
            compare(id, "synced", stored.isSynced, expected.op == nil && expected.hasServerID)
            for link in StoreOracle.links {
                compare(id, link, stored.ids(link), expected.links[link]!.visible)
                compare(id, "\(link) waits", waiting["\(id).\(link)"] ?? [], expected.links[link]!.waiting)
            }
            guard let (place, operation) = operations[id], let op = expected.op else {
                compare(id, "has an operation", operations[id] != nil, expected.op != nil)
                continue
            }
            queued.append((place, op.queued))
            compare(id, "operation", operation.kind, op.kind)
            compare(id, "state", operation.state, op.state)
            compare(id, "attempts", operation.attempts, op.attempts)
            compare(id, "bases", operation.base, op.changes)
            compare(id, "sent", operation.sent, op.sent ?? [:])
            compare(id, "replaced", operation.replaced, op.replaced)
        }
        queued.sort { $0.0 < $1.0 }
        if queued.map(\.1) != queued.map(\.1).sorted() {
            problems.append("the queue is not in the order of first changes")
        }
        return problems
    }
}
