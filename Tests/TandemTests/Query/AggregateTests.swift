import BigInt
import Foundation
import TandemTesting
import TestSupport
import Testing

@testable import Tandem

@Suite("Sums are exact, and averages, least and greatest values leave nils out", .ownThreads)
struct AggregateTests {
    @Test(arguments: StoreKind.memoryAndEncrypted)
    func `the sum of nothing is zero and other aggregates are nil`(kind: StoreKind) throws {
        let things = try makeQueryStore(kind: kind).objects(Thing.self)
        #expect(try things.sum(of: \.int) == 0)
        #expect(try things.sum(of: \.amount) == 0)
        #expect(try things.sum(of: \.price) == 0)
        #expect(try things.sum(of: \.ratio) == 0)
        #expect(try things.average(of: \.int) == nil)
        #expect(try things.min(of: \.text) == nil)
        #expect(try things.max(of: \.day) == nil)
    }

    @Test(arguments: StoreKind.memoryAndEncrypted)
    func `an integer sum may overflow in between`(kind: StoreKind) throws {
        let store = try makeQueryStore(kind: kind)
        let things = store.objects(Thing.self)
        try store.put(Thing(int: .max), Thing(int: .max), Thing(int: .min), Thing(int: .min), Thing(int: 5))
        #expect(try things.sum(of: \.int) == 3)
        #expect(try things.average(of: \.int) == 0.6)
    }

    @Test(arguments: StoreKind.memoryAndEncrypted)
    func `an integer sum that does not fit is an error`(kind: StoreKind) throws {
        let store = try makeQueryStore(kind: kind)
        let things = store.objects(Thing.self)
        try store.put(Thing(int: .max), Thing(int: 1))
        let error = #expect(throws: TandemError.self) { try things.sum(of: \.int) }
        #expect(error?.code == .overflow)
        #expect(error?.model == "Thing")
        #expect(error?.property == "int")
        #expect(try things.average(of: \.int) == 4_611_686_018_427_387_904)
    }

    @Test(arguments: StoreKind.memoryAndEncrypted)
    func `narrow integers are summed as Int`(kind: StoreKind) throws {
        let store = try makeQueryStore(kind: kind)
        let things = store.objects(Thing.self)
        try store.put(Thing(small: 127), Thing(small: 127), Thing(small: nil))
        #expect(try things.sum(of: \.small) == 254)
        #expect(try things.average(of: \.small) == 127)
        #expect(try things.max(of: \.small) == 127)
    }

    @Test(arguments: StoreKind.memoryAndEncrypted)
    func `unsigned integers beyond 63 bits are summed`(kind: StoreKind) throws {
        let store = try makeQueryStore(kind: kind)
        let things = store.objects(Thing.self)
        try store.put(Thing(unsigned: UInt64(Int64.max) + 5), Thing(unsigned: 7))
        #expect(try things.sum(of: \.unsigned) == UInt64(Int64.max) + 12)
        #expect(try things.max(of: \.unsigned) == UInt64(Int64.max) + 5)
        try store.put(Thing(unsigned: .max))
        #expect(throws: TandemError.self) { try things.sum(of: \.unsigned) }
    }

    @Test func `sums of integers have the documented types`() {
        let narrow: [Any.Type] = [Int8.Sum.self, Int16.Sum.self, Int32.Sum.self, UInt8.Sum.self, UInt32?.Sum.self]
        #expect(narrow.allSatisfy { $0 == Int.self } && UInt16.Sum.self == Int.self)
        #expect(Int.Sum.self == Int.self && Int64?.Sum.self == Int64.self)
        #expect(UInt.Sum.self == UInt.self && UInt64?.Sum.self == UInt64.self)
        #expect(Int128.Sum.self == Int128.self && UInt128?.Sum.self == UInt128.self)
        #expect(Int64.__sums.kind == .integer && UInt.__sums.kind == .integer)
        #expect(Int128.__sums.kind == .bigInt && UInt128.__sums.kind == .bigInt)
    }

    @Test(arguments: StoreKind.memoryAndEncrypted)
    func `big integers and decimals are summed exactly`(kind: StoreKind) throws {
        let store = try makeQueryStore(kind: kind)
        let things = store.objects(Thing.self)
        let huge = BigInt(10).power(500)
        try store.put(
            Thing(amount: huge, price: Decimal(string: "100000000000000000000")),
            Thing(amount: -1, price: Decimal(string: "0.00000000000000001")), Thing(amount: -huge, price: nil))
        #expect(try things.sum(of: \.amount) == -1)
        #expect(try things.sum(of: \.price) == Decimal(string: "100000000000000000000.00000000000000001"))
        #expect(try things.min(of: \.amount) == -huge)
    }

    @Test(arguments: StoreKind.memoryAndEncrypted)
    func `a decimal sum that would be rounded is an error`(kind: StoreKind) throws {
        let store = try makeQueryStore(kind: kind)
        let things = store.objects(Thing.self)
        try store.put(Thing(price: Decimal(string: "1e100")), Thing(price: 1))
        let error = #expect(throws: TandemError.self) { try things.sum(of: \.price) }
        #expect(error?.code == .overflow)
        #expect(error?.property == "price")
    }

