import Foundation
import TandemTesting

@testable import Tandem

/// Two stores with the same history. One changes many objects in loops, the other one by set-based changes. Their
/// tables must stay equal.
struct TwinStores {
    /// The store that changes objects one by one.
    let loop: Store
    /// The store that changes objects together.
    let set: Store
    private let changes: [Recorder<ChangeSet<Ware>>]
    private var compared = 0

    static let ids = (0..<16).map { LocalID("n\(String(format: "%02d", $0))") }

    /// A clock with a constant time, so that both stores record the same times.
    static var configuration: Store.Configuration {
        var configuration = Store.Configuration()
        configuration.now = { Date(timeIntervalSinceReferenceDate: 800_000_000) }
        return configuration
    }

    /// Opens both stores for the duration of a block.
    static func with<T>(_ kind: StoreKind, body: (inout TwinStores) throws -> T) throws -> T {
        try kind.withStore(Ware.self, configuration: configuration) { loop in
            try kind.withStore(Ware.self, configuration: configuration) { set in
                var twins = TwinStores(loop: loop, set: set)
                return try body(&twins)
            }
        }
    }

    private init(loop: Store, set: Store) {
        self.loop = loop
        self.set = set
        changes = [loop, set].map { store in
            store.objects(Ware.self).where { $0.count > 0 }.sorted(by: \.name).changesetPublisher.on(.immediate)
                .record()
        }
    }

    /// Runs the same block on both stores.
    func both(_ body: (Store) throws -> Void) rethrows {
        try body(loop)
        try body(set)
    }

    // MARK: Changes

    /// The result of a change: the number of objects, or the code of the error.
    enum Outcome: Equatable {
        case count(Int)
        case error(TandemError.Code)
    }

    /// Changes the objects of a query in both stores, each in a transaction with other changes.
    func update(_ filter: WareFilter, changes: [WareChange]) throws -> (loop: Outcome, set: Outcome) {
        let looped = try changing(loop) { tx in
            let ids = try filter.results(in: loop).localIDs()
            for id in ids {
                try tx.update(Ware.self, localID: id) { ware in
                    let before = ware
                    for change in changes { try change.apply(to: &ware, before: before, in: tx) }
                }
            }
            return ids.count
        }
        let together = try changing(set) { tx in
            try tx.update(filter.results(in: set), set: { ware in changes.map { $0.assignment(ware) } })
        }
        return (looped, together)
    }

    /// Deletes the objects of a query in both stores.
    func delete(_ filter: WareFilter) throws -> (loop: Outcome, set: Outcome) {
        let looped = try changing(loop) { tx in
            try filter.results(in: loop).localIDs().reduce(0) { count, id in
                try tx.delete(Ware.self, localID: id) ? count + 1 : count
            }
        }
        let together = try changing(set) { tx in try tx.delete(filter.results(in: set)) }
        return (looped, together)
    }

    /// Runs a change between other changes of the same transaction. An error undoes only the change.
    private func changing(_ store: Store, change: (WriteTransaction) throws -> Int) throws -> Outcome {
        try store.write { tx in
            let first = try tx.objects(Ware.self).first()
            if let first { try tx.update(first) { $0.name += "ж" } }
            var outcome: Outcome
            do {
                // Only the loop needs a block of its own.
                outcome = .count(try store === loop ? store.write { try change($0) } : change(tx))
            } catch let error as TandemError {
                outcome = .error(error.code)
            }
            if let first { try tx.updateUnlessDeleted(first.localID, { $0.amount += 1 }) }
            return outcome
        }
    }

    // MARK: Comparing

    /// Returns all rows of all tables except the settings and the search index, as sorted text.
    static func contents(of store: Store) throws -> [String] {
        try rows(of: store).flatMap { table, rows in
            rows.flatMap { row, count in repeatElement("\(table): \(row.values)", count: count) }
        }.sorted()
    }

    /// Returns the rows of these tables with the number of their occurrences.
    private static func rows(of store: Store) throws -> [String: [SQLRow: Int]] {
        let tables = try store.sql(
            """
            SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE '\\_\\_search%' ESCAPE '\\' \
            AND name NOT IN ('__settings', '__schema') ORDER BY name
            """
        ).compactMap { $0[0].string }
        var rows: [String: [SQLRow: Int]] = [:]
        for table in tables {
            for row in try store.sql("SELECT * FROM \(table.quotedSQL)") {
                rows[table, default: [:]][row, default: 0] += 1
            }
        }
        return rows
    }

