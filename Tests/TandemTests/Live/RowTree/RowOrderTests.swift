import Foundation
import TandemTesting
import TestSupport
import Testing

@testable import Tandem

@Suite("Row order", .ownThreads)
struct RowOrderTests {
    static let seed = SeededGenerator.seed(from: "TANDEM_SEED")

    @Test func `random orders agree with SQL`() throws {
        print("random row orders: TANDEM_SEED=\(Self.seed)")
        var random = SeededGenerator(seed: Self.seed)
        var own = 0
        for round in 0..<3 {
            let world = QueryWorld(&random, count: 100)
            let store = try world.makeStore()
            for number in 0..<100 {
                var keys = world.order(&random).map(\.descriptor.key)
                var text = "\(keys.count) keys"
                if random.chance(40) {
                    let paired = world.predicate(&random, depth: 1)
                    keys.insert(
                        .matchingFirst(paired.predicate.node), at: Int.random(in: 0...keys.count, using: &random))
                    text += ", matching \(paired.text)"
                }
                if random.chance(20) {
                    let localID = Thing.Columns().localID.__column
                    keys.insert(
                        .column(localID, ascending: random.chance(50), nilsFirst: random.chance(50)),
                        at: Int.random(in: 0...keys.count, using: &random))
                    text += ", by local ID"
                }
                text += ", seed \(Self.seed), round \(round), order \(number): \(world.orderText(keys))"
                if try agrees(Thing.self, keys, store, text) { own += 1 }
            }
        }
        #expect(own > 100)
    }

    @Test func `values of every kind sort as in SQL`() throws {
        var dice = Dice.seeded("row orders of every kind")
        let store = try EveryType.makeStore(&dice, count: 100)
        let model = EveryType.__definition
        for (index, property) in model.properties.enumerated() {
            for ascending in [true, false] {
                for nilsFirst in [true, false] {
                    let key = SortTerm.column(
                        ColumnPath(model, property: index), ascending: ascending, nilsFirst: nilsFirst)
                    let other = SortTerm.column(
                        ColumnPath(model, property: dice.below(model.properties.count)), ascending: dice.bool(),
                        nilsFirst: dice.bool())
                    for keys in [[key], [key, other]] {
                        let text = "seed \(dice.seed), \(property.name) \(ascending) \(nilsFirst), \(keys.count)"
                        try #require(try agrees(EveryType.self, keys, store, text), "\(text)")
                    }
                }
            }
        }
    }

    @Test(arguments: [true, false])
    func `numbers, texts and blobs in one column sort as in SQL`(ascending: Bool) throws {
        let mixed = try MixedColumn()
        for nilsFirst in [true, false] {
            let key = SortTerm.column(mixed.path, ascending: ascending, nilsFirst: nilsFirst)
            let flag = SortTerm.column(Thing.Columns().int.__column, ascending: true, nilsFirst: true)
            for keys in [[key], [key, flag], [flag, key]] {
                try #require(try agrees(Thing.self, keys, mixed.store, "\(ascending) \(nilsFirst)"))
            }
        }
    }

    @Test func `texts that differ only in case or form sort as in SQL`() throws {
        let store = try makeQueryStore()
        let texts = [
            "ss", "ß", "SS", "Ss", "sS", "ẞ", "s", "", "ss\u{0}", "SS\u{0}", "\u{0}", "ssa", "é", "É", "e\u{301}",
        ]
        try store.put(texts.enumerated().map { Thing($1, nickname: $1).identified(by: LocalID("\($0)")) })
        let c = Thing.Columns()
        for ascending in [true, false] {
            for paths in [[c.text.__column], [c.nickname.__column, c.int.__column]] {
                let keys = paths.map { SortTerm.column($0, ascending: ascending, nilsFirst: true) }
                try #require(try agrees(Thing.self, keys, store, "\(ascending) \(paths.count)"))
            }
        }
    }

    @Test(arguments: [true, false])
    func `first letters sort as in SQL and can be read from their keys`(ascending: Bool) throws {
        let store = try makeQueryStore()
        let texts = [
            "", "\u{0}", "\u{0}a", "a", "A", "aa", "ß", "ss", "Яблоко", "я\u{0}", "e\u{301}", "É", "星巴克", "\u{80}",
            "\u{FFFF}x", "\u{10FFFF}", "🇩🇪x",
        ]
        try store.put(
            texts.enumerated().map { Thing($1, nickname: $0 % 4 == 0 ? nil : $1).identified(by: LocalID("\($0)")) })
        let c = Thing.Columns()
        let int = SortTerm.column(c.int.__column, ascending: true, nilsFirst: true)
        for path in [c.text.firstLetter, c.nickname.firstLetter].map({ $0.column(store.collation) }) {
            for nilsFirst in [true, false] {
                let letter = SortTerm.column(path, ascending: ascending, nilsFirst: nilsFirst)
                for keys in [[letter], [letter, int]] {
                    try #require(try agrees(Thing.self, keys, store, "\(path.name) \(nilsFirst) \(keys.count)"))
                }
                let order = RowOrder([letter], isPrefix: true)
                for text in texts {
                    var key: [UInt8] = []
                    append(text, order, to: &key)
                    #expect(order.letter(key[...]) == store.collation.firstLetter(of: text), "\(text)")
                }
                for text in ["а", "я", "星"] {
                    var (key, whole): ([UInt8], [UInt8]) = ([], [])
                    append(text, order, to: &key)
                    append(text + "b", order, to: &whole)
                    #expect(key == whole)
                }
                var null: [UInt8] = []
                order.appendKey(NullColumns(), first: 0, to: &null)
                #expect(order.letter(null[...]) == nil)
            }
        }
    }