    @Test(arguments: StoreKind.memoryAndEncrypted)
    func `NaN makes a sum NaN and is the greatest value`(kind: StoreKind) throws {
        let store = try makeQueryStore(kind: kind)
        let things = store.objects(Thing.self)
        try store.put(Thing(ratio: 1, float: 0.5), Thing(ratio: .nan, float: 0.25))
        #expect(try things.sum(of: \.ratio).isNaN)
        #expect(try things.max(of: \.ratio)?.isNaN == true)
        #expect(try things.min(of: \.ratio) == 1)
        #expect(try things.sum(of: \.float) == 0.75)
    }

    @Test func `a sum has the stored form of its type`() throws {
        let store = try Store.inMemory(models: Node.self)
        func sum(_ function: String, _ values: String) throws -> StorageValue? {
            try store.sql("SELECT __tandem_sum_\(function)(column1) FROM (VALUES \(values))").first?[0]
        }
        let nan = StorageValue.blob([0x7F, 0xF8, 0, 0, 0, 0, 0, 0])
        #expect(try sum("real", "(1.5), (x'fff8000000000001')") == nan)
        // The processor may give this NaN a sign.
        #expect(try sum("real", "(9e999), (-9e999)") == nan)
        #expect(try sum("real", "(1.5), (NULL), (2.0)") == .real(3.5))
        let integers = try sum("integer", "(x'ffffffffffffffff'), (x'ffffffffffffffff'), (-9223372036854775807 - 1)")
        #expect(integers == Migration.stored(BigInt(UInt64.max) * 2 + BigInt(Int64.min)))
        let least = try sum("integer", "(-9223372036854775807 - 1), (-9223372036854775807 - 1)")
        #expect(least == Migration.stored(BigInt(Int64.min) * 2))
        #expect(try sum("integer", "(NULL)") == Migration.stored(BigInt()))
        #expect(try sum("decimal", "(x'818014'), (x'ff')") == .blob([0xFF]))
        #expect(try sum("decimal", "(x'818014'), (x'818014')") == Migration.stored(2 as Decimal))
    }

    @Test(arguments: StoreKind.memoryAndEncrypted)
    func `infinities are summed`(kind: StoreKind) throws {
        let store = try makeQueryStore(kind: kind)
        let things = store.objects(Thing.self)
        try store.put(Thing(ratio: .infinity), Thing(ratio: 1))
        #expect(try things.sum(of: \.ratio) == .infinity)
        try store.put(Thing(ratio: -.infinity))
        #expect(try things.sum(of: \.ratio).isNaN)
    }

    @Test(arguments: StoreKind.memoryAndEncrypted)
    func `rounding errors do not accumulate`(kind: StoreKind) throws {
        let store = try makeQueryStore(kind: kind)
        let things = store.objects(Thing.self)
        try store.put([Thing(ratio: 1e16)] + (0..<1000).map { _ in Thing(ratio: 1) } + [Thing(ratio: -1e16)])
        #expect(try things.sum(of: \.ratio) == 1000)
    }

    @Test(arguments: StoreKind.memoryAndEncrypted)
    func `values are reached through references`(kind: StoreKind) throws {
        let store = try makeQueryStore(kind: kind)
        let things = store.objects(Thing.self)
        let old = Owner("a", age: 60)
        let young = Owner("b", age: 20)
        try store.put(old, young)
        try store.put(Thing(owner: old.reference), Thing(owner: young.reference), Thing())
        #expect(try things.sum(of: \.owner.age) == 80)
        #expect(try things.average(of: \.owner.age) == 40)
        #expect(try things.max(of: \.owner.name) == "b")
    }

    @Test(arguments: StoreKind.memoryAndEncrypted)
    func `groups are counted and summed`(kind: StoreKind) throws {
        let store = try makeQueryStore(kind: kind)
        let things = store.objects(Thing.self)
        try store.put(
            Thing(code: "b", int: 1, amount: 5, day: Date(timeIntervalSinceReferenceDate: 1)),
            Thing(code: "a", int: 2, amount: BigInt(10).power(30)), Thing(code: "b", int: 3, amount: 7))
        let groups = try things.grouped(by: \.code).values(
            .count, .sum(\.amount), .max(\.day), .average(\.int), .min(\.int))
        #expect(groups.map(\.key) == ["a", "b"])
        #expect(groups.map(\.values.0) == [1, 2])
        #expect(groups.map(\.values.1) == [BigInt(10).power(30), 12])
        #expect(groups.map(\.values.2) == [nil, Date(timeIntervalSinceReferenceDate: 1)])
        #expect(groups.map(\.values.3) == [2, 2])
        #expect(groups.map(\.values.4) == [2, 1])
        let counts = try things.where { $0.int > 1 }.grouped(by: \.owner.name).values(.count)
        #expect(counts.map(\.values) == [2])
        #expect(counts.map(\.key) == [nil])
    }
}