    /// Returns the differences between the stores since the last call.
    mutating func differences() throws -> [String] {
        var problems: [String] = []
        if try Self.rows(of: loop) != Self.rows(of: set) {
            let (looped, together) = (try Self.contents(of: loop), try Self.contents(of: set))
            problems = together.difference(from: looped).map { change in
                switch change {
                case .insert(_, let line, _): "set only: \(line)"
                case .remove(_, let line, _): "loop only: \(line)"
                }
            }
        }
        let delivered = changes.map(\.values)
        if delivered[0].count == delivered[1].count {
            for (looped, together) in zip(delivered[0], delivered[1]).dropFirst(compared) {
                if !Self.areEqual(looped, together) { problems.append("the change sets differ") }
            }
        } else {
            problems.append("\(delivered[0].count) change sets of the loop, \(delivered[1].count) of the set")
        }
        compared = delivered[0].count
        return problems
    }

    private static func areEqual(_ lhs: ChangeSet<Ware>, _ rhs: ChangeSet<Ware>) -> Bool {
        lhs.deletions == rhs.deletions && lhs.insertions == rhs.insertions && lhs.modifications == rhs.modifications
            && lhs.moves == rhs.moves && Array(lhs.results) == Array(rhs.results)
    }
}

extension WriteTransaction {
    /// Updates an object if it exists and is not deleted.
    fileprivate func updateUnlessDeleted(_ localID: LocalID, _ change: (inout Ware) -> Void) throws {
        guard try object(ofType: Ware.self, forPrimaryKey: localID) != nil else { return }
        try update(Ware.self, localID: localID) { change(&$0) }
    }
}

// MARK: The history

extension TwinStores {
    /// Inserts random wares into both stores, some of which a server knows.
    func fill(_ dice: inout Dice) throws {
        var wares: [Ware] = []
        for (index, id) in Self.ids.enumerated() {
            var ware = Ware(name: dice.element(of: ["Ёж", "ежевика", "Яблоко", "apple", "b"])).identified(by: id)
            ware.code = dice.chance(50) ? "own\(index)" : nil
            ware.aisle = dice.chance(30) ? 1 : nil
            ware.rank = index
            ware.count = dice.below(4)
            ware.small = dice.maybe { Int8($0.below(100)) }
            ware.ratio = dice.element(of: Dice.doubles)
            ware.isNew = dice.bool()
            ware.size = dice.maybe { WareSize(width: $0.below(2), marks: ["a", "b", "c"]) }
            if index > 0 {
                ware.owner = dice.maybe { Reference(localID: Self.ids[$0.below(index)]) }
                ware.parent = dice.chance(15) ? Reference(localID: Self.ids[dice.below(index)]) : nil
                ware.keeper = dice.chance(8) ? Reference(localID: Self.ids[dice.below(index)]) : nil
                ware.rivals = dice.list { Reference(localID: Self.ids[$0.below(index)]) }
            }
            wares.append(ware)
        }
        let received = Set(Self.ids.filter { _ in dice.bool() })
        try both { store in
            for ware in wares {
                if received.contains(ware.localID) {
                    try store.applyServerObjects([ware], version: "v1")
                } else {
                    try store.write { _ = try $0.insert(ware) }
                }
            }
        }
    }

    /// Sends, or fails to send, a random operation of both stores. Or it inserts or restores an object.
    func event(_ dice: inout Dice) throws {
        let number = dice.below(100)
        switch dice.below(6) {
        case 0:
            let ware = Ware(name: "ё\(number)").identified(by: LocalID("m\(number)"))
            try both { store in
                try store.write { tx in
                    guard try store.stored(Ware.self, ware.localID) == nil else { return }
                    try tx.insert(ware)
                }
            }
        case 1:
            try both { store in
                try store.write { tx in
                    let deleted = try tx.objects(Ware.self).onlyDeleted().all()
                    if !deleted.isEmpty { _ = try? tx.undelete(deleted[number % deleted.count]) }
                }
            }
        default:
            let event = dice.below(3)
            try both { store in
                let operations = try store.operations.all()
                guard !operations.isEmpty else { return }
                let operation = operations[number % operations.count]
                let isUnsent = try store.stored(Ware.self, operation.localID)?.serverID == nil
                // An event that does not suit the operation changes neither store.
                try? store.write { tx in
                    if operation.state != .attempted { try tx.beginAttempt(operation.id) }
                    switch event {
                    case 0: break
                    case 1:
                        try tx.acknowledge(
                            operation.id, serverID: isUnsent ? ServerID("s-\(operation.localID)") : nil,
                            version: "v\(number)")
                    default:
                        let error = OperationError(
                            status: 400, message: "no", at: Date(timeIntervalSinceReferenceDate: 1))
                        try tx.fail(operation.id, with: error, retry: number.isMultiple(of: 2))
                    }
                }
            }
        }
    }
}
