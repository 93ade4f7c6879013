import BigInt
import Foundation
import TandemTesting
import TestSupport
import Testing

@testable import Tandem

@Suite("Stored values are read as the types of properties", .ownThreads)
struct StoredValueDecodingTests {
    @Test func `rows of SQL and single values are read as each family of types`() throws {
        let store = try Store.inMemory(models: EveryType.self)
        var dice = Dice(seed: 21)
        for _ in 0..<20 {
            let object = EveryType.random(&dice)
            try store.write { try $0.insert(object) }
            let row = try store.sql(
                "SELECT * FROM EveryType WHERE localID = ?", binding: [.text(object.localID.rawValue)])[0]
            #expect(try row.value("flag", as: Bool.self) == object.flag)
            #expect(try row.value("uint64", as: UInt64.self) == object.uint64)
            #expect(try ScalarText.isEqual(row.value("text", as: String.self), object.text))
            #expect(try row.value("big", as: BigInt.self) == object.big)
            #expect(try row.value("decimal", as: Decimal.self) == object.decimal)
            #expect(try row.value("level", as: Level.self) == object.level)
            #expect(try row.value("maybeColor", as: Color?.self) == object.maybeColor)
            #expect(try row.value("maybeUuid", as: UUID?.self) == object.maybeUuid)
            #expect(try row.value("textSet", as: Set<String>.self) == object.textSet)
            #expect(try row.value("one", as: Reference<EveryType>?.self) == object.one)
            #expect(try row.value("place", as: Place.self) == object.place)
            #expect(try row.value("maybePlace", as: Place?.self) == object.maybePlace)
            #expect(try EveryType.value(of: { $0.big }, in: row) == object.big)
            #expect(try row["int8"]?.value(as: Int8.self) == object.int8)
        }
    }

    @Test func `a model's property refuses values that SQLite would convert`() throws {
        let store = try Store.inMemory(models: Voucher.self, Holder.self)
        for value in ["NULL", "'7'", "7.5", "max(1.5, 2.5)"] {
            let row = try #require(try store.sql("SELECT \(value) AS points").first)
            let error = #expect(throws: TandemError.self) { try Voucher.value(of: { $0.points }, in: row) }
            #expect(error?.code == .corrupt && error?.property == "points", "\(value)")
        }
        let row = try #require(try store.sql("SELECT NULL AS city, 7 AS points").first)
        #expect(try Voucher.value(of: { $0.city }, in: row) == .some(nil))
        #expect(try Voucher.value(of: { $0.points }, in: row) == 7)
    }

    @Test func `a base in the queue is read as its property's type`() throws {
        let store = try Store.inMemory(models: Card.self, Person.self, Badge.self)
        let card = try store.applyServerObject(Card(shop: "Лента", barcode: "1", points: 12), serverID: "s")
        try store.write { try $0.update(card) { $0.points += 1 } }
        let operation = try #require(try store.operations.operation(of: card))
        #expect(try Card.value(of: { $0.points }, in: operation.base) == 12)
        #expect(try operation.base["points"]?.value(as: BigInt.self) == 12)
    }

    @Test func `NULL and another type's value are descriptive errors`() throws {
        let null = #expect(throws: TandemError.self) { try StorageValue.null.value(as: Int.self) }
        #expect(null?.code == .invalidValue)
        #expect(try StorageValue.null.value(as: Int?.self) == nil)
        let other = #expect(throws: TandemError.self) { try StorageValue.text("Лента").value(as: BigInt.self) }
        #expect(other?.code == .invalidValue && other?.message.contains("BigInt") == true)
        let noCase = #expect(throws: TandemError.self) { try StorageValue.text("blue").value(as: Color.self) }
        #expect(noCase?.message.contains("blue") == true)
        let row = SQLRow(columns: ["shop"], values: ["Лента"])
        let unknown = #expect(throws: TandemError.self) { try row.value("shp", as: String.self) }
        #expect(unknown?.code == .invalidQuery && unknown?.message.contains("shop") == true)
        let wrong = #expect(throws: TandemError.self) { try row.value("shop", as: Int.self) }
        #expect(wrong?.property == "shop")
    }

    @Test func `a value of another class is rejected with its own form`() throws {
        func message<T: PropertyValue>(of value: StorageValue, as type: T.Type) -> String? {
            #expect(throws: TandemError.self) { try value.value(as: type) }?.message
        }
        for value in [StorageValue.integer(7), .real(7.5), .blob([55])] {
            #expect(message(of: value, as: String.self) == "A stored value is not a String: it is \(value).")
        }
        for value in [StorageValue.real(7.5), .text("7"), .blob([55])] {
            #expect(message(of: value, as: UInt8.self) == "A stored value is not a UInt8: it is \(value).")
        }
        for value in [StorageValue.integer(7), .real(7.5), .text("7")] {
            #expect(message(of: value, as: Data.self) == "A stored value is not a Data: it is \(value).")
        }
        #expect(message(of: .null, as: String.self)?.contains("NULL") == true)
    }

    @Test func `numbers and blobs are read as the JSON of a Codable type`() throws {
        struct Number: Codable, Equatable {
            let value: Double
            init(_ value: Double) { self.value = value }
            init(from decoder: any Decoder) throws { value = try decoder.singleValueContainer().decode(Double.self) }
        }
        #expect(try StorageValue.integer(-12).value(as: Number.self) == Number(-12))
        #expect(try StorageValue.real(2.5).value(as: Number.self) == Number(2.5))
        #expect(try StorageValue.blob([0x31, 0x32]).value(as: Number.self) == Number(12))
    }

    @Test func `nested decoding returns the right value to each decoder`() throws {
        struct Nested: Codable, Hashable {
            let number: Int
            init(from decoder: any Decoder) throws {
                number = try decoder.singleValueContainer().decode(Int.self)
                #expect(try StorageValue.integer(7).value(as: Int.self) == 7)
            }
            func encode(to encoder: any Encoder) throws {
                var container = encoder.singleValueContainer()
                try container.encode(number)
            }
        }
        #expect(try StorageValue.text("3").value(as: Nested.self).number == 3)
    }
}
