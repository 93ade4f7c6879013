import Foundation
import TandemTesting
import TestSupport
import Testing

@testable import Tandem

@Suite("Row predicate", .ownThreads)
struct RowPredicateTests {
    static let seed = SeededGenerator.seed(from: "TANDEM_SEED")

    @Test func `random predicates agree with SQL`() throws {
        print("random row predicates: TANDEM_SEED=\(Self.seed)")
        var random = SeededGenerator(seed: Self.seed)
        var asked = 0
        for round in 0..<4 {
            let world = QueryWorld(&random, count: 100)
            let store = try world.makeStore()
            for number in 0..<300 {
                let (query, text) = world.query(&random)
                let message = "seed \(Self.seed), round \(round), query \(number): \(text)"
                if try agrees(Thing.self, query, store, message) { asked += 1 }
            }
        }
        #expect(asked > 300)
    }

    @Test func `values of every kind agree with SQL`() throws {
        var dice = Dice.seeded("row predicates of every kind")
        let store = try EveryType.makeStore(&dice, count: 40)
        let model = EveryType.__definition
        for (index, property) in model.properties.enumerated() where !property.isToMany {
            let path = ColumnPath(model, property: index)
            let pool = try store.values(of: property.column, in: model)
            for _ in 0..<3 {
                let value = dice.element(of: pool)
                for node in nodes(path, value, others: pool.filter { _ in dice.chance(30) }) {
                    let query = QueryDescription(model).filtered(dice.bool() ? node : .not(node))
                    let text = "seed \(dice.seed), \(property.column) \(node)"
                    try #require(try agrees(EveryType.self, query, store, text), "not asked: \(text)")
                }
            }
        }
    }

    @Test func `pairs of columns agree with SQL`() throws {
        var dice = Dice.seeded("row predicates of two columns")
        let store = try EveryType.makeStore(&dice, count: 40)
        let model = EveryType.__definition
        // Some values must be equal.
        for name in ["Int", "Double", "Text", "Date", "Big", "Decimal", "Uint64", "Float"] {
            let plain = name.prefix(1).lowercased() + name.dropFirst()
            try store.run("UPDATE \"EveryType\" SET \"maybe\(name)\" = \"\(plain)\" WHERE \"__rid\" % 3 = 0")
        }
        for (left, first) in model.properties.enumerated() {
            for (right, second) in model.properties.enumerated() where first.kind == second.kind {
                for comparison in [Comparison.equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual] {
                    let node = PredicateNode.comparison(
                        ColumnPath(model, property: left), by: comparison,
                        to: .column(ColumnPath(model, property: right)))
                    let text = "seed \(dice.seed), \(first.name) \(comparison) \(second.name)"
                    try #require(
                        try agrees(EveryType.self, QueryDescription(model).filtered(node), store, text), "\(text)")
                }
            }
        }
    }

    @Test func `numbers, texts and blobs in one column compare as in SQL`() throws {
        let mixed = try MixedColumn()
        for value in mixed.values {
            for node in nodes(mixed.path, value, others: mixed.values.filter { $0 != value }) {
                let query = QueryDescription(Thing.__definition).filtered(node)
                try #require(try agrees(Thing.self, query, mixed.store, "\(node)"), "not asked: \(node)")
            }
        }
    }

    @Test func `elements of collections agree with SQL`() throws {
        var dice = Dice.seeded("row predicates of collections")
        let store = try EveryType.makeStore(&dice, count: 60)
        let model = EveryType.__definition
        for (index, property) in model.properties.enumerated() {
            guard case .collection = property.kind else { continue }
            let path = ColumnPath(model, property: index)
            var elements: [String] = ["null", "0", "0.0", "-0.0", "\"a\"", #"{"$real":"7ff8000000000000"}"#, "no JSON"]
            for value in try store.values(of: property.column, in: model) {
                guard case .text(let json) = value,
                    case .array(let nodes)? = try? Array(json.utf8).withUnsafeBufferPointer(ExactJSON.parse)
                else { continue }
                for node in nodes {
                    var text: [UInt8] = []
                    try ExactJSON.write(node, to: &text)
                    elements.append(String(decoding: text, as: UTF8.self))
                }
            }
            var nodes = elements.map { PredicateNode.elementsContain(path, element: $0) }
            for count in -1...4 {
                nodes += [Comparison.equal, .notEqual, .less, .greaterOrEqual].map {
                    .elementCount(path, by: $0, to: count)
                }
            }
            for node in nodes {
                let query = QueryDescription(model).filtered(node)
                let text = "seed \(dice.seed), \(property.name) \(node)"
                try #require(try agrees(EveryType.self, query, store, text), "not asked: \(text)")
            }
        }
    }

    private func nodes(_ path: ColumnPath, _ value: StorageValue, others: [StorageValue]) -> [PredicateNode] {
        var nodes = [Comparison.equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual].map {
            PredicateNode.comparison(path, by: $0, to: .value(value))
        }
        nodes += [
            .identical(path, to: value), .among(path, values: [value]), .among(path, values: others),
            .among(path, values: []),
        ]
        // The list is longer than SQL writes as parameters.
        nodes.append(.among(path, values: Array(repeating: [value] + others, count: 110).flatMap { $0 }))
        return nodes
    }

    /// Evaluates every row, in place and as a copy. `false` if the rows alone don't determine the result.
    private func agrees<M: Model>(
        _ model: M.Type, _ query: QueryDescription, _ store: Store, _ text: String
    ) throws -> Bool {
        var slots = ColumnSlots()
        guard let predicate = RowPredicate(query, slots: &slots) else {
            try #require(slots.columns.isEmpty, "\(text)")
            return false
        }
        let expected = Set(try store.localIDs(M.self, query))
        var found: Set<LocalID> = []
        try store.forEachRow(of: M.__definition, slots) { row in
            let holds = predicate.holds(row.statement)
            try #require(predicate.holds(row.copy) == holds, "\(row.localID) copied: \(text)")
            if holds { found.insert(row.localID) }
        }
        try #require(
            found == expected,
            "only Swift: \(found.subtracting(expected)), only SQL: \(expected.subtracting(found)): \(text)")
        try #require(predicate.slots == Set(slots.columns.indices), "\(text)")
        return true
    }
}
