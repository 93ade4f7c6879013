import BigInt
import Foundation
import TandemTesting
import TestSupport
import Testing

@testable import Tandem

/// Random conditions by names find the same objects as the typed ones, in the app's store and without Swift types.
@Suite(.ownThreads) struct DynamicRandomQueryTests {
    @Test(arguments: StoreKind.files)
    func `conditions and orders by names agree with typed queries`(kind: StoreKind) throws {
        var random = SeededGenerator.seeded("dynamic queries \(kind)")
        let world = QueryWorld(&random, count: 120, names: QueryNames.sample(&random))
        let fixture = try DynamicFixture(kind, models: [Thing.self, Owner.self, Tag.self])
        defer { fixture.owner.close() }
        try fixture.owner.put(world.owners)
        try fixture.owner.put(world.tags)
        try fixture.owner.put(world.things)
        let inspected = try fixture.inspect()
        defer { inspected.close() }
        var conditions = ConditionMaker(random: random, world: world)
        for index in 0..<(isSoak ? 4_000 : 300) {
            let pair = conditions.condition(depth: 3)
            let order = conditions.order()
            let limit = Int.random(in: 1...40, using: &conditions.random)
            let note: Comment = "seed \(random.seed), \(kind), \(index): \(pair.dynamic), \(order.dynamic)"
            let typed = fixture.owner.objects(Thing.self).where { _ in pair.typed }.sorted(by: order.typed)
            let expected = try typed.localIDs()
            for store in [fixture.owner, inspected] {
                let found = try store.objects(named: "Thing").where(pair.dynamic).sorted(by: order.dynamic)
                try #require(try found.localIDs() == expected, note)
                try #require(try found.count() == expected.count, note)
                let page = try found.limit(limit).all()
                try #require(page.map(\.localID) == Array(expected.prefix(limit)), note)
            }
            guard pair.isText else { continue }
            let parsed = try DynamicPredicate(pair.dynamic.description)
            try #require(parsed == pair.dynamic, note)
        }
    }
}

/// A condition in both forms.
private struct PairedCondition {
    let typed: Tandem.Predicate<Thing>
    let dynamic: DynamicPredicate
    /// Whether the text of the condition is read as an equal one.
    var isText = true
}

/// Makes random conditions and orders in both forms.
private struct ConditionMaker {
    var random: SeededGenerator
    let world: QueryWorld
    private let things = Thing.Columns()

    init(random: SeededGenerator, world: QueryWorld) {
        self.random = random
        self.world = world
    }

    mutating func condition(depth: Int) -> PairedCondition {
        guard depth > 0, random.chance(50) else { return test() }
        let (lhs, rhs) = (condition(depth: depth - 1), condition(depth: depth - 1))
        let isText = lhs.isText && rhs.isText
        switch Int.random(in: 0..<3, using: &random) {
        case 0:
            return PairedCondition(
                typed: lhs.typed && rhs.typed, dynamic: .all([lhs.dynamic, rhs.dynamic]), isText: isText)
        case 1:
            return PairedCondition(
                typed: lhs.typed || rhs.typed, dynamic: .any([lhs.dynamic, rhs.dynamic]), isText: isText)
        default: return PairedCondition(typed: !lhs.typed, dynamic: !lhs.dynamic, isText: lhs.isText)
        }
    }

