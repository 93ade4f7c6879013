import Foundation
import TandemTesting
import TestSupport
import Testing

@testable import Tandem

/// Random set-based changes and the same changes in a loop. After each step, both stores have the same rows, operations
/// and change sets.
@Suite(.ownThreads) struct SetOracleTests {
    @Test(arguments: StoreKind.allCases)
    func `set-based changes equal those of a loop`(_ kind: StoreKind) throws {
        let dice = Dice.seeded("set-based changes \(kind)")
        for round in 0..<(isSoak ? 60 : kind == .memory ? 8 : 2) {
            let isSound = try TwinStores.with(kind) { twins in
                try run(&twins, Dice(seed: dice.seed &+ UInt64(round)), steps: isSoak ? 300 : 60)
            }
            // The log of the first failing history is enough.
            if !isSound { break }
        }
    }

    private func run(_ twins: inout TwinStores, _ dice: Dice, steps: Int) throws -> Bool {
        var dice = dice
        var log: [String] = []
        try twins.fill(&dice)
        for step in 0..<steps {
            let filter = dice.element(of: WareFilter.allCases)
            let outcomes: (loop: TwinStores.Outcome, set: TwinStores.Outcome)
            if dice.chance(12) {
                log.append("delete \(filter)")
                outcomes = try twins.delete(filter)
            } else {
                let changes = (0...dice.below(3)).map { _ in WareChange.random(&dice, ids: TwinStores.ids) }
                log.append("update \(filter): \(changes)")
                outcomes = try twins.update(filter, changes: Self.withoutRepetitions(changes))
            }
            log.append("-> \(outcomes.loop)")
            var problems = try twins.differences()
            if outcomes.loop != outcomes.set { problems.append("\(outcomes.loop) and \(outcomes.set)") }
            if step % 5 == 4 { problems += try twins.set.checkIntegrity().map { "\($0)" } }
            if problems.isEmpty {
                for _ in 0..<dice.below(4) { try twins.event(&dice) }
                problems = try twins.differences()
            }
            if !problems.isEmpty {
                Issue.record(
                    """
                    seed \(dice.seed), step \(step):
                    \(problems.joined(separator: "\n"))
                    after
                    \(log.suffix(12).joined(separator: "\n"))
                    """)
                return false
            }
        }
        return true
    }

    /// Returns the changes of different properties. In a loop, a second change of a property could see the first one.
    private static func withoutRepetitions(_ changes: [WareChange]) -> [WareChange] {
        var targets: Set<String> = []
        let columns = Ware.Columns()
        return changes.filter { targets.insert($0.assignment(columns).target.propertyName).inserted }
    }

    @Test(arguments: [
        "UPDATE __operations SET changes = NULL WHERE changes IS NOT NULL",
        "UPDATE __operations SET changedAt = changedAt + 1",
        "UPDATE __operations SET kind = 3",
        "UPDATE __operations SET id = id + 1000 WHERE id = (SELECT max(id) FROM __operations)",
        "DELETE FROM __operations WHERE id = (SELECT max(id) FROM __operations)",
        "UPDATE Ware SET synced = 1 WHERE synced = 0",
        "UPDATE Ware SET __sort_name = 'x'", "UPDATE Ware SET __search_name = 'x'", "UPDATE Ware SET note = 'x'",
        "UPDATE Ware SET ratio = CASE ratio WHEN 0 THEN -ratio ELSE 0 END",
        "UPDATE Ware SET rivals = '[]'", "UPDATE Ware SET deleted = 1", "DELETE FROM __unresolved",
    ])
    func `the comparison finds a planted fault`(_ fault: String) throws {
        struct Undone: Error {}
        try TwinStores.with(.memory) { twins in
            var dice = Dice(seed: 5)
            try twins.fill(&dice)
            _ = try twins.update(.all, changes: [.isNew(true), .name("Ёж"), .owner("unknown"), .rivals(["n00"])])
            let problems = try twins.differences()
            #expect(problems == [])
            let sound = try TwinStores.contents(of: twins.set)
            let store = twins.set
            #expect(throws: Undone.self) {
                try store.write { tx in
                    try tx.connection.execute(fault)
                    let damaged = try TwinStores.contents(of: store)
                    #expect(damaged != sound)
                    throw Undone()
                }
            }
        }
    }
}
