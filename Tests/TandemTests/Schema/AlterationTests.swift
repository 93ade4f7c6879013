import Foundation
import TandemTesting
import TestSupport
import Testing

@testable import Tandem

/// A model and its changed versions.
@Model(table: "Cards") struct FirstCard {
    var shop: String
}

@Model(table: "Cards", renamedFrom: "FirstCard") struct SecondCard {
    var shop: String
    var isArchived = false
    @Folded var city = "Псков"
}

/// Changes of a model that SQLite can make without rewriting the rows.
@Suite(.ownThreads) struct AlterationTests {
    private static let old: [PropertyDefinition] = [
        .text("shop", folding: .searched), .text("note"),
        PropertyDefinition("points", codec: Codec.of(Int.self), indexed: true, default: { 0 }),
    ]

    private func fill(_ folder: TestFolder, _ count: Int = 3000) throws {
        try folder.open(Flex.Card.version(Self.old)) { store in
            try store.write { tx in
                for index in 0..<count {
                    try tx.insert(
                        Flex.Card(.text("Пятёрочка \(index)"), "Ωμέγα", .integer(Int64(index)), id: LocalID("\(index)"))
                    )
                }
            }
        }
    }

    /// Returns the bytes that opening the store with a version wrote to its log.
    private func written(
        _ folder: TestFolder, _ version: ModelDefinition, rewrites: Bool = false,
        _ check: (Store) throws -> Void = { _ in }
    ) throws -> Int {
        try folder.migrate(version) {
            $0.alwaysRewritesTables = rewrites
        } _: { store in
            let size = try FileManager.default.attributesOfItem(atPath: folder.file() + "-wal")[.size] as? Int
            try check(store)
            return try #require(size)
        }
    }

    @Test(arguments: StoreKind.fileAndEncrypted)
    func `adding and renaming properties writes no row and no index entry`(_ kind: StoreKind) throws {
        let folder = try TestFolder(kind)
        try fill(folder)
        let grown = Flex.Card.version([
            .text("shop", folding: .searched),
            PropertyDefinition("points", codec: Codec.of(Int.self), indexed: true, default: { 0 }),
            PropertyDefinition("remark", codec: Codec.of(String.self), formerNames: ["note"]),
            PropertyDefinition("stars", codec: Codec.of(Int.self), default: { 7 }),
            PropertyDefinition("owner", codec: Codec.of(String?.self)),
        ])
        let bytes = try written(folder, grown) { (store) throws in
            #expect(try store.sql("SELECT count(*) FROM Card WHERE stars = 7 AND owner IS NULL")[0][0] == 3000)
            #expect(try store.sql("SELECT count(*) FROM Card WHERE remark = 'Ωμέγα'")[0][0] == 3000)
            #expect(try store.operations.count() == 3000)
        }
        #expect(bytes < 200_000)
        let again = Flex.Card.version(Array(grown.properties) + [.int("rank", default: 1)])
        let rewritten = try written(folder, again, rewrites: true)
        #expect(rewritten > 1_000_000, "the bound above would not tell the two ways apart")
    }

    @Test(arguments: StoreKind.fileAndEncrypted)
    func `removing a property keeps the search index`(_ kind: StoreKind) throws {
        let folder = try TestFolder(kind)
        try fill(folder, 300)
        func searchPages(_ store: Store) throws -> [[StorageValue]] {
            try store.sql("SELECT id, block FROM __search_Card_data ORDER BY id").map(\.values)
        }
        let before = try folder.open(Flex.Card.version(Self.old)) { try searchPages($0) }
        let shrunk = Flex.Card.version(
            .text("shop", folding: .searched),
            PropertyDefinition("points", codec: Codec.of(Int.self), indexed: true, default: { 0 }))
        try folder.open(shrunk) { (store) throws in
            #expect(try searchPages(store) == before)
            #expect(try store.sql("SELECT name FROM pragma_table_info('Card') WHERE name = 'note'").isEmpty)
            #expect(try store.column("points", of: "Card")["299"] == 299)
        }
    }

    @Test(arguments: StoreKind.fileAndEncrypted)
    func `live queries follow objects from before a property was added`(_ kind: StoreKind) throws {
        let folder = try TestFolder(kind)
        let old = try kind.open(at: folder.file(), [FirstCard.self])
        let cards = try old.write { tx in try (0..<6).map { try tx.insert(FirstCard(shop: "Лента \($0)")) } }
        old.close()
        let store = try kind.open(at: folder.file(), [SecondCard.self])
        defer { store.close() }
        let shown = store.objects(SecondCard.self).where { !$0.isArchived && $0.city.matches("псков") }
            .sorted(by: \.shop)
        let list = shown.changesetPublisher.on(.immediate).record()
        let count = shown.countPublisher.on(.immediate).record()
        var rows: [SecondCard] = []
        #expect(list.waitForValues(1) && count.waitForValues(1))
        let ids = cards.map(\.localID)
        let changes: [(WriteTransaction) throws -> Void] = [
            { tx in _ = try tx.update(SecondCard.self, localID: ids[0]) { $0.isArchived = true } },
            { tx in _ = try tx.update(SecondCard.self, localID: ids[1]) { $0.shop = "Магнит" } },
            { tx in _ = try tx.delete(SecondCard.self, localID: ids[2]) },
            { tx in _ = try tx.update(SecondCard.self, localID: ids[3]) { $0.city = "Тула" } },
            { tx in _ = try tx.update(SecondCard.self, localID: ids[1]) { $0.isArchived = true } },
        ]
        for change in changes { try store.write { try change($0) } }
        for change in list.values { change.apply(to: &rows) }
        #expect(rows.map(\.shop) == ["Лента 4", "Лента 5"])
        #expect(try rows.map(\.localID) == shown.all().map(\.localID))
        #expect(count.values.last == 2)
        list.cancel()
        count.cancel()
    }