    private struct NullColumns: ColumnSource {
        func view(_ slot: Int) -> ColumnView { .null }
    }

    private func append(_ text: String, _ order: RowOrder, to key: inout [UInt8]) {
        let row = RowEncoder()
        row.append(text: text)
        order.appendKey(row, first: 0, to: &key)
    }

    @Test func `keys are short`() {
        func key(_ views: ColumnView..., descending: Bool = false) -> Int {
            var key: [UInt8] = []
            let writer = SortTermWriter(isDescending: descending, nilsFirst: true, isLast: true)
            if views.count == 2 {
                writer.append(views[1], twin: views[0], to: &key)
            } else {
                writer.append(views[0], to: &key)
            }
            return key.count
        }
        #expect(key(.null) == 1)
        #expect(key(.integer(1)) == 2)
        #expect(key(.integer(1000)) == 3)
        #expect(key(.integer(1_000_000)) == 4)
        #expect(key(.real(0.5), descending: true) == 2)
        #expect(key(.integer(.max)) == 11)
        #expect(key(.real(772_000_000.123)) <= 10)
        Array("лента".utf8).withUnsafeBufferPointer { text in
            #expect(key(.text(text)) == 11)
            #expect(key(.blob(text), .text(text)) == 23)
        }
    }

    @Test func `the columns are the properties whose changes matter`() throws {
        let c = Thing.Columns()
        func own(_ keys: SortTerm...) -> OwnOrder? {
            var slots = ColumnSlots()
            return RowOrder(keys).own(&slots)
        }
        let byText = SortTerm.column(c.text.__column, ascending: true, nilsFirst: true)
        #expect(own(byText)?.columns == ["text"])
        // The sort key alone provides the order.
        #expect(own(byText)?.slots.count == 1)
        #expect(own(.matchingFirst((c.int > 1).node), byText)?.columns == ["int", "text"])
        #expect(own(.column(c.owner.name.__column, ascending: true, nilsFirst: true)) == nil)
        #expect(own(.matchingFirst(c.tags.any { $0.isNew }.node)) == nil)
        let byID = SortTerm.column(c.localID.__column, ascending: true, nilsFirst: true)
        #expect(RowOrder([byID, byText]).columnCount == 0)
        #expect(RowOrder([byText, byID, byText]).columnCount == 1)
        #expect(RowOrder([byText], isPrefix: true).columnCount == 2)
    }

    /// Sorts the rows by the keys of both ways. `false` if the rows alone don't determine a key.
    private func agrees<M: Model>(_ model: M.Type, _ keys: [SortTerm], _ store: Store, _ text: String) throws -> Bool {
        var query = QueryDescription(M.__definition).sorted(keys)
        query.life = .any
        let order = RowOrder(keys)
        var compiler = SQLCompiler()
        let sql = compiler.select(query, ordered: false) { compiler, scope in
            (["\(alias: scope.alias).\"localID\""] + order.columns(&compiler, in: scope)).joined(", ")
        }
        var rows: [(key: [UInt8], localID: LocalID)] = []
        try store.reading { connection in
            let statement = try connection.uncachedStatement(sql.text)
            statement.bind(sql.values)
            while try statement.step() {
                var key: [UInt8] = []
                let source = StatementColumns(statement)
                order.appendKey(source, first: 1, to: &key)
                rows.append((key, LocalID(try statement.text(0))))
            }
            statement.finalize()
        }
        let expected = try store.localIDs(M.self, query)
        let sorted = rows.sorted {
            $0.key == $1.key ? $0.localID < $1.localID : $0.key.lexicographicallyPrecedes($1.key)
        }
        try #require(sorted.map(\.localID) == expected, "\(text)")

        var slots = ColumnSlots()
        guard let own = order.own(&slots) else {
            try #require(slots.columns.isEmpty, "\(text)")
            return false
        }
        let made = Dictionary(uniqueKeysWithValues: rows.map { ($0.localID, $0.key) })
        try store.forEachRow(of: M.__definition, slots) { row in
            var (key, copied): ([UInt8], [UInt8]) = ([], [])
            own.appendKey(row.statement, to: &key)
            own.appendKey(row.copy, to: &copied)
            try #require(key == made[row.localID] && copied == key, "\(row.localID): \(text)")
        }
        return true
    }
}

extension QueryWorld {
    fileprivate func orderText(_ keys: [SortTerm]) -> String {
        keys.map { key in
            switch key {
            case .column(let path, let ascending, let nilsFirst): "\(path.name) \(ascending) \(nilsFirst)"
            case .matchingFirst: "matching"
            }
        }.joined(separator: ", ")
    }
}
