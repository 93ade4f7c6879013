import Tandem
import Testing

@testable import DiscountCards

@Suite struct ImporterTests {
    private let store: Store
    private let entries = [
        BrandEntry(name: "Магнит", category: "shop/supermarket", regions: ["ru"], wikidata: "Q1"),
        BrandEntry(name: "ローソン", category: "shop/convenience", regions: ["jp"]),
        BrandEntry(name: "Магнит", category: "amenity/pharmacy", regions: ["ru", "by"]),
        BrandEntry(name: "ローソン", category: "shop/convenience", regions: ["jp"]),
    ]

    init() throws {
        store = try Store(inMemoryModels: Wallet.models)
    }

    @discardableResult
    private func importEntries(progress: (Int) throws -> Void = { _ in }) throws -> Importer.Summary {
        try store.write { tx in
            try Importer.run(entries, owners: Family.join(tx), in: tx, progress: progress)
        }
    }

    @Test func `each entry creates a card, each name a brand, and each object an operation`() throws {
        #expect(try importEntries() == Importer.Summary(cards: 4, brands: 2))
        let brand = try #require(try store.objects(Brand.self).where { $0.name == "Магнит" }.first())
        #expect(brand.categories == ["shop/supermarket", "amenity/pharmacy"])
        #expect(brand.regions == ["ru", "by"] && brand.wikidata == "Q1")
        #expect(try store.objects(brand.cards).count() == 2)
        #expect(try store.operations.count() == 4 + 2 + Family.names.count)
    }

    @Test func `numbers are valid and different, and cards are distributed in turn`() throws {
        try importEntries()
        let cards = try store.objects(Card.self).with(\.owner).all()
        #expect(Set(cards.map(\.0.barcode)).count == 4)
        #expect(cards.allSatisfy { EAN13($0.0.barcode) != nil })
        #expect(cards.map(\.1?.name) == Family.names.prefix(4).map { $0 })
    }

    @Test func `a second import of the same list adds nothing`() throws {
        try importEntries()
        let operations = try store.operations.count()
        #expect(try importEntries() == Importer.Summary(known: 4))
        #expect(try store.operations.count() == operations)
    }

    @Test func `an interrupted import leaves nothing behind`() throws {
        #expect(throws: Failure.self) {
            try importEntries { count in
                if count == 3 { throw Failure(.interrupted, message: "Interrupted.") }
            }
        }
        #expect(try store.objects(Card.self).isEmpty() && store.objects(Person.self).isEmpty())
        #expect(try store.operations.count() == 0)
    }
}
