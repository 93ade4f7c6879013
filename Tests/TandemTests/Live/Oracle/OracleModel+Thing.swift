import BigInt
import Foundation
import TandemTesting

@testable import Tandem

extension Thing: OracleModel {
    static let pool = (0..<16).map { LocalID("x\($0)") }
    static func blank() -> Thing { Thing() }

    mutating func vary(_ r: inout SeededGenerator, chance: Int) {
        if r.chance(chance) { text = r.often(QueryWorld.texts) }
        if r.chance(chance) { nickname = r.chance(30) ? nil : r.often(QueryWorld.texts) }
        if r.chance(chance) { code = r.often(QueryWorld.texts) }
        if r.chance(chance) { flag.toggle() }
        if r.chance(chance) { small = r.chance(30) ? nil : r.often([0, 1, -128, 127]) }
        if r.chance(chance) { int = r.chance(90) ? r.pick([0, 1, -1, 2, 3]) : r.pick(QueryWorld.ints) }
        if r.chance(chance) { unsigned = r.chance(90) ? r.pick([0, 1, 5]) : r.pick(QueryWorld.unsigned) }
        if r.chance(chance) { ratio = r.often(QueryWorld.doubles) }
        if r.chance(chance) { maybeRatio = r.chance(30) ? nil : r.pick(QueryWorld.doubles) }
        if r.chance(chance) { float = Float(r.often(QueryWorld.doubles)) }
        if r.chance(chance) { amount = r.often(QueryWorld.bigs) }
        if r.chance(chance) { price = r.chance(30) ? nil : r.often(QueryWorld.decimals) }
        if r.chance(chance) { day = r.chance(30) ? nil : r.often(QueryWorld.dates) }
        if r.chance(chance) { uuid = r.pick(QueryWorld.uuids) }
        if r.chance(chance) { color = r.pick(Shade.allCases) }
        if r.chance(chance) { labels = (0..<r.pick([0, 1, 3])).map { _ in r.often(QueryWorld.texts) } }
        if r.chance(chance) { owner = r.chance(20) ? nil : r.reference(Owner.self) }
        if r.chance(chance) { tags = r.references(Tag.self) }
    }

    static func predicate(_ r: inout SeededGenerator) -> Tandem.Predicate<Thing> {
        var world = QueryWorld(&r, count: 0)
        world.owners = Owner.pool.map { Owner("").identified(by: $0) }
        world.tags = Tag.pool.map { Tag("").identified(by: $0) }
        return world.predicate(&r, depth: r.pick([0, 1, 2])).predicate
    }

    static func order(_ r: inout SeededGenerator) -> SortKey<Thing> {
        switch Int.random(in: 0..<16, using: &r) {
        case 0: r.descriptor(\.text)
        case 1: r.descriptor(\.nickname)
        case 2: r.descriptor(\.code)
        case 3: r.descriptor(\.flag)
        case 4: r.descriptor(\.small)
        case 5: r.descriptor(\.int)
        case 6: r.descriptor(\.unsigned)
        case 7: r.descriptor(\.ratio)
        case 8: r.descriptor(\.maybeRatio)
        case 9: r.descriptor(\.amount)
        case 10: r.descriptor(\.price)
        case 11: r.descriptor(\.day)
        case 12: r.descriptor(\.owner.name)
        case 13: r.descriptor(\.owner.boss.age)
        case 14: .matchingFirst { $0.int > 0 && !$0.flag }
        default: .matchingFirst { $0.owner.age >= 30 || $0.tags.any { $0.isNew } }
        }
    }

    static func distinct(_ results: Results<Thing>, _ r: inout SeededGenerator) -> Results<Thing> {
        r.chance(50) ? results.distinct(by: \.int) : results.distinct(by: \.flag, \.owner.name)
    }

    static func observing(_ results: Results<Thing>, _ r: inout SeededGenerator) -> Results<Thing> {
        switch Int.random(in: 0..<3, using: &r) {
        case 0: results.observing(\.text)
        case 1: results.observing(\.int, \.isSynced)
        default: results.observing(\.owner, \.labels)
        }
    }

    static func aggregate(_ m: WatchMaker, _ q: Results<Thing>, _ r: inout SeededGenerator) -> AnyOracleWatch {
        switch Int.random(in: 0..<18, using: &r) {
        case 0: m.sum(q, \.int, &r)
        case 1: m.sum(q, \.unsigned, &r)
        case 2: m.sum(q, \.ratio, &r)
        case 3: m.sum(q, \.maybeRatio, &r)
        case 4: m.sum(q, \.float, &r)
        case 5: m.sum(q, \.amount, &r)
        case 6: m.sum(q, \.price, &r)
        case 7: m.sum(q, \.small, &r)
        case 8: m.sum(q, \.owner.age, &r)
        case 9: m.extreme(q, \.text, &r)
        case 10: m.extreme(q, \.nickname, &r)
        case 11: m.extreme(q, \.int, &r)
        case 12: m.extreme(q, \.unsigned, &r)
        case 13: m.extreme(q, \.maybeRatio, &r)
        case 14: m.extreme(q, \.amount, &r)
        case 15: m.extreme(q, \.price, &r)
        case 16: m.extreme(q, \.day, &r)
        default: m.of(q, .count) { try $0.count() }
        }
    }

