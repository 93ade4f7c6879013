import BigInt
import Foundation
import TandemTesting
import TestSupport
import Testing

@testable import Tandem

/// A generic model whose property types are chosen at run time, by opening existential types.
private struct Quad<A: RandomProperty, B: RandomProperty, C: RandomProperty, D: RandomProperty>: Model {
    var __state = ObjectState()
    var a: A.Value
    var b: B.Value
    var c: C.Value
    var d: D.Value

    static var __definition: ModelDefinition {
        Definitions.shared.definition(of: Self.self) {
            ModelDefinition(
                Self.self, name: "Quad",
                properties: [
                    PropertyDefinition("a", codec: A.codec, folding: A.folding, indexed: true),
                    PropertyDefinition("b", codec: B.codec, folding: B.folding, indexed: true),
                    PropertyDefinition("c", codec: C.codec, folding: C.folding),
                    PropertyDefinition("d", codec: D.codec, folding: D.folding),
                ])
        }
    }

    struct Columns: ModelColumns {
        typealias Root = Quad
        init() {}
    }

    init(_ random: inout SeededGenerator) {
        a = A.random(&random)
        b = B.random(&random)
        c = C.random(&random)
        d = D.random(&random)
    }

    init(__row row: RowDecoder) throws {
        __state = try row.state
        a = try A.read(row, 0)
        b = try B.read(row, 1)
        c = try C.read(row, 2)
        d = try D.read(row, 3)
    }

    func __append(to row: RowEncoder) {
        A.append(a, to: row)
        B.append(b, to: row)
        C.append(c, to: row)
        D.append(d, to: row)
    }

    // The protocol requires coding, but these tests never use it.
    init(from decoder: any Decoder) throws { throw CancellationError() }
    func encode(to encoder: any Encoder) throws { throw CancellationError() }
}

/// A generic type has no static stored properties, so the definitions are kept here, one for each type.
private final class Definitions: @unchecked Sendable {
    static let shared = Definitions()
    // The lock guards this dictionary.
    private var definitions: [ObjectIdentifier: ModelDefinition] = [:]
    private let lock = NSLock()

    func definition(of type: any Model.Type, _ make: () -> ModelDefinition) -> ModelDefinition {
        lock.withLock {
            if let known = definitions[ObjectIdentifier(type)] { return known }
            let made = make()
            definitions[ObjectIdentifier(type)] = made
            return made
        }
    }
}

@Suite(.ownThreads) struct RandomModelTests {
    private static let scalars: [any RandomValue.Type] = [
        Bool.self, Int.self, Int8.self, Int16.self, Int32.self, Int64.self, UInt.self, UInt8.self, UInt16.self,
        UInt32.self, UInt64.self, Int128.self, UInt128.self, Double.self, Float.self, String.self, Data.self, Date.self,
        UUID.self, URL.self, Decimal.self, BigInt.self, BigUInt.self,
    ]

    private static let others: [any RandomProperty.Type] = [
        Case<Level>.self, Case<Color>.self, Case<Shade>.self, Coded.self, SortedText.self, SearchedText.self,
        Maybe<Case<Level>>.self, Maybe<Case<Color>>.self, Maybe<Case<Shade>>.self, Maybe<Coded>.self,
        Maybe<SortedText>.self, Maybe<SearchedText>.self, Link.self, Links.self,
    ]

    private static func property(_ random: inout SeededGenerator) -> any RandomProperty.Type {
        func plain<T: RandomValue>(_ type: T.Type, _ isOptional: Bool) -> any RandomProperty.Type {
            isOptional ? Maybe<Plain<T>>.self : Plain<T>.self
        }
        return random.chance(1, in: 2) ? random.oneOf(others) : plain(type(&random), random.chance(1, in: 2))
    }

    private static func type(_ random: inout SeededGenerator) -> any RandomValue.Type {
        func array<T: RandomValue>(_ type: T.Type) -> any RandomValue.Type { [T].self }
        func set<T: RandomValue>(_ type: T.Type) -> any RandomValue.Type { Set<T>.self }
        func dictionary<T: RandomValue>(_ type: T.Type) -> any RandomValue.Type { [String: T].self }
        let scalar = random.oneOf(scalars)
        switch Int.random(in: 0..<8, using: &random) {
        case 0: return array(scalar)
        case 1: return set(scalar)
        case 2: return dictionary(scalar)
        case 3: return array(array(scalar))
        default: return scalar
        }
    }

    @Test func `random models are read back unchanged`() throws {
        var random = SeededGenerator.seeded()
        let rounds = isSoak ? 2_000 : 60
        for round in 0..<rounds {
            let (a, b) = (Self.property(&random), Self.property(&random))
            let (c, d) = (Self.property(&random), Self.property(&random))
            try Self.roundTrip(a, b, c, d, StoreKind.allCases[round % StoreKind.allCases.count], &random)
        }
    }

    /// The stored form distinguishes values bit by bit. `==` may not, as with NaN and canonically equivalent texts.
    private static func stored(_ model: some Model) -> [StorageValue] {
        let row = RowEncoder()
        model.__append(to: row)
        return row.slots.indices.map { row.value(at: $0) }
    }

    private static func roundTrip<A: RandomProperty, B: RandomProperty, C: RandomProperty, D: RandomProperty>(
        _ a: A.Type, _ b: B.Type, _ c: C.Type, _ d: D.Type, _ kind: StoreKind, _ random: inout SeededGenerator
    ) throws {
        typealias M = Quad<A, B, C, D>
        let values = (0..<8).map { _ in M(&random) }
        try kind.withStore(M.self, Tag.self) { store in
            try store.write { tx in
                try tx.insert(contentsOf: Links.tags)
                try tx.insert(contentsOf: values)
            }
            for value in values {
                let read = try #require(try store.object(ofType: M.self, forPrimaryKey: value.localID))
                #expect(stored(read) == stored(value), "\(M.self)")
            }
            // The object gets other random values, and those from JSON where JSON is exact.
            for value in values {
                var changed = M(&random)
                changed.__state = value.__state
                try store.write { try $0.update(changed) }
                let read = try #require(try store.object(ofType: M.self, forPrimaryKey: value.localID))
                #expect(stored(read) == stored(changed), "\(M.self)")
                try store.write { tx in
                    try tx.upsert(
                        M.self,
                        values: ["localID": value.localID, "a": value.a, "b": value.b, "c": value.c, "d": value.d])
                }
                let back = try #require(try store.object(ofType: M.self, forPrimaryKey: value.localID))
                #expect(stored(back) == stored(value), "\(M.self)")
            }
            #expect(try store.operations.count() == Links.tags.count + values.count)
            // The sort keys, the search index and the link tables follow the values.
            try store.expectSound()
        }
    }
}
