import BigInt
import Foundation
import TandemTesting
import TestSupport
import Testing

@testable import Tandem
@testable import TandemTestScript

/// Random old and new lists of properties: those in both keep their values.
@Suite(.ownThreads) struct RandomMigrationTests {
    private struct Shape: Equatable {
        var kind: Int
        var isOptional: Bool
        var folding: PropertyDefinition.Folding
        var isIndexed: Bool

        init(_ random: inout PeerRandom) {
            kind = Int.random(in: 0..<7, using: &random)
            isOptional = Bool.random(using: &random)
            folding = kind == 0 ? [.none, .sorted, .searched].randomElement(using: &random)! : .none
            isIndexed = Bool.random(using: &random)
        }

        func definition(_ name: String, column: String, formerNames: [String]) -> PropertyDefinition {
            func make<T: PropertyValue>(_ value: T) -> PropertyDefinition {
                isOptional
                    ? PropertyDefinition(
                        name, codec: Codec.of(T?.self), column: column, folding: folding, indexed: isIndexed,
                        formerNames: formerNames)
                    : PropertyDefinition(
                        name, codec: Codec.of(T.self), column: column, folding: folding, indexed: isIndexed,
                        formerNames: formerNames, default: { value })
            }
            switch kind {
            case 0: return make("default")
            case 1: return make(7)
            case 2: return make(0.5)
            case 3: return make(BigInt(-5))
            case 4: return make(Data([1, 2]))
            case 5: return make([1, 2, 3])
            default: return make(true)
            }
        }

        /// The stored form of the default.
        var defaultValue: StorageValue {
            if isOptional { return .null }
            return switch kind {
            case 0: "default"
            case 1: 7
            case 2: .real(0.5)
            case 3: Migration.stored(BigInt(-5))
            case 4: .blob([1, 2])
            case 5: Migration.stored([1, 2, 3])
            default: 1
            }
        }

        func value(_ random: inout PeerRandom) -> StorageValue {
            if isOptional && Int.random(in: 0..<4, using: &random) == 0 { return .null }
            return switch kind {
            case 0: .text(["", "Ёлка", "a\u{0}b", "ß", "x y"].randomElement(using: &random)!)
            case 1: .integer(Int64.random(in: .min ... .max, using: &random))
            case 2: Migration.stored([0.1, -0.0, .nan, .infinity].randomElement(using: &random)!)
            case 3: Migration.stored(BigInt(Int.random(in: -9...9, using: &random)).power(40))
            case 4: .blob(Array(repeating: 0, count: Int.random(in: 0...3, using: &random)))
            case 5: Migration.stored((0..<Int.random(in: 0...3, using: &random)).map { $0 })
            default: .integer(Int64.random(in: 0...1, using: &random))
            }
        }
    }

    private typealias Properties = [(name: String, column: String, shape: Shape, former: [String])]

    private func version(_ properties: Properties, table: String) -> ModelDefinition {
        Flex.Card.version(
            properties.map { $0.shape.definition($0.name, column: $0.column, formerNames: $0.former) }, table: table)
    }

    private func next(after old: Properties, _ random: inout PeerRandom) -> Properties {
        var new: Properties = []
        for property in old where Int.random(in: 0..<4, using: &random) > 0 {
            var property = property
            property.former = []
            if Int.random(in: 0..<6, using: &random) == 0 {
                property.former = [property.name]
                property.name = "r\(UInt64.random(in: 0...(1 << 60), using: &random))"
                if Bool.random(using: &random) { property.column = property.name }
            }
            if Int.random(in: 0..<3, using: &random) == 0 {
                let changed = Shape(&random)
                // The type stays, and the rest may change.
                property.shape.isOptional = changed.isOptional
                property.shape.isIndexed = changed.isIndexed
                if property.shape.kind == 0 { property.shape.folding = changed.folding }
            }
            if Int.random(in: 0..<6, using: &random) == 0 {
                property.column = "c\(UInt16.random(in: 0...999, using: &random))"
            }
            new.append(property)
        }
        for _ in 0..<Int.random(in: 0...3, using: &random) {
            // A name is never reused with another type.
            let name = "p\(UInt64.random(in: 0...(1 << 60), using: &random))"
            new.append((name, name, Shape(&random), []))
        }
        var columns: Set<String> = []
        new.removeAll { !columns.insert($0.column).inserted }
        var names: Set<String> = []
        new.removeAll { !names.insert($0.name).inserted }
        return new.shuffled(using: &random)
    }

    @Test func `properties in both versions keep their values`() throws {
        let base =
            ProcessInfo.processInfo.environment["TANDEM_SEED"].flatMap(UInt64.init) ?? UInt64.random(in: 0...999_999)
        print("RandomMigrationTests: TANDEM_SEED=\(base)")
        let rounds = isSoak ? 2000 : 60
        for round in 0..<rounds { try migrate(seed: base &+ UInt64(round)) }
    }

    private func migrate(seed: UInt64) throws {
        var random = PeerRandom(seed)
        let folder = try TestFolder(StoreKind.files[Int(seed % 3)])
        var properties: Properties = next(after: [], &random)
        var expected: [String: [String: StorageValue]] = [:]
        var table = "Card"
        for generation in 0..<4 {
            if Int.random(in: 0..<4, using: &random) == 0 { table = "T\(generation)" }
            // Both ways give the same table: altered where possible, and always rewritten.
            try folder.migrate(version(properties, table: table)) {
                $0.alwaysRewritesTables = seed % 2 == 1
            } _: { store in
                let columns = (["localID"] + properties.map(\.column)).map(\.quotedSQL).joined(separator: ", ")
                var found: [String: [String: StorageValue]] = [:]
                for row in try store.sql("SELECT \(columns) FROM \(table)") {
                    found[row[0].string!] = Dictionary(
                        uniqueKeysWithValues: zip(properties.map(\.name), row.values.dropFirst()))
                }
                #expect(found == expected, "seed \(seed), generation \(generation)")
                try store.write { tx in
                    for index in 0..<5 {
                        let id = "\(generation)-\(index)"
                        var card = Flex.Card(id: LocalID(id))
                        card.values = properties.map { $0.shape.value(&random) }
                        try tx.insert(card)
                        expected[id] = Dictionary(
                            uniqueKeysWithValues: zip(properties.map(\.name), card.values))
                    }
                }
                #expect(try store.operations.count() == expected.count)
            }
            properties = next(after: properties, &random)
            expected = expected.mapValues { values in
                Dictionary(
                    uniqueKeysWithValues: properties.map { property in
                        let kept = values[property.former.first ?? property.name]
                        let isLost = kept == nil || (kept == .null && !property.shape.isOptional)
                        return (property.name, isLost ? property.shape.defaultValue : kept!)
                    })
            }
        }
    }
}
