import BigInt
import Foundation
import TandemTesting
import TestSupport
import Testing

@testable import Tandem

@Suite(.ownThreads) struct TypeChangeTests {
    @Test(arguments: StoreKind.fileAndEncrypted)
    func `a wider integer keeps its values`(kind: StoreKind) throws {
        let folder = try TestFolder(kind)
        let values = try folder.change(
            [.integer(Int64(Int32.min)), 0, .integer(Int64(Int32.max))],
            from: PropertyDefinition("x", codec: Codec.of(Int32.self)),
            to: PropertyDefinition("x", codec: Codec.of(Int64.self)))
        #expect(values == [.integer(Int64(Int32.min)), 0, .integer(Int64(Int32.max))])
    }

    @Test(arguments: StoreKind.fileAndEncrypted)
    func `an unsigned integer can become a wider signed one`(kind: StoreKind) throws {
        let folder = try TestFolder(kind)
        let values = try folder.change(
            [.integer(Int64(UInt32.max))],
            from: PropertyDefinition("x", codec: Codec.of(UInt32.self)),
            to: PropertyDefinition("x", codec: Codec.of(Int.self)))
        #expect(values == [.integer(Int64(UInt32.max))])
    }

    @Test(arguments: StoreKind.fileAndEncrypted)
    func `an integer can become a BigInt`(kind: StoreKind) throws {
        let folder = try TestFolder(kind)
        let numbers: [Int64] = [.min, -1, 0, 1, .max]
        let values = try folder.change(
            numbers.map { .integer($0) },
            from: PropertyDefinition("x", codec: Codec.of(Int.self)),
            to: PropertyDefinition("x", codec: Codec.of(BigInt.self)))
        #expect(values == numbers.map { Migration.stored(BigInt($0)) })
    }

    @Test(
        arguments: [
            PropertyDefinition("x", codec: Codec.of(BigInt.self)),
            PropertyDefinition("x", codec: Codec.of(BigUInt.self)),
        ], StoreKind.fileAndEncrypted)
    func `UInt64 becomes BigInt or BigUInt, also above the range of Int64`(
        _ new: PropertyDefinition, kind: StoreKind
    ) throws {
        let folder = try TestFolder(kind)
        let numbers: [UInt64] = [0, 1, UInt64(Int64.max), UInt64(Int64.max) + 1, .max]
        let values = try folder.change(
            numbers.map { Migration.stored($0) }, from: PropertyDefinition("x", codec: Codec.of(UInt64.self)), to: new)
        #expect(values == numbers.map { Migration.stored(BigInt($0)) })
    }

    @Test(arguments: StoreKind.fileAndEncrypted)
    func `a float can become a double, also if it is NaN`(kind: StoreKind) throws {
        let folder = try TestFolder(kind)
        let numbers: [Float] = [0.1, -0.0, .infinity, .nan, .greatestFiniteMagnitude, .leastNonzeroMagnitude]
        let values = try folder.change(
            numbers.map { Migration.stored($0) },
            from: PropertyDefinition("x", codec: Codec.of(Float.self)),
            to: PropertyDefinition("x", codec: Codec.of(Double.self)))
        #expect(values == numbers.map { Migration.stored(Double($0)) })
    }

    @Test(arguments: StoreKind.fileAndEncrypted)
    func `a property that becomes required gets the default where it was nil`(kind: StoreKind) throws {
        let folder = try TestFolder(kind)
        let values = try folder.change(
            [.null, "", "x"], from: PropertyDefinition("x", codec: Codec.of(String?.self)),
            to: .text("x", folding: .searched, default: "none"))
        #expect(values == ["none", "", "x"])
    }

    @Test(arguments: StoreKind.fileAndEncrypted)
    func `a property without nils can become required without a default`(kind: StoreKind) throws {
        let folder = try TestFolder(kind)
        let values = try folder.change(
            ["", "x"], from: PropertyDefinition("x", codec: Codec.of(String?.self)), to: .text("x"))
        #expect(values == ["", "x"])
    }

