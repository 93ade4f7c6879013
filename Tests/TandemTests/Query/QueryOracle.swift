import BigInt
import Foundation
import TandemTesting

@testable import Tandem

extension SeededGenerator {
    mutating func pick<T>(_ values: [T]) -> T { values.randomElement(using: &self)! }
    mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &self) < percent }
}

/// A predicate in two forms: Tandem's, and a plain Swift function written without it.
struct Paired<M: Model> {
    let text: String
    let predicate: Tandem.Predicate<M>
    let holds: (M) -> Bool
    var parts: [Paired] = []
}

/// A sort key in both forms.
struct PairedOrder {
    let text: String
    let descriptor: SortKey<Thing>
    let compare: (Thing, Thing) -> Int
}

/// Returns a value as text for a message. Foundation traps on the description of a date that is NaN.
private func show(_ value: some Any) -> String {
    (value as? Date).map { "Date(\($0.timeIntervalSinceReferenceDate))" } ?? "\(value)"
}

/// Returns whether a date is NaN. Dates compare as their numbers. `Date` derives `<=` and `>=` from `<`, so they are
/// true for NaN.
private func isNaN(_ date: Date) -> Bool { date.timeIntervalSinceReferenceDate.isNaN }

/// Compares texts as plain Swift does here: by their scalars.
func scalarOrder(_ lhs: String, _ rhs: String) -> Int {
    let (left, right) = (lhs.unicodeScalars.map(\.value), rhs.unicodeScalars.map(\.value))
    return left == right ? 0 : left.lexicographicallyPrecedes(right) ? -1 : 1
}

/// The objects of random queries, and random values for their conditions.
struct QueryWorld {
    var things: [Thing] = []
    var owners: [Owner] = []
    var tags: [Tag] = []
    /// The texts that queries compare with.
    private let asked: [String]
    /// The texts that queries search for.
    private let needles: [String]

    static let texts = [
        "", "a", "A", "ab", "b", "Магнит", "магазин", "Пятёрочка", "пятерочка", "é", "e\u{301}", "e", "Γαλαξίας",
        "γαλαξ",
        "星巴克", "星巴克咖啡", "a\u{0}b", "a\u{0}", "\u{0}", "ａｂ", "ß", "ss", "\u{10FFFF}", "\u{FFFF}x", "L'Oréal", "100%_*?",
        "ma gasin", "ka", "🇩🇪x", "Z", "z", "[x]", "\u{7F}", "\u{80}",
    ]
    static let doubles = [
        0.0, -0.0, 1, -1, 0.1, .nan, -.nan, .infinity, -.infinity, .greatestFiniteMagnitude, .leastNonzeroMagnitude, 2,
        1e300,
    ]
    static let ints = [0, 1, -1, 2, 3, 100, Int.max, Int.min]
    static let unsigned: [UInt64] = [0, 1, 5, UInt64(Int64.max), UInt64(Int64.max) + 1, .max]
    static let bigs: [BigInt] = [
        0, 1, -1, 255, 256, -256, 65536, BigInt(10).power(40), -BigInt(10).power(40), BigInt(2).power(1200), 5,
    ]
    static let decimals: [Decimal] = [0, 1, -1, 1.5, 12.01, 12, -12.01, .nan, Decimal(string: "1e100")!]
    static let dates = doubles.map { Date(timeIntervalSinceReferenceDate: $0) }
    static let uuids = (0..<5).map { UUID(uuidString: "\($0)F000000-0000-4000-8000-00000000000\($0)")! }

