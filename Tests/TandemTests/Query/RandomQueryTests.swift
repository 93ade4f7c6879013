import Foundation
import TandemTesting
import TestSupport
import Testing

@testable import Tandem

@Suite("Random queries agree with plain Swift", .ownThreads)
struct RandomQueryTests {
    /// The seed of this run. `TANDEM_SEED` sets it.
    static let seed =
        SeededGenerator.seed(from: "TANDEM_SEED")

    @Test(arguments: StoreKind.allCases)
    func `filters, orders, distinct, limits and counts agree`(kind: StoreKind) throws {
        print("random queries \(kind): TANDEM_SEED=\(Self.seed)")
        // Each kind has its own queries.
        let index = try #require(StoreKind.allCases.firstIndex(of: kind))
        var random = SeededGenerator(seed: Self.seed &+ UInt64(index))
        for round in 0..<(isSoak ? 25 : 1) {
            let names = QueryNames.sample(&random)
            let world = QueryWorld(&random, count: 120, names: names)
            let store = try makeQueryStore(kind: kind)
            try store.put(world.owners)
            try store.put(world.tags)
            try store.put(world.things)
            for query in 0..<150 {
                let paired = world.predicate(&random)
                let order = world.order(&random)
                let limit = random.chance(30) ? Int.random(in: 0...20, using: &random) : nil
                let offset = random.chance(30) ? Int.random(in: 0...20, using: &random) : 0
                let isDistinct = random.chance(20)

                var results = store.objects(Thing.self).where { _ in paired.predicate }.sorted(
                    by: order.map(\.descriptor))
                if isDistinct { results = results.distinct(by: \.code) }
                if offset > 0 { results = results.offset(offset) }
                if let limit { results = results.limit(limit) }

                var expected = world.things.filter(paired.holds).sorted { Self.precedes($0, $1, order) }
                if isDistinct {
                    var seen: Set<[UInt8]> = []
                    expected = expected.filter { seen.insert(Array($0.code.utf8)).inserted }
                }
                expected = Array(expected.dropFirst(offset).prefix(limit ?? .max))

                let found = try results.all()
                let text = """
                    seed \(Self.seed), \(kind), round \(round), query \(query): \
                    \(try Self.smallest(paired, world, store)) \
                    order \(order.map(\.text)) distinct \(isDistinct) offset \(offset) limit \(limit ?? -1)
                    """
                try #require(found.map(\.localID) == expected.map(\.localID), "\(text)")
                try #require(found.map(Self.stored) == expected.map(Self.stored), "\(text)")
                try #require(try results.count() == expected.count, "\(text)")
                try #require(try results.isEmpty() == expected.isEmpty, "\(text)")
                try #require(try results.localIDs() == expected.map(\.localID), "\(text)")
            }
        }
    }

    /// The script is the first word of a letter's name in Unicode.
    @Test(.enabled(if: BrandNames.areHere, "shared/data/brands.tsv is not here"))
    func `the names of random queries have every script of the brand names`() {
        func scripts(_ names: [String]) -> Set<String> {
            var scripts: Set<String> = []
            for scalar in names.joined().unicodeScalars {
                switch scalar.properties.generalCategory {
                case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .otherLetter:
                    scripts.insert(String((scalar.properties.name ?? "").prefix { $0 != " " }))
                default: break
                }
            }
            return scripts
        }
        let real = scripts(BrandNames.all)
        #expect(real.count >= 14)
        #expect(real.subtracting(scripts(QueryNames.groups.flatMap { $0 })) == [])
        // Each group is in each sample.
        var random = SeededGenerator(seed: 1)
        let sample = Set(QueryNames.sample(&random))
        for group in QueryNames.groups { #expect(!sample.isDisjoint(with: group), "\(group)") }
    }

    /// Returns an object's properties bit by bit, because `==` is false for NaN.
    private static func stored(_ thing: Thing) -> [StorageValue] {
        let row = RowEncoder()
        thing.__append(to: row)
        return row.slots.indices.map { row.value(at: $0) }
    }

    private static func precedes(_ lhs: Thing, _ rhs: Thing, _ order: [PairedOrder]) -> Bool {
        for key in order {
            let result = key.compare(lhs, rhs)
            if result != 0 { return result < 0 }
        }
        return lhs.localID < rhs.localID
    }

    /// Returns the smallest part of a predicate with a different result, or the whole.
    private static func smallest(_ paired: Paired<Thing>, _ world: QueryWorld, _ store: Store) throws -> String {
        let found = try Set(store.objects(Thing.self).where { _ in paired.predicate }.localIDs())
        let expected = Set(world.things.filter(paired.holds).map(\.localID))
        guard found != expected else { return paired.text }
        for part in paired.parts {
            let found = try Set(store.objects(Thing.self).where { _ in part.predicate }.localIDs())
            if found != Set(world.things.filter(part.holds).map(\.localID)) {
                return try smallest(part, world, store)
            }
        }
        return paired.text + " (found \(found.count), expected \(expected.count))"
    }
}