    @Test(arguments: StoreKind.fileAndEncrypted)
    func `a property with nils can't become required without a default`(kind: StoreKind) throws {
        let folder = try TestFolder(kind)
        let error = expectError(.schemaMismatch) {
            try folder.change(
                ["x", .null], from: PropertyDefinition("x", codec: Codec.of(String?.self)), to: .text("x"))
        }
        #expect(error?.model == "Card" && error?.property == "x")
    }

    @Test(arguments: StoreKind.fileAndEncrypted)
    func `a required property can become optional`(kind: StoreKind) throws {
        let folder = try TestFolder(kind)
        let values = try folder.change(
            ["", "x"], from: .text("x"), to: PropertyDefinition("x", codec: Codec.of(String?.self)))
        #expect(values == ["", "x"])
    }

    @Test(
        arguments: [
            (PropertyDefinition.text("x"), PropertyDefinition.int("x", default: 0), "String", "Int64"),
            (.int("x"), PropertyDefinition("x", codec: Codec.of(Int32.self)), "Int64", "Int32"),
            (.int("x"), PropertyDefinition("x", codec: Codec.of(Double.self)), "Int64", "Double"),
            (
                PropertyDefinition("x", codec: Codec.of(Double.self)),
                PropertyDefinition("x", codec: Codec.of(Float.self)), "Double",
                "Float"
            ),
            (PropertyDefinition("x", codec: Codec.of(BigInt.self)), .int("x"), "BigInt", "Int64"),
            (
                PropertyDefinition("x", codec: Codec.of(Date.self)),
                PropertyDefinition("x", codec: Codec.of(Double.self)), "Date",
                "Double"
            ),
        ], StoreKind.fileAndEncrypted)
    func `a change of type without a rule is refused and names both types`(
        _ example: (PropertyDefinition, PropertyDefinition, String, String), kind: StoreKind
    ) throws {
        let (old, new, oldName, newName) = example
        let folder = try TestFolder(kind)
        try folder.open(Flex.Card.version(old))
        let before = try folder.storeBytes()
        let error = expectError(.schemaMismatch) { try folder.open(Flex.Card.version(new)) }
        #expect(error?.model == "Card" && error?.property == "x")
        #expect(error?.message.contains("from \(oldName) to \(newName).") == true)
        #expect(try folder.storeBytes() == before)
    }

    @Test(arguments: StoreKind.fileAndEncrypted)
    func `an enum without a stored case is refused when the table is rewritten`(kind: StoreKind) throws {
        let folder = try TestFolder(kind)
        enum Old: String, Sendable { case red, green }
        enum New: String, Sendable { case green }
        try folder.open(Flex.Card.version(PropertyDefinition("x", codec: Codec.of(Old.self)))) { store in
            _ = try store.write { try $0.insert(Flex.Card("red", id: "1")) }
        }
        let before = try folder.storeBytes()
        let error = expectError(.schemaMismatch) {
            try folder.migrate(
                Flex.Card.version(PropertyDefinition("x", codec: Codec.of(New.self)), .int("n", default: 0))
            ) {
                $0.alwaysRewritesTables = true
            }
        }
        #expect(error?.property == "x")
        #expect(try folder.storeBytes() == before)
    }

    @Test(arguments: StoreKind.fileAndEncrypted)
    func `a Codable value that is no longer readable is refused`(kind: StoreKind) throws {
        let folder = try TestFolder(kind)
        struct Old: Codable, Sendable { var a: Int }
        struct New: Codable, Sendable { var b: Int }
        try folder.open(Flex.Card.version(PropertyDefinition("x", codec: Codec.of(Old.self)))) { store in
            _ = try store.write { try $0.insert(Flex.Card(Migration.stored(json: "{\"a\":1}"), id: "1")) }
        }
        let error = expectError(.schemaMismatch) {
            try folder.open(Flex.Card.version(PropertyDefinition("x", codec: Codec.of(New.self))))
        }
        #expect(error?.model == "Card" && error?.property == "x" && error?.underlying != nil)
    }