    @Test(arguments: StoreKind.fileAndEncrypted)
    func `defaults are kept to the last bit`(_ kind: StoreKind) throws {
        let folder = try TestFolder(kind)
        try fill(folder, 3)
        let texts = ["", "it's", "a\u{0}b", "ƒ 'x' -- \u{1F600}", "Ёлка"]
        let numbers = [0.1, -0.0, .nan, .infinity, 1e300, .leastNonzeroMagnitude, 123456789.12345678, -7]
        let integers: [Int64] = [.min, .max, 0, -1]
        var added: [PropertyDefinition] = []
        var expected: [String: StorageValue] = [:]
        for (index, text) in texts.enumerated() {
            added.append(
                PropertyDefinition("t\(index)", codec: Codec.of(String.self), folding: .searched, default: { text }))
            expected["t\(index)"] = .text(text)
        }
        for (index, number) in numbers.enumerated() {
            added.append(PropertyDefinition("d\(index)", codec: Codec.of(Double.self), default: { number }))
            expected["d\(index)"] = Migration.stored(number)
        }
        for (index, number) in integers.enumerated() {
            added.append(PropertyDefinition("i\(index)", codec: Codec.of(Int64.self), default: { number }))
            expected["i\(index)"] = .integer(number)
        }
        added.append(PropertyDefinition("bytes", codec: Codec.of(Data.self), default: { Data([0, 255, 16]) }))
        expected["bytes"] = .blob([0, 255, 16])
        added.append(PropertyDefinition("list", codec: Codec.of([Int].self), default: { [1, 2] }))
        expected["list"] = Migration.stored([1, 2])
        try folder.open(Flex.Card.version(Self.old + added)) { (store) throws in
            for (name, value) in expected {
                let found = try store.column(name, of: "Card")
                // `==` compares the bits of numbers and the bytes of texts.
                #expect(found == ["0": value, "1": value, "2": value], "\(name)")
            }
        }
    }

    @Test(arguments: StoreKind.fileAndEncrypted)
    func `a default that changes over time is computed for each object`(_ kind: StoreKind) throws {
        let folder = try TestFolder(kind)
        try fill(folder, 8)
        // A coarse clock: it returns the same time for four calls in a row.
        let calls = Counter()
        let makeSeen: @Sendable () -> Date = {
            calls.add()
            return Date(timeIntervalSinceReferenceDate: Double(calls.value / 4))
        }
        let seen = PropertyDefinition("seen", codec: Codec.of(Date.self), default: makeSeen)
        try folder.open(Flex.Card.version(Self.old + [seen])) { (store) throws in
            #expect(Set(try store.column("seen", of: "Card").values).count > 1)
        }
    }

    @Test(arguments: StoreKind.fileAndEncrypted)
    func `an altered table stores, finds and sends objects like a new one`(_ kind: StoreKind) throws {
        let folder = try TestFolder(kind)
        try fill(folder, 20)
        let new = Flex.Card.version([
            PropertyDefinition("name", codec: Codec.of(String.self), folding: .searched, formerNames: ["shop"]),
            PropertyDefinition("code", codec: Codec.of(String.self), unique: true, default: { UUID().uuidString }),
            .text("city", folding: .searched, default: "İstanbul"),
        ])
        try folder.open(new) { (store) throws in
            let (pyat, istanbul) = ("пятер", "istanbul")
            func find(_ column: String, _ text: String) throws -> Int? {
                let needle = "*\(text)*"
                let rows = try store.sql(
                    "SELECT count(*) FROM __search_Card WHERE \"__search_\(column)\" GLOB ?", binding: [.text(needle)])
                return rows[0][0].int
            }
            #expect(try find("name", pyat) == 20)
            #expect(try find("city", istanbul) == 20)
            try store.write { _ = try $0.insert(Flex.Card("Лента", "c", "Пермь", id: "new")) }
            let taken = #expect(throws: TandemError.self) {
                try store.write { _ = try $0.insert(Flex.Card("Лента", "c", "Пермь", id: "newer")) }
            }
            #expect(taken?.code == .duplicateValue && taken?.property == "code")
            #expect(try find("city", "перм") == 1)
            #expect(try store.operations.count() == 21)
        }
    }
}
