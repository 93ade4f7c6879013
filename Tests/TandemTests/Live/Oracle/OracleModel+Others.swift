import BigInt
import Foundation
import TandemTestScript
import TandemTesting

@testable import Tandem

extension Node.Columns {
    var name: FoldedProperty<Node, String?> {
        FoldedProperty(Node.__definition, index: 0, codec: Codec.of(String?.self))
    }
    var parent: ReferenceProperty<Node, Node> { ReferenceProperty(Node.__definition, index: 7) }
    var owners: ReferencesProperty<Node, Node> { ReferencesProperty(Node.__definition, index: 10) }
}

extension Node: OracleModel {
    static let pool = (0..<9).map { LocalID("n\($0)") }
    static func blank() -> Node { Node() }

    mutating func vary(_ r: inout SeededGenerator, chance: Int) {
        func reference() -> Reference<Node>? { r.chance(40) ? nil : r.reference(Node.self) }
        if r.chance(chance) { name = r.chance(30) ? nil : r.pick(["лента", "магнит", "Пятёрочка", "a", ""]) }
        if r.chance(chance) { code = r.chance(30) ? nil : r.pick(["1", "2", "3", "4", "5", "6"]) }
        if r.chance(chance) { count = r.pick([0, 1, 2]) }
        if r.chance(chance) { note = r.pick(["", "x", "y"]) }
        if r.chance(chance) { next = reference() }
        if r.chance(chance / 2) { parent = reference() }
        if r.chance(chance / 4) { keeper = reference() }
        if r.chance(chance) { friends = r.references(Node.self) }
        if r.chance(chance / 4) { owners = r.references(Node.self) }
        if r.chance(chance / 8) { anchors = r.references(Node.self) }
    }

    static func predicate(_ r: inout SeededGenerator) -> Tandem.Predicate<Node> {
        let c = Node.Columns()
        return switch Int.random(in: 0..<8, using: &r) {
        case 0: c.count > r.pick([0, 1])
        case 1: c.next.count == r.pick([0, 1, 2])
        case 2: c.friends.any { $0.count > 0 }
        case 3: c.name.matches(r.pick(["ма", "пятер", "a"]))
        case 4: c.parent.next.code == r.pick(["1", "2"])
        case 5: c.next == nil && c.code != nil
        case 6: c.friends.contains(r.reference(Node.self))
        default: c.owners.isEmpty || c.parent.name.matches("лент")
        }
    }

    static func order(_ r: inout SeededGenerator) -> SortKey<Node> {
        switch Int.random(in: 0..<4, using: &r) {
        case 0: r.descriptor(\.count)
        case 1: r.descriptor(\.name)
        case 2: r.descriptor(\.next.name)
        default: r.descriptor(\.parent.code)
        }
    }

    static func distinct(_ results: Results<Node>, _ r: inout SeededGenerator) -> Results<Node> {
        results.distinct(by: \.count)
    }

    static func observing(_ results: Results<Node>, _ r: inout SeededGenerator) -> Results<Node> {
        r.chance(50) ? results.observing(\.count) : results.observing(\.isSynced, \.next)
    }

    static func aggregate(_ m: WatchMaker, _ q: Results<Node>, _ r: inout SeededGenerator) -> AnyOracleWatch {
        r.chance(50) ? m.sum(q, \.count, &r) : m.extreme(q, \.code, &r)
    }

    static func sections(
        _ m: WatchMaker, _ q: Results<Node>, _ r: inout SeededGenerator, changes: Bool
    ) -> AnyOracleWatch {
        r.chance(50)
            ? m.sections(q, \.count, &r, changes: changes) : m.textSections(q, \.next.name, &r, changes: changes)
    }

    static func upsertSome(_ object: Node, _ tx: WriteTransaction) throws {
        try tx.upsert(object, properties: \.count, \.next, \.friends)
    }

    static func imported(_ r: inout SeededGenerator) -> [String: Any?] { ["count": r.pick([0, 1, 2])] }
}

extension EveryType.Columns {
    var int: Property<EveryType, Int> { Property(EveryType.__definition, index: 1, codec: Codec.of(Int.self)) }
    var double: Property<EveryType, Double> {
        Property(EveryType.__definition, index: 11, codec: Codec.of(Double.self))
    }
    var date: Property<EveryType, Date> { Property(EveryType.__definition, index: 15, codec: Codec.of(Date.self)) }
    var decimal: Property<EveryType, Decimal> {
        Property(EveryType.__definition, index: 18, codec: Codec.of(Decimal.self))
    }
    var big: Property<EveryType, BigInt> { Property(EveryType.__definition, index: 19, codec: Codec.of(BigInt.self)) }
    var maybeInt64: Property<EveryType, Int64?> {
        Property(EveryType.__definition, index: 44, codec: Codec.of(Int64?.self))
    }
    var maybeFlag: Property<EveryType, Bool?> {
        Property(EveryType.__definition, index: 41, codec: Codec.of(Bool?.self))
    }
}