    static func sections(
        _ m: WatchMaker, _ q: Results<Thing>, _ r: inout SeededGenerator, changes: Bool
    ) -> AnyOracleWatch {
        switch Int.random(in: 0..<6, using: &r) {
        case 0: m.sections(q, \.color, &r, changes: changes)
        case 1: m.sections(q, \.flag, &r, changes: changes)
        case 2: m.textSections(q, \.nickname, &r, changes: changes)
        case 3: m.sections(q, \.small, &r, changes: changes)
        case 4: m.textSections(q, \.text, &r, changes: changes)
        default: m.textSections(q, \.owner.name, &r, changes: changes)
        }
    }

    static func upsertSome(_ object: Thing, _ tx: WriteTransaction) throws {
        try tx.upsert(object, properties: \.int, \.owner, \.tags)
    }

    static func imported(_ r: inout SeededGenerator) -> [String: Any?] {
        ["int": r.pick([0, 1, 2]), "text": r.often(QueryWorld.texts), "nickname": nil]
    }
}

extension Owner: OracleModel {
    static let pool = (0..<5).map { LocalID("o\($0)") }
    static func blank() -> Owner { Owner("") }

    mutating func vary(_ r: inout SeededGenerator, chance: Int) {
        if r.chance(chance) { name = r.often(QueryWorld.texts) }
        if r.chance(chance) { age = r.chance(30) ? nil : r.pick([1, 30, 50]) }
        if r.chance(chance) { boss = r.chance(30) ? nil : r.reference(Owner.self) }
    }

    static func predicate(_ r: inout SeededGenerator) -> Tandem.Predicate<Owner> {
        let c = Owner.Columns()
        return switch Int.random(in: 0..<5, using: &r) {
        case 0: c.name.matches(r.pick(["a", "ма", "x"]))
        case 1: c.age > r.pick([1, 30])
        case 2: c.boss.name == r.often(QueryWorld.texts)
        case 3: c.things.count > r.pick([0, 1, 3])
        default: c.boss.boss == nil || c.name != ""
        }
    }

    static func order(_ r: inout SeededGenerator) -> SortKey<Owner> {
        r.chance(50) ? r.descriptor(\.name) : r.chance(50) ? r.descriptor(\.age) : r.descriptor(\.boss.name)
    }

    static func distinct(_ results: Results<Owner>, _ r: inout SeededGenerator) -> Results<Owner> {
        results.distinct(by: \.age)
    }

    static func observing(_ results: Results<Owner>, _ r: inout SeededGenerator) -> Results<Owner> {
        results.observing(\.name)
    }

    static func aggregate(_ m: WatchMaker, _ q: Results<Owner>, _ r: inout SeededGenerator) -> AnyOracleWatch {
        r.chance(50) ? m.sum(q, \.age, &r) : m.extreme(q, \.name, &r)
    }

    static func sections(
        _ m: WatchMaker, _ q: Results<Owner>, _ r: inout SeededGenerator, changes: Bool
    ) -> AnyOracleWatch {
        r.chance(50)
            ? m.sections(q, \.age, &r, changes: changes) : m.textSections(q, \.boss.name, &r, changes: changes)
    }

    static func imported(_ r: inout SeededGenerator) -> [String: Any?] { ["age": r.pick([1, 30, 50])] }
}

extension Tag: OracleModel {
    static let pool = (0..<4).map { LocalID("t\($0)") }
    static func blank() -> Tag { Tag("") }

    mutating func vary(_ r: inout SeededGenerator, chance: Int) {
        if r.chance(chance) { name = r.often(QueryWorld.texts) }
        if r.chance(chance) { rank = r.pick([0, 1, 2, 3]) }
        if r.chance(chance) { isNew.toggle() }
    }

    static func predicate(_ r: inout SeededGenerator) -> Tandem.Predicate<Tag> {
        let c = Tag.Columns()
        return switch Int.random(in: 0..<3, using: &r) {
        case 0: c.rank >= r.pick([1, 2])
        case 1: c.isNew || c.name.hasPrefix("a")
        default: c.things.any { $0.flag && $0.int > 0 }
        }
    }

    static func order(_ r: inout SeededGenerator) -> SortKey<Tag> {
        r.chance(50) ? r.descriptor(\.name) : r.descriptor(\.rank)
    }

    static func distinct(_ results: Results<Tag>, _ r: inout SeededGenerator) -> Results<Tag> {
        results.distinct(by: \.rank)
    }

    static func observing(_ results: Results<Tag>, _ r: inout SeededGenerator) -> Results<Tag> {
        results.observing(\.rank)
    }

    static func aggregate(_ m: WatchMaker, _ q: Results<Tag>, _ r: inout SeededGenerator) -> AnyOracleWatch {
        r.chance(50) ? m.sum(q, \.rank, &r) : m.extreme(q, \.rank, &r)
    }

    static func sections(
        _ m: WatchMaker, _ q: Results<Tag>, _ r: inout SeededGenerator, changes: Bool
    ) -> AnyOracleWatch {
        r.chance(50) ? m.sections(q, \.rank, &r, changes: changes) : m.sections(q, \.isNew, &r, changes: changes)
    }
}