    mutating func order() -> (typed: [SortKey<Thing>], dynamic: [DynamicSort]) {
        let ascending = random.chance(50)
        func keys<P: PropertyExpression>(
            _ path: KeyPath<Thing.Columns, P>, _ name: DynamicPath
        ) -> (typed: SortKey<Thing>, dynamic: DynamicSort) where P.Root == Thing {
            (ascending ? .ascending(path) : .descending(path), DynamicSort(name, ascending: ascending))
        }
        let all = [
            keys(\.text, "text"), keys(\.nickname, "nickname"), keys(\.code, "code"), keys(\.int, "int"),
            keys(\.ratio, "ratio"), keys(\.maybeRatio, "maybeRatio"), keys(\.amount, "amount"), keys(\.price, "price"),
            keys(\.day, "day"), keys(\.uuid, "uuid"), keys(\.owner.name, "owner.name"), keys(\.flag, "flag"),
            keys(\.owner.boss.age, "owner.boss.age"), keys(\.updatedAt, "updatedAt"), keys(\.serverID, "serverID"),
            keys(\.small, "small"), keys(\.unsigned, "unsigned"),
        ]
        let picked = (0..<Int.random(in: 0...2, using: &random)).map { _ in random.pick(all) }
        return (picked.map(\.typed), picked.map(\.dynamic))
    }

    private mutating func test() -> PairedCondition {
        switch Int.random(in: 0..<18, using: &random) {
        case 0: return compared(things.int, "int", random.pick(QueryWorld.ints)) { .integer(Int64($0)) }
        case 1: return compared(things.unsigned, "unsigned", random.pick(QueryWorld.unsigned)) { .bigInt(BigInt($0)) }
        case 2: return compared(things.ratio, "ratio", random.pick(QueryWorld.doubles)) { .double($0) }
        case 3: return compared(things.maybeRatio, "maybeRatio", random.pick(QueryWorld.doubles)) { .double($0) }
        case 4: return compared(things.amount, "amount", random.pick(QueryWorld.bigs)) { .bigInt($0) }
        case 5: return compared(things.price, "price", random.pick(QueryWorld.decimals)) { .decimal($0) }
        case 6: return compared(things.day, "day", random.pick(QueryWorld.dates)) { .date($0) }
        case 7: return compared(things.uuid, "uuid", random.pick(QueryWorld.uuids)) { .uuid($0) }
        case 8: return compared(things.code, "code", text()) { .string($0) }
        case 9: return compared(things.owner.name, "owner.name", text()) { .string($0) }
        case 10:
            return compared(things.owner.boss.age, "owner.boss.age", random.pick([1, 30, 50])) { .integer(Int64($0)) }
        case 11: return tested(things.code, "code")
        case 12: return tested(things.nickname, "nickname")
        case 13: return folded()
        case 14: return linked()
        case 15: return state()
        case 16:
            let names = [text(), text()]
            return PairedCondition(
                typed: things.code.in(names), dynamic: .in("code", values: names.map { .string($0) }))
        default: return nilOrFlag()
        }
    }

    private mutating func text() -> String { random.pick(QueryWorld.texts + world.things.map(\.code)) }

    private mutating func compared<P: PropertyExpression>(
        _ property: P, _ path: DynamicPath, _ value: P.Value.Ordered, _ dynamic: (P.Value.Ordered) -> DynamicValue
    ) -> PairedCondition where P.Root == Thing, P.Value: QueryOrdered & Equatable {
        let comparison = random.pick(DynamicComparison.allCases)
        let typed: Tandem.Predicate<Thing> =
            switch comparison {
            case .equal: property == P.Value.__wrap(value)
            case .notEqual: property != P.Value.__wrap(value)
            case .less: property < value
            case .lessOrEqual: property <= value
            case .greater: property > value
            case .greaterOrEqual: property >= value
            }
        let operand = dynamic(value)
        // Only these have a literal in the text.
        let isText = if case .string = operand { true } else if case .integer = operand { true } else { false }
        return PairedCondition(typed: typed, dynamic: .compare(path, by: comparison, to: operand), isText: isText)
    }

    private mutating func tested<P: PropertyExpression>(_ property: P, _ path: DynamicPath) -> PairedCondition
    where P.Root == Thing, P.Value: QueryText {
        let part = random.pick([text(), String(text().prefix(1)), ""])
        let test = random.pick(DynamicTextTest.allCases)
        let typed =
            switch test {
            case .beginsWith: property.hasPrefix(part)
            case .endsWith: property.hasSuffix(part)
            case .contains: property.contains(part)
            case .like: property.like(part)
            }
        return PairedCondition(typed: typed, dynamic: .text(path, test: test, operand: part, case: .exact))
    }