    /// - Parameter names: The texts of the objects besides ``texts``.
    init(_ random: inout SeededGenerator, count: Int, names: [String] = []) {
        let texts = Self.texts + names
        let parts = names.map { QueryNames.part(of: $0, &random) }
        asked = texts + parts
        needles =
            [
                "маг", "ма", "пятерочка", "галакс", "γαλ", "星巴", "星巴克", "a", "ab", "oré", "x", "", " ", "ma gas",
                "gasin ma",
            ] + names + parts
        func id(_ letter: String, _ random: inout SeededGenerator, _ index: Int) -> LocalID {
            LocalID("\(letter)\(UInt16.random(in: 0...999, using: &random))-\(index)")
        }
        for index in 0..<8 {
            let boss = random.chance(60) ? owners.randomElement(using: &random)?.reference : nil
            let age = random.chance(70) ? random.pick([1, 30, 50]) : nil
            owners.append(
                Owner(random.pick(texts), age: age, boss: boss).identified(by: id("o", &random, index)))
        }
        for index in 0..<6 {
            tags.append(
                Tag(random.pick(texts), rank: index % 4, isNew: random.chance(40))
                    .identified(by: id("t", &random, index)))
        }
        for index in 0..<count {
            func maybe<T>(_ values: [T]) -> T? { random.chance(70) ? random.pick(values) : nil }
            var thing = Thing(
                random.pick(texts), nickname: maybe(texts), code: random.pick(texts),
                flag: random.chance(50), small: maybe([0, 1, -128, 127]), int: random.pick(Self.ints),
                unsigned: random.pick(Self.unsigned), ratio: random.pick(Self.doubles),
                maybeRatio: maybe(Self.doubles), float: Float(random.pick(Self.doubles)),
                amount: random.pick(Self.bigs), price: maybe(Self.decimals), day: maybe(Self.dates),
                uuid: random.pick(Self.uuids), color: random.pick(Shade.allCases),
                labels: (0..<random.pick([0, 1, 3])).map { _ in random.pick(texts) },
                owner: maybe(owners)?.reference,
                tags: (0..<random.pick([0, 1, 2, 4])).map { _ in random.pick(tags).reference }
            ).identified(by: id("x", &random, index))
            thing.__state.isSynced = random.chance(50)
            if random.chance(50) { thing.__state.serverID = ServerID("s\(index)") }
            thing.__state.updatedAt = maybe(Self.dates)
            things.append(thing)
        }
    }

    func owner(_ reference: Reference<Owner>?) -> Owner? {
        reference.flatMap { reference in owners.first { $0.localID == reference.localID } }
    }

    func tags(of thing: Thing) -> [Tag] {
        thing.tags.compactMap { reference in tags.first { $0.localID == reference.localID } }
    }

    func things(of owner: Owner?) -> [Thing] {
        guard let owner else { return [] }
        return things.filter { $0.owner?.localID == owner.localID }
    }
}

// MARK: - Predicates

extension QueryWorld {
    func predicate(_ random: inout SeededGenerator, depth: Int = 3) -> Paired<Thing> {
        guard depth > 0, random.chance(65) else { return leaf(&random) }
        switch Int.random(in: 0..<3, using: &random) {
        case 0:
            let part = predicate(&random, depth: depth - 1)
            return Paired(
                text: "!(\(part.text))", predicate: !part.predicate, holds: { !part.holds($0) }, parts: [part])
        case 1:
            let (a, b) = (predicate(&random, depth: depth - 1), predicate(&random, depth: depth - 1))
            return Paired(
                text: "(\(a.text) && \(b.text))", predicate: a.predicate && b.predicate,
                holds: { a.holds($0) && b.holds($0) }, parts: [a, b])
        default:
            let (a, b) = (predicate(&random, depth: depth - 1), predicate(&random, depth: depth - 1))
            return Paired(
                text: "(\(a.text) || \(b.text))", predicate: a.predicate || b.predicate,
                holds: { a.holds($0) || b.holds($0) }, parts: [a, b])
        }
    }

