import Foundation
import TandemTesting

@testable import Tandem

/// A table's row in the live engine: in place, and as a copy.
struct SeenRow {
    let localID: LocalID
    let statement: StatementColumns
    let copy: RowEncoder
}

extension Store {
    /// Reads all rows of a table, deleted ones included, with the columns of some slots.
    func forEachRow(of model: ModelDefinition, _ slots: ColumnSlots, _ body: (SeenRow) throws -> Void) throws {
        let columns = (["localID"] + slots.columns).map(\.quotedSQL).joined(separator: ", ")
        try reading { connection in
            let statement = try connection.uncachedStatement("SELECT \(columns) FROM \(model.table.quotedSQL)")
            let source = StatementColumns(statement, first: 1)
            let copy = RowEncoder()
            while try statement.step() {
                copy.removeAll()
                for slot in slots.columns.indices { copy.append(source.view(slot)) }
                try body(SeenRow(localID: LocalID(try statement.text(0)), statement: source, copy: copy))
            }
            // The reader is returned while the object may still exist.
            statement.finalize()
        }
    }

    func run(_ sql: String, _ values: [StorageValue] = []) throws {
        try writer.queue.unsafeReentrantWrite { _ in try writer.connection.execute(sql, binding: values) }
    }

    /// Returns the local IDs of a query's result in SQL's order.
    func localIDs<M: Model>(_ model: M.Type, _ query: QueryDescription) throws -> [LocalID] {
        try Results<M>(store: self, query: query).localIDs()
    }
}

extension QueryWorld {
    /// Makes a store with the objects of this world. Every fifth object is deleted.
    func makeStore() throws -> Store {
        let store = try makeQueryStore()
        try store.put(owners)
        try store.put(tags)
        try store.put(things)
        try store.run("UPDATE \"Thing\" SET \"deleted\" = 1 WHERE \"__rid\" % 5 = 0")
        return store
    }

    /// Returns a query with a random predicate.
    func query(_ random: inout SeededGenerator) -> (query: QueryDescription, text: String) {
        let paired = predicate(&random)
        var query = QueryDescription(Thing.__definition).filtered(paired.predicate.node)
        query.life = random.pick([.live, .live, .deleted, .any])
        return (query, "\(query.life) \(paired.text)")
    }
}

extension EveryType {
    /// Makes a store with random objects that have extreme values in every property.
    static func makeStore(_ dice: inout Dice, count: Int) throws -> Store {
        let store = try makeQueryStore([EveryType.self])
        try store.put(
            (0..<count).map { index in
                EveryType.random(&dice).identified(by: LocalID("\(dice.below(1000))-\(index)"))
            })
        return store
    }
}

extension Store {
    /// Returns the distinct values of a column.
    func values(of column: String, in model: ModelDefinition) throws -> [StorageValue] {
        var slots = ColumnSlots()
        _ = slots.slot(of: column)
        var values: Set<StorageValue> = []
        try forEachRow(of: model, slots) { values.insert($0.copy.value(at: 0)) }
        return Array(values).sorted { "\($0)" < "\($1)" }
    }
}

/// A number column without affinity that contains all kinds of SQLite values. Some integers and reals differ only in an
/// exact comparison. The others are texts, blobs and NULL.
struct MixedColumn {
    let store: Store
    let path: ColumnPath
    let values: [StorageValue]

    init() throws {
        let reals = [
            0, -0.0, 1, 1.5, -1.5, 0x1p53, 0x1p53 + 2, -0x1p53, 0x1p62, 0x1p63, -0x1p63, 0x1p63.nextDown,
            (-0x1p63).nextDown, 1e300, -.infinity, .infinity, .leastNonzeroMagnitude, 1_000_000.25, 0x1p60 + 256,
        ]
        let integers: [Int64] = [
            0, 1, -1, 2, 1 << 53, 1 << 53 + 1, 1 << 53 - 1, -(1 << 53) - 1, -(1 << 53), .max, .max - 1, .max - 1023,
            .max - 1024, .min, .min + 1, 1 << 62, 1 << 62 - 1, 1 << 62 + 1, 1 << 60 + 255, 1 << 60 + 257, 1_000_000,
        ]
        values =
            reals.map { .real($0) } + integers.map { .integer($0) }
            + ["", "a", "a\u{0}", "a\u{0}b", "a\u{1}", "b", "\u{0}", "1"].map { .text($0) }
            + [[], [0], [0, 0], [0, 255], [0, 1], [255], [254, 255], [1]].map { .blob($0) } + [.null]
        store = try makeQueryStore()
        try store.put(values.indices.map { Thing().identified(by: LocalID("m\($0 * 37 % 64)-\($0)")) })
        for (index, value) in values.enumerated() {
            try store.run(
                "UPDATE \"Thing\" SET \"maybeRatio\" = ? WHERE \"__rid\" = ?", [value, .integer(Int64(index + 1))])
        }
        path = Thing.Columns().maybeRatio.__column
    }
}
