import BigInt
import Foundation
import TandemTesting
import TestSupport
import Testing

@testable import Tandem

/// A model whose property types are chosen at run time: generic, and made by opening existential types.
private struct Quad<A: RandomValue, B: RandomValue, C: RandomValue, D: RandomValue>: Model {
    var __state = ObjectState()
    var a: A
    var b: B?
    var c: C
    var d: D?

    static var __definition: ModelDefinition {
        Definitions.shared.definition(of: Self.self) {
            ModelDefinition(
                Self.self, name: "Quad",
                properties: [
                    PropertyDefinition("a", Codec.of(A.self), indexed: true),
                    PropertyDefinition("b", Codec.of(B?.self), indexed: true),
                    PropertyDefinition("c", Codec.of(C.self)),
                    PropertyDefinition("d", Codec.of(D?.self)),
                ])
        }
    }

    struct Columns: ModelColumns {
        typealias Root = Quad
        init() {}
    }

    init(_ random: inout SeededGenerator) {
        a = A.random(&random)
        b = random.chance(1, in: 3) ? nil : B.random(&random)
        c = C.random(&random)
        d = random.chance(1, in: 3) ? nil : D.random(&random)
    }

    init(__row row: RowReader) throws {
        __state = try row.state
        a = try row.value(0, A.self)
        b = try row.value(1, B?.self)
        c = try row.value(2, C.self)
        d = try row.value(3, D?.self)
    }

    func __append(to row: RowBuffer) {
        row.append(a, A.self)
        row.append(b, B?.self)
        row.append(c, C.self)
        row.append(d, D?.self)
    }

    // Not coded in these tests; the protocol wants it.
    init(from decoder: any Decoder) throws { throw CancellationError() }
    func encode(to encoder: any Encoder) throws { throw CancellationError() }
}

/// A generic type has no static stored properties: definitions are kept here, one for each type.
private final class Definitions: @unchecked Sendable {
    static let shared = Definitions()
    // Guarded by the lock.
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
        UInt32.self, UInt64.self, Double.self, Float.self, String.self, Data.self, Date.self, UUID.self, URL.self,
        Decimal.self, BigInt.self, BigUInt.self,
    ]

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

    @Test func modelsOfRandomTypesComeBackAsTheyWere() throws {
        var random = SeededGenerator.seeded()
        let rounds = isSoak ? 2_000 : 60
        for _ in 0..<rounds {
            let (a, b, c, d) = (Self.type(&random), Self.type(&random), Self.type(&random), Self.type(&random))
            try Self.roundTrip(a, b, c, d, &random)
        }
    }

    /// The stored form tells values apart bit by bit, where `==` may not (NaN, canonically equivalent texts).
    private static func stored(_ model: some Model) -> [StorageValue] {
        let row = RowBuffer()
        model.__append(to: row)
        return row.slots.indices.map { row.value(at: $0) }
    }

    private static func roundTrip<A: RandomValue, B: RandomValue, C: RandomValue, D: RandomValue>(
        _ a: A.Type, _ b: B.Type, _ c: C.Type, _ d: D.Type, _ random: inout SeededGenerator
    ) throws {
        typealias M = Quad<A, B, C, D>
        let values = (0..<8).map { _ in M(&random) }
        try StoreKind.file.withStore(M.self) { store in
            try store.write { try $0.insert(contentsOf: values) }
            for value in values {
                let read = try #require(try store.object(ofType: M.self, forPrimaryKey: value.localID))
                #expect(stored(read) == stored(value), "\(M.self)")
            }
            // Changed to other random values, and back from JSON's form where it is exact.
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
            #expect(try store.operations.count() == values.count)
        }
    }
}