    @Test(
        arguments: [
            (PropertyDefinition.Folding.none, PropertyDefinition.Folding.sorted), (.none, .searched),
            (.sorted, .searched),
            (.searched, .sorted), (.searched, .none),
        ], StoreKind.fileAndEncrypted)
    func `folding can be added, changed and removed`(
        _ change: (PropertyDefinition.Folding, PropertyDefinition.Folding), kind: StoreKind
    ) throws {
        let (old, new) = change
        let folder = try TestFolder(kind)
        let values = try folder.change(
            ["Пятёрочка", "", "a\u{0}B"], from: .text("x", folding: old), to: .text("x", folding: new))
        #expect(values == ["Пятёрочка", "", "a\u{0}B"])
        let tables = try folder.open(Flex.Card.version(.text("x", folding: new))) { store in
            try store.rows("SELECT name FROM sqlite_master WHERE name = '__search_Card'")
        }
        #expect(tables.isEmpty == (new != .searched))
    }

    @Test(arguments: StoreKind.fileAndEncrypted)
    func `a store of older folding rules is folded again`(kind: StoreKind) throws {
        let folder = try TestFolder(kind)
        let version = Flex.Card.version(.text("shop", folding: .searched))
        let other = Flex.Person.version(.text("name", folding: .searched))
        try folder.open(version, other, checks: false) { store in
            try store.write { tx in
                try tx.insert(Flex.Card("ПЯТЁРОЧКА", id: "1"))
                try tx.insert(Flex.Person("АДА", id: "1"))
            }
            // The values as other rules would have folded them.
            try store.writer.queue.unsafeReentrantWrite { _ in
                for (table, column) in [("Card", "shop"), ("Person", "name")] {
                    let old = StorageValue.text("old rules")
                    try store.writer.connection.execute(
                        "UPDATE \(table) SET __sort_\(column) = ?, __search_\(column) = ?", binding: [old, old])
                    try store.writer.connection.execute(
                        "INSERT INTO __search_\(table)(__search_\(table)) VALUES ('rebuild')")
                }
                try store.writer.connection.execute(
                    "UPDATE __settings SET value = ? WHERE key = 'foldingVersion'",
                    binding: [.integer(Int64(Folding.version - 1))])
            }
            // The checks at the end must not see it.
            #expect(try store.rows("SELECT __sort_shop FROM Card") == [["old rules"]])
        }
        // The omitted model is folded again when it is given.
        try folder.open(version) { (store) throws in
            #expect(
                try store.rows("SELECT __sort_shop, shop FROM Card") == [
                    [.blob(store.collation.key(for: "ПЯТЁРОЧКА")), "ПЯТЁРОЧКА"]
                ])
            #expect(
                try store.rows("SELECT value FROM __settings WHERE key = 'foldingVersion'") == [
                    [.integer(Int64(Folding.version))]
                ])
        }
        try folder.open(version, other) { (store) throws in
            #expect(try store.rows("SELECT __sort_name FROM Person") == [[.blob(store.collation.key(for: "АДА"))]])
        }
    }
}

extension TestFolder {
    /// Opens a store whose one property has one type, inserts values, and opens it with the property of another type.
    fileprivate func change(
        _ values: [StorageValue], from old: PropertyDefinition, to new: PropertyDefinition
    ) throws -> [StorageValue] {
        try open(Flex.Card.version(old)) { store in
            try store.write { tx in
                for (index, value) in values.enumerated() { try tx.insert(Flex.Card(value, id: LocalID("\(index)"))) }
            }
        }
        return try open(Flex.Card.version(new)) { store in
            try store.rows("SELECT x FROM Card ORDER BY \"__rid\"").map { $0[0] }
        }
    }
}

extension Migration {
    /// Returns a `Codable` value's stored form.
    static func stored(json: String) -> StorageValue { .text(json) }
}
