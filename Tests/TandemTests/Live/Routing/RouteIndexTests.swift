import Foundation
import TandemTesting
import TestSupport
import Testing

@testable import Tandem

@Suite("Route index", .ownThreads)
struct RouteIndexTests {
    static let seed = SeededGenerator.seed(from: "TANDEM_SEED")

    @Test func `no row is missed`() throws {
        print("random routes: TANDEM_SEED=\(Self.seed)")
        var random = SeededGenerator(seed: Self.seed)
        let world = QueryWorld(&random, count: 100)
        let store = try world.makeStore()
        var slots = ColumnSlots()
        var index = RouteIndex()
        var results: [Set<LocalID>] = []
        var texts: [String] = []
        for id in 0..<400 {
            let (query, text) = world.query(&random)
            results.append(Set(try store.localIDs(Thing.self, query)))
            texts.append("seed \(Self.seed), query \(id): \(text)")
            index.add(id: id, condition: RouteCondition(query), slots: &slots)
        }
        let full = index
        for id in stride(from: 0, to: 400, by: 2) { index.remove(id: id) }
        try store.forEachRow(of: Thing.__definition, slots) { row in
            for source in [row.statement, row.copy] as [any ColumnSource] {
                let found = full.all(source)
                try #require(Set(found).count == found.count)
                for id in results.indices where results[id].contains(row.localID) {
                    try #require(found.contains(id), "\(row.localID) of \(texts[id])")
                }
                try #require(index.all(source).sorted() == found.filter { $0 % 2 == 1 }.sorted())
            }
        }
    }

    @Test func `values of every kind find their queries`() throws {
        var dice = Dice.seeded("routes of every kind")
        let store = try EveryType.makeStore(&dice, count: 40)
        let model = EveryType.__definition
        for (property, definition) in model.properties.enumerated() {
            let path = ColumnPath(model, property: property)
            let values = try store.values(of: definition.column, in: model)
            try check(path, values, EveryType.self, store, &dice)
        }
    }

    @Test func `numbers, texts and blobs in one column find their queries`() throws {
        var dice = Dice.seeded("routes of mixed values")
        let mixed = try MixedColumn()
        try check(mixed.path, mixed.values, Thing.self, mixed.store, &dice)
    }

    /// Checks that each row finds the queries whose condition is true, and no other.
    private func check<M: Model>(
        _ path: ColumnPath, _ values: [StorageValue], _ model: M.Type, _ store: Store, _ dice: inout Dice
    ) throws {
        var slots = ColumnSlots()
        var index = RouteIndex()
        var predicates: [RowPredicate] = []
        for value in values {
            let other = dice.element(of: values)
            let nodes: [PredicateNode] = [
                .comparison(path, by: .equal, to: .value(value)), .identical(path, to: value),
                .among(path, values: [value, other]),
                .comparison(path, by: .less, to: .value(value)),
                .comparison(path, by: .greaterOrEqual, to: .value(value)),
                .all([
                    .comparison(path, by: .greater, to: .value(value)),
                    .comparison(path, by: .lessOrEqual, to: .value(other)),
                ]),
            ]
            for node in nodes {
                var query = QueryDescription(M.__definition).filtered(node)
                query.life = .any
                let condition = try #require(RouteCondition(query))
                index.add(id: predicates.count, condition: condition, slots: &slots)
                predicates.append(try #require(RowPredicate(query, slots: &slots)))
            }
        }
        try store.forEachRow(of: M.__definition, slots) { row in
            let found = index.all(row.statement).sorted()
            let expected = predicates.indices.filter { predicates[$0].holds(row.statement) }
            // A range can't exclude NaN, which sorts after all numbers.
            let isNaN = path.firstNaN != nil && found.count > expected.count
            try #require(
                isNaN ? Set(found).isSuperset(of: expected) : found == expected,
                "seed \(dice.seed), \(path.name), \(row.localID): \(found) \(expected)")
        }
    }

    @Test func `a row among a thousand queries finds only a few`() throws {
        var slots = ColumnSlots()
        var index = RouteIndex()
        let c = Thing.Columns()
        func add(_ id: Int, _ predicate: Tandem.Predicate<Thing>) {
            let query = QueryDescription(Thing.__definition).filtered(predicate.node)
            index.add(id: id, condition: RouteCondition(query), slots: &slots)
        }
        for id in 0..<400 { add(id, c.code == "code \(id)" && c.int > 0 && c.flag) }
        for id in 400..<700 { add(id, c.int >= id * 10 && c.int < id * 10 + 10 && !c.flag) }
        for id in 700..<999 { add(id, c.text.hasPrefix("\(id)") && c.ratio > 1) }
        add(999, c.amount != 5)
        let row = RowEncoder()
        for column in slots.columns {
            switch column {
            case "code": row.append(text: "code 123")
            case "int": row.append(integer: 5555)
            case "text": row.append(text: "801 and more")
            default: row.appendNull()
            }
        }
        #expect(slots.columns.sorted() == ["code", "int", "text"])
        #expect(index.all(row).sorted() == [123, 555, 801, 999])
    }

    @Test func `the most selective condition is used`() throws {
        let c = Thing.Columns()
        func text(_ predicate: Tandem.Predicate<Thing>, _ life: QueryDescription.Life = .live) -> String {
            var query = QueryDescription(Thing.__definition).filtered(predicate.node)
            query.life = life
            func text(_ bound: RouteCondition.Bound?) -> String {
                bound.map { "\(BoundValue($0.value))\($0.isIncluded ? "" : "!")" } ?? "-"
            }
            return switch RouteCondition(query) {
            case .equal(let column, let values): "\(column) = \(values.map { "\(BoundValue($0))" })"
            case .range(let column, let lower, let upper): "\(column) \(text(lower)) \(text(upper))"
            case nil: "none"
            }
        }
        #expect(text(c.int == 1 && c.localID == "x") == #"localID = ["text([120])"]"#)
        #expect(text(c.int == 1 && c.code == "x") == #"code = ["text([120])"]"#)
        #expect(text(c.int.in([1, 2]) && c.unsigned == 3) == #"unsigned = ["integer(3)"]"#)
        #expect(text(c.flag && c.int > 1) == "int integer(1)! -")
        #expect(text(c.flag && c.isSynced) == #"flag = ["integer(1)"]"#)
        #expect(text(c.int >= 10 && c.int < 20 && c.int <= 20 && c.int > 10) == "int integer(10)! integer(20)!")
        #expect(text(c.ratio > 1 && c.int.contains(1...5)) == "int integer(1) integer(5)")
        #expect(text(c.text.hasPrefix("ab") && c.int > 1) == "text text([97, 98]) text([97, 99])!")
        #expect(text(c.text.like("a*") && c.int > 1) == "text text([97]) text([98])!")
        #expect(text(c.int == 1 || c.int == 2) == #"int = ["integer(1)", "integer(2)"]"#)
        #expect(text(c.int == 1 || c.small == 2) == "none")
        #expect(text(!(c.int == 1)) == "none")
        #expect(text(c.owner.age == 1) == "none")
        #expect(text(c.ratio == .nan) == "ratio = []")
        #expect(text(c.nickname == nil) == #"nickname = ["null"]"#)
        #expect(text(.true, .deleted) == #"deleted = ["integer(1)"]"#)
        #expect(text(.true) == "none")
    }
}

extension RouteIndex {
    fileprivate func all(_ row: some ColumnSource) -> [Int] {
        var found: [Int] = []
        candidates(row) { found.append($0) }
        return found
    }
}