    private func leaf(_ random: inout SeededGenerator) -> Paired<Thing> {
        let c = Thing.Columns()
        switch Int.random(in: 0..<24, using: &random) {
        case 0: return text("text", c.text, { $0.text }, &random)
        case 1: return text("nickname", c.nickname, { $0.nickname }, &random)
        case 2: return text("owner.name", c.owner.name, { owner($0.owner)?.name }, &random)
        case 3: return text("owner.boss.name", c.owner.boss.name, { owner(owner($0.owner)?.boss)?.name }, &random)
        case 4: return matching("text", c.text, { $0.text }, &random)
        case 5: return matching("nickname", c.nickname, { $0.nickname }, &random)
        case 6: return matching("owner.name", c.owner.name, { owner($0.owner)?.name }, &random)
        case 7: return ordered("int", c.int, { $0.int }, Self.ints, &random)
        case 8: return ordered("small", c.small, { $0.small }, [0, 1, -128, 127], &random)
        case 9: return ordered("unsigned", c.unsigned, { $0.unsigned }, Self.unsigned, &random)
        case 10: return ordered("ratio", c.ratio, { $0.ratio }, Self.doubles, &random)
        case 11: return ordered("maybeRatio", c.maybeRatio, { $0.maybeRatio }, Self.doubles, &random)
        case 12: return ordered("float", c.float, { $0.float }, Self.doubles.map { Float($0) }, &random)
        case 13: return ordered("amount", c.amount, { $0.amount }, Self.bigs, &random)
        case 14:
            // A NaN decimal is neither less nor greater here. Foundation sorts it before all numbers.
            return ordered("price", c.price, { $0.price }, Self.decimals, isNaN: \.isNaN, &random)
        case 15: return ordered("day", c.day, { $0.day }, Self.dates, isNaN: isNaN, &random)
        case 16: return ordered("uuid", c.uuid, { $0.uuid }, Self.uuids, &random)
        case 17: return ordered("owner.age", c.owner.age, { owner($0.owner)?.age }, [1, 30, 40], &random)
        case 18: return ordered("updatedAt", c.updatedAt, { $0.updatedAt }, Self.dates, isNaN: isNaN, &random)
        case 19: return links(&random)
        case 20: return reference(&random)
        case 21: return elements(&random)
        case 22: return columns(&random)
        default: return flags(&random)
        }
    }

    private func ordered<P: PropertyExpression>(
        _ name: String, _ property: P, _ get: @escaping (Thing) -> P.Value.Ordered?, _ pool: [P.Value.Ordered],
        isNaN: @escaping (P.Value.Ordered) -> Bool = { _ in false }, _ random: inout SeededGenerator
    ) -> Paired<Thing> where P.Root == Thing, P.Value: QueryOrdered & Equatable {
        let value = random.pick(pool)
        let other = random.pick(pool)
        let wrapped = P.Value.__wrap(value)
        func compare(
            _ sign: String, _ predicate: Tandem.Predicate<Thing>, _ test: @escaping (P.Value.Ordered) -> Bool
        ) -> Paired<Thing> {
            Paired(text: "\(name) \(sign) \(show(value))", predicate: predicate) { thing in
                get(thing).map { !isNaN($0) && !isNaN(value) && test($0) } ?? false
            }
        }
        switch Int.random(in: 0..<8, using: &random) {
        case 0: return compare("<", property < value) { $0 < value }
        case 1: return compare("<=", property <= value) { $0 <= value }
        case 2: return compare(">", property > value) { $0 > value }
        case 3: return compare(">=", property >= value) { $0 >= value }
        case 4:
            return Paired(text: "\(name) == \(show(value))", predicate: property == wrapped) { get($0) == value }
        case 5:
            return Paired(text: "\(name) != \(show(value))", predicate: property != wrapped) { get($0) != value }
        case 6:
            return Paired(
                text: "\(name) in [\(show(value)), \(show(other))]",
                predicate: property.in([wrapped, P.Value.__wrap(other)])
            ) { get($0) == value || get($0) == other }
        default:
            // Swift can't create a range that begins with NaN.
            guard value == value else { return compare("<", property < value) { $0 < value } }
            guard value <= other else { return compare("...", property.contains(value...)) { $0 >= value } }
            return compare("...\(show(other))", property.contains(value...other)) {
                $0 >= value && $0 <= other && !isNaN(other)
            }
        }
    }