    private mutating func folded() -> PairedCondition {
        let part = random.pick([text(), String(text().prefix(2)), text().uppercased()])
        return switch Int.random(in: 0..<5, using: &random) {
        case 0: PairedCondition(typed: things.text.matches(part), dynamic: .matches("text", words: part))
        case 1:
            PairedCondition(typed: things.text.matches(part), dynamic: .text("text", test: .contains, operand: part))
        case 2:
            PairedCondition(
                typed: things.text.folded.hasPrefix(part), dynamic: .text("text", test: .beginsWith, operand: part))
        case 3:
            PairedCondition(
                typed: things.nickname.folded == part, dynamic: .compareFolded("nickname", by: .equal, to: part))
        default:
            PairedCondition(
                typed: things.owner.name.folded != part, dynamic: .compareFolded("owner.name", by: .notEqual, to: part))
        }
    }

    private mutating func linked() -> PairedCondition {
        let rank = Int.random(in: 0..<4, using: &random)
        let tag = random.pick(world.tags)
        return switch Int.random(in: 0..<7, using: &random) {
        case 0:
            PairedCondition(
                typed: things.tags.any { $0.rank > rank },
                dynamic: .linked(
                    "tags", quantifier: .any, where: .compare("rank", by: .greater, to: .integer(Int64(rank)))))
        case 1:
            PairedCondition(
                typed: things.tags.all { $0.isNew }, dynamic: .linked("tags", quantifier: .all, where: .isTrue("isNew"))
            )
        case 2:
            PairedCondition(
                typed: things.tags.none { $0.name == tag.name },
                dynamic: .linked("tags", quantifier: .none, where: .compare("name", by: .equal, to: .string(tag.name))))
        case 3: PairedCondition(typed: things.tags.count > rank, dynamic: .count("tags", by: .greater, to: rank))
        case 4:
            PairedCondition(
                typed: things.tags.contains(tag), dynamic: .contains("tags", value: .reference(tag.localID)),
                isText: false)
        case 5:
            PairedCondition(
                typed: things.owner.things.any { $0.flag },
                dynamic: .linked("owner.@links.Thing.owner", quantifier: .any, where: .isTrue("flag")))
        default: PairedCondition(typed: things.labels.count == rank, dynamic: .count("labels", by: .equal, to: rank))
        }
    }

    private mutating func state() -> PairedCondition {
        let date = random.pick(QueryWorld.dates)
        let id = random.pick(world.things).localID
        return switch Int.random(in: 0..<4, using: &random) {
        case 0: PairedCondition(typed: things.isSynced == true, dynamic: .isTrue("isSynced"))
        case 1: PairedCondition(typed: things.serverID == nil, dynamic: .isNil("serverID"))
        case 2:
            PairedCondition(
                typed: things.updatedAt > date, dynamic: .compare("updatedAt", by: .greater, to: .date(date)),
                isText: false)
        default:
            PairedCondition(
                typed: things.localID <= id, dynamic: .compare("localID", by: .lessOrEqual, to: .string(id.rawValue)))
        }
    }

    private mutating func nilOrFlag() -> PairedCondition {
        switch Int.random(in: 0..<4, using: &random) {
        case 0: PairedCondition(typed: things.nickname == nil, dynamic: .isNil("nickname"))
        case 1:
            PairedCondition(typed: things.owner.boss != nil, dynamic: .compare("owner.boss", by: .notEqual, to: .null))
        case 2: PairedCondition(typed: things.flag.asPredicate, dynamic: .isTrue("flag"))
        default: PairedCondition(typed: things.small == nil, dynamic: .isNil("small"))
        }
    }
}
