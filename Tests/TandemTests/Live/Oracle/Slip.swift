import TandemTesting

@testable import Tandem

/// A model that is never sent and has no search index.
///
/// Raw SQL can therefore write its rows as the store does.
struct Slip {
    var text = ""
    var number = 0
    var __state = ObjectState()

    init() {}

    init(__row row: RowDecoder) throws {
        __state = try row.state
        text = try row.value(0, as: String.self)
        number = try row.value(1, as: Int.self)
    }

    func __append(to row: RowEncoder) {
        row.append(text, as: String.self)
        row.append(number, as: Int.self)
    }

    static let __definition = ModelDefinition(
        Slip.self, name: "Slip", localOnly: true,
        properties: [
            PropertyDefinition("text", codec: Codec.of(String.self)),
            PropertyDefinition("number", codec: Codec.of(Int.self)),
        ])

    struct Columns: ModelColumns {
        typealias Root = Slip
        var text: Property<Slip, String> { Property(Slip.__definition, index: 0, codec: Codec.of(String.self)) }
        var number: Property<Slip, Int> { Property(Slip.__definition, index: 1, codec: Codec.of(Int.self)) }
    }
}

extension Slip: Model {}

extension Slip: OracleModel {
    static let pool = (0..<10).map { LocalID("s\($0)") }
    static func blank() -> Slip { Slip() }

    mutating func vary(_ r: inout SeededGenerator, chance: Int) {
        if r.chance(chance) { text = r.often(QueryWorld.texts) }
        if r.chance(chance) { number = r.pick([0, 1, 2, 3]) }
    }

    static func predicate(_ r: inout SeededGenerator) -> Tandem.Predicate<Slip> {
        let c = Slip.Columns()
        return r.chance(50) ? c.number > r.pick([0, 1]) : c.text.contains(r.pick(["a", "b", ""]))
    }

    static func order(_ r: inout SeededGenerator) -> SortKey<Slip> {
        r.chance(50) ? r.descriptor(\.text) : r.descriptor(\.number)
    }

    static func distinct(_ results: Results<Slip>, _ r: inout SeededGenerator) -> Results<Slip> {
        results.distinct(by: \.number)
    }

    static func observing(_ results: Results<Slip>, _ r: inout SeededGenerator) -> Results<Slip> {
        results.observing(\.number)
    }

    static func aggregate(_ m: WatchMaker, _ q: Results<Slip>, _ r: inout SeededGenerator) -> AnyOracleWatch {
        r.chance(50) ? m.sum(q, \.number, &r) : m.extreme(q, \.number, &r)
    }

    static func sections(
        _ m: WatchMaker, _ q: Results<Slip>, _ r: inout SeededGenerator, changes: Bool
    ) -> AnyOracleWatch {
        m.sections(q, \.number, &r, changes: changes)
    }

    /// Replaces a row by raw SQL (REPLACE): by its local ID, which then gets another row number, or by its row number,
    /// which then gets another object.
    static func replace(_ tx: WriteTransaction, _ r: inout SeededGenerator) throws {
        let connection = tx.store.writer.connection
        let (id, other) = (r.pick(pool), r.pick(pool))
        let values: [StorageValue] = [
            .text(r.often(QueryWorld.texts)), .integer(Int64.random(in: 4...1000, using: &r)),
        ]
        if r.chance(50) {
            try connection.execute(
                "INSERT OR REPLACE INTO \"Slip\"(\"localID\", \"text\", \"number\") VALUES(?, ?, ?)",
                binding: [.text(id.rawValue)] + values)
        } else {
            try connection.execute(
                """
                INSERT OR REPLACE INTO "Slip"("__rid", "localID", "text", "number")
                SELECT "__rid", ?, ?, ? FROM "Slip" WHERE "localID" = ?
                """, binding: [.text(other.rawValue)] + values + [.text(id.rawValue)])
        }
    }
}