    private func text<P: PropertyExpression>(
        _ name: String, _ property: P, _ get: @escaping (Thing) -> String?, _ random: inout SeededGenerator
    ) -> Paired<Thing> where P.Root == Thing, P.Value: QueryText & QueryOrdered & Equatable, P.Value.Ordered == String {
        let value = random.pick(asked)
        let other = random.pick(asked)
        func test(
            _ sign: String, _ predicate: Tandem.Predicate<Thing>, _ test: @escaping (String) -> Bool
        ) -> Paired<Thing> {
            Paired(text: "\(name) \(sign) \(value.debugDescription)", predicate: predicate) {
                get($0).map(test) ?? false
            }
        }
        func scalars(_ text: String) -> [UInt32] { text.unicodeScalars.map(\.value) }
        switch Int.random(in: 0..<11, using: &random) {
        case 0: return test("<", property < value) { scalarOrder($0, value) < 0 }
        case 1: return test("<=", property <= value) { scalarOrder($0, value) <= 0 }
        case 2: return test(">", property > value) { scalarOrder($0, value) > 0 }
        case 3: return test(">=", property >= value) { scalarOrder($0, value) >= 0 }
        case 4: return test("==", property == .__wrap(value)) { scalarOrder($0, value) == 0 }
        case 5:
            return Paired(text: "\(name) != \(value.debugDescription)", predicate: property != .__wrap(value)) {
                get($0).map { scalarOrder($0, value) != 0 } ?? true
            }
        case 6: return test("hasPrefix", property.hasPrefix(value)) { scalars($0).starts(with: scalars(value)) }
        case 7:
            return test("hasSuffix", property.hasSuffix(value)) {
                scalars($0).reversed().starts(with: scalars(value).reversed())
            }
        case 8:
            return test("contains", property.contains(value)) { text in
                let (text, part) = (scalars(text), scalars(value))
                return (0...text.count).contains { text[$0...].starts(with: part) }
            }
        case 9:
            return test("in [\(other.debugDescription)]", property.in([.__wrap(value), .__wrap(other)])) {
                scalarOrder($0, value) == 0 || scalarOrder($0, other) == 0
            }
        default:
            let head = String(value.unicodeScalars.prefix(1)).filter { !"*?\\".contains($0) }
            return test("like \(head)*?", property.like(head + "*?")) {
                scalars($0).starts(with: scalars(head)) && $0.unicodeScalars.count > head.unicodeScalars.count
            }
        }
    }

    private func matching<Value: QueryText>(
        _ name: String, _ property: FoldedProperty<Thing, Value>, _ get: @escaping (Thing) -> String?,
        _ random: inout SeededGenerator
    ) -> Paired<Thing> {
        let needle = random.pick(needles)
        // Bytes are compared, because a space and a following mark are one character.
        let words = Folding.searchKey(needle).utf8.split(separator: 0x20)
        return Paired(text: "\(name) matches \(needle.debugDescription)", predicate: property.matches(needle)) {
            thing in
            guard let key = get(thing).map(Folding.searchKey), !words.isEmpty else { return false }
            return words.allSatisfy { word in
                let (text, part) = (Array(key.utf8), Array(word))
                return (0...text.count).contains { text[$0...].starts(with: part) }
            }
        }
    }

    private func links(_ random: inout SeededGenerator) -> Paired<Thing> {
        let c = Thing.Columns()
        let rank = random.pick([0, 1, 2, 3])
        let tag = random.pick(tags)
        switch Int.random(in: 0..<8, using: &random) {
        case 0:
            return Paired(text: "tags.any rank > \(rank)", predicate: c.tags.any { $0.rank > rank }) {
                tags(of: $0).contains { $0.rank > rank }
            }
        case 1:
            return Paired(text: "tags.all isNew", predicate: c.tags.all { $0.isNew }) {
                tags(of: $0).allSatisfy(\.isNew)
            }
        case 2:
            return Paired(text: "tags.none rank == \(rank)", predicate: c.tags.none { $0.rank == rank }) {
                !tags(of: $0).contains { $0.rank == rank }
            }
        case 3:
            return Paired(text: "tags.count >= \(rank)", predicate: c.tags.count >= rank) { $0.tags.count >= rank }
        case 4: return Paired(text: "tags.isEmpty", predicate: c.tags.isEmpty) { $0.tags.isEmpty }
        case 5:
            return Paired(text: "tags.contains \(tag.localID)", predicate: c.tags.contains(tag)) {
                $0.tags.contains(tag.reference)
            }
        case 6:
            return Paired(text: "owner.things.count > \(rank * 5)", predicate: c.owner.things.count > rank * 5) {
                things(of: owner($0.owner)).count > rank * 5
            }
        default:
            return Paired(
                text: "tags.any { things.all { int >= 0 || owner.age == 30 } }",
                predicate: c.tags.any { $0.things.all { $0.int >= -1 || $0.owner.age == 30 } }
            ) {
                tags(of: $0).contains { tag in
                    things.filter { $0.tags.contains(tag.reference) }
                        .allSatisfy { $0.int >= -1 || owner($0.owner)?.age == 30 }
                }
            }
        }
    }