extension EveryType: OracleModel {
    static let pool = (0..<6).map { LocalID("e\($0)") }
    static func blank() -> EveryType { EveryType() }

    mutating func vary(_ r: inout SeededGenerator, chance: Int) {
        if r.chance(60) {
            // Only some properties change, so that a change set has to notice each of them.
            text = r.often(Dice.texts)
            if r.chance(30) { doubleMap = ["a": r.pick(Dice.doubles)] }
            if r.chance(30) { nested = [[r.pick(Dice.texts)]] }
            if r.chance(30) { maybeInt64 = r.pick([nil, 1, -5, .max]) }
        } else {
            var dice = Dice(seed: r.next())
            fill(&dice)
        }
        one = r.chance(50) ? nil : r.reference(EveryType.self)
    }

    static func predicate(_ r: inout SeededGenerator) -> Tandem.Predicate<EveryType> {
        let c = EveryType.Columns()
        return switch Int.random(in: 0..<4, using: &r) {
        case 0: c.double > r.pick(Dice.doubles)
        case 1: c.text < r.pick(Dice.texts)
        case 2: c.one.int >= 0
        default: c.big != 0 || c.maybeInt64 == nil
        }
    }

    static func order(_ r: inout SeededGenerator) -> SortKey<EveryType> {
        switch Int.random(in: 0..<6, using: &r) {
        case 0: r.descriptor(\.double)
        case 1: r.descriptor(\.date)
        case 2: r.descriptor(\.decimal)
        case 3: r.descriptor(\.big)
        case 4: r.descriptor(\.maybeInt64)
        default: r.descriptor(\.text)
        }
    }

    static func distinct(_ results: Results<EveryType>, _ r: inout SeededGenerator) -> Results<EveryType> {
        results.distinct(by: \.maybeFlag)
    }

    static func observing(_ results: Results<EveryType>, _ r: inout SeededGenerator) -> Results<EveryType> {
        r.chance(50) ? results.observing(\.text) : results.observing(\.double, \.maybeInt64)
    }

    static func aggregate(_ m: WatchMaker, _ q: Results<EveryType>, _ r: inout SeededGenerator) -> AnyOracleWatch {
        switch Int.random(in: 0..<6, using: &r) {
        case 0: m.sum(q, \.big, &r)
        case 1: m.sum(q, \.decimal, &r)
        case 2: m.sum(q, \.double, &r)
        case 3: m.sum(q, \.maybeInt64, &r)
        case 4: m.extreme(q, \.decimal, &r)
        default: m.extreme(q, \.maybeInt64, &r)
        }
    }

    static func sections(
        _ m: WatchMaker, _ q: Results<EveryType>, _ r: inout SeededGenerator, changes: Bool
    ) -> AnyOracleWatch {
        m.sections(q, \.maybeFlag, &r, changes: changes)
    }
}

/// The model that the other process writes too.
extension PeerPerson: OracleModel {
    static let pool = (0..<8).map { LocalID("p\($0)") }
    static func blank() -> PeerPerson { PeerPerson(name: "") }
    mutating func vary(_ r: inout SeededGenerator, chance: Int) { name = r.pick(["1", "Ада", "b", ""]) }
    static func predicate(_ r: inout SeededGenerator) -> Tandem.Predicate<PeerPerson> { Columns().name > "0" }
    static func order(_ r: inout SeededGenerator) -> SortKey<PeerPerson> { r.descriptor(\.name) }
    static func distinct(_ results: Results<PeerPerson>, _ r: inout SeededGenerator) -> Results<PeerPerson> {
        results.distinct(by: \.name)
    }
    static func observing(_ results: Results<PeerPerson>, _ r: inout SeededGenerator) -> Results<PeerPerson> {
        results.observing(\.name)
    }
    static func aggregate(_ m: WatchMaker, _ q: Results<PeerPerson>, _ r: inout SeededGenerator) -> AnyOracleWatch {
        m.extreme(q, \.name, &r)
    }
    static func sections(
        _ m: WatchMaker, _ q: Results<PeerPerson>, _ r: inout SeededGenerator, changes: Bool
    ) -> AnyOracleWatch {
        m.textSections(q, \.name, &r, changes: changes)
    }
}