    private func reference(_ random: inout SeededGenerator) -> Paired<Thing> {
        let c = Thing.Columns()
        let owner = random.pick(owners)
        switch Int.random(in: 0..<5, using: &random) {
        case 0:
            return Paired(text: "owner == \(owner.localID)", predicate: c.owner == owner) {
                $0.owner == owner.reference
            }
        case 1:
            return Paired(text: "owner != \(owner.localID)", predicate: c.owner != owner.reference) {
                $0.owner != owner.reference
            }
        case 2: return Paired(text: "owner == nil", predicate: c.owner == nil) { $0.owner == nil }
        case 3:
            return Paired(text: "owner in [nil, \(owner.localID)]", predicate: c.owner.in([nil, owner.reference])) {
                $0.owner == nil || $0.owner == owner.reference
            }
        default:
            return Paired(text: "owner.boss == nil", predicate: c.owner.boss == nil) {
                self.owner($0.owner)?.boss == nil
            }
        }
    }

    private func elements(_ random: inout SeededGenerator) -> Paired<Thing> {
        let c = Thing.Columns()
        let text = random.pick(asked)
        return random.chance(60)
            ? Paired(text: "labels.contains \(text.debugDescription)", predicate: c.labels.contains(text)) {
                $0.labels.contains { scalarOrder($0, text) == 0 }
            }
            : Paired(text: "labels.count < 3", predicate: c.labels.count < 3) { $0.labels.count < 3 }
    }

    private func columns(_ random: inout SeededGenerator) -> Paired<Thing> {
        let c = Thing.Columns()
        switch Int.random(in: 0..<7, using: &random) {
        case 0: return Paired(text: "text < code", predicate: c.text < c.code) { scalarOrder($0.text, $0.code) < 0 }
        case 1: return Paired(text: "ratio == ratio", predicate: c.ratio == c.ratio) { !$0.ratio.isNaN }
        case 2:
            return Paired(text: "day != updatedAt", predicate: c.day != c.updatedAt) { $0.day != $0.updatedAt }
        case 3:
            return Paired(text: "day <= updatedAt", predicate: c.day <= c.updatedAt) { thing in
                guard let day = thing.day, let updatedAt = thing.updatedAt else { return false }
                return day.timeIntervalSinceReferenceDate <= updatedAt.timeIntervalSinceReferenceDate
            }
        case 4:
            return Paired(text: "nickname == owner.name", predicate: c.nickname == c.owner.name) { thing in
                let name = owner(thing.owner)?.name
                guard let nickname = thing.nickname, let name else { return thing.nickname == nil && name == nil }
                return scalarOrder(nickname, name) == 0
            }
        case 5:
            return Paired(text: "day == updatedAt", predicate: c.day == c.updatedAt) { $0.day == $0.updatedAt }
        default:
            return Paired(text: "day > updatedAt", predicate: c.day > c.updatedAt) { thing in
                guard let day = thing.day, let updatedAt = thing.updatedAt else { return false }
                return day > updatedAt
            }
        }
    }

    private func flags(_ random: inout SeededGenerator) -> Paired<Thing> {
        let c = Thing.Columns()
        let color = random.pick(Shade.allCases)
        switch Int.random(in: 0..<6, using: &random) {
        case 0: return Paired(text: "flag", predicate: c.flag || Tandem.Predicate.false) { $0.flag }
        case 1: return Paired(text: "!flag", predicate: !c.flag) { !$0.flag }
        case 2: return Paired(text: "color == \(color)", predicate: c.color == color) { $0.color == color }
        case 3: return Paired(text: "serverID == nil", predicate: c.serverID == nil) { $0.serverID == nil }
        case 4: return Paired(text: "isSynced", predicate: c.isSynced && Tandem.Predicate.true) { $0.isSynced }
        default: return Paired(text: "nickname == nil", predicate: c.nickname == nil) { $0.nickname == nil }
        }
    }
}
