import BigInt
import Tandem
import TandemTesting

/// Creates a card for each entry of a list, and a brand for each name, within one write.
struct Importer {
    /// The result of an import.
    struct Summary: Equatable, Sendable {
        var cards = 0
        var brands = 0
        /// The number of entries whose cards exist from an earlier import.
        var known = 0
    }

    private let tx: WriteTransaction
    /// The people to whom the cards are distributed in turn.
    private let owners: [Person]
    /// The numbers of existing cards.
    private var knownNumbers: Set<String> = []
    private var newNumbers: Set<String> = []
    private var brands: [String: Reference<Brand>] = [:]
    private var summary = Summary()

    /// Imports a list.
    ///
    /// - Parameter progress: Called after each entry with the number of processed ones. An error rolls the import back.
    static func run(
        _ entries: [BrandEntry], owners: [Person], in tx: WriteTransaction, progress: (Int) throws -> Void
    ) throws -> Summary {
        var importer = try Importer(owners: owners, in: tx)
        let groups = Dictionary(grouping: entries, by: \.name)
        for (index, entry) in entries.enumerated() {
            try importer.add(entry, at: index, group: groups[entry.name, default: [entry]])
            try progress(index + 1)
        }
        return importer.summary
    }

    private init(owners: [Person], in tx: WriteTransaction) throws {
        precondition(!owners.isEmpty, "Cards must have an owner.")
        self.tx = tx
        self.owners = owners
        for card in try tx.objects(Card.self).all() { knownNumbers.insert(card.barcode) }
        for brand in try tx.objects(Brand.self).all() { brands[brand.name] = brand.reference }
    }

    private mutating func add(_ entry: BrandEntry, at index: Int, group: [BrandEntry]) throws {
        var seed = SeededGenerator(entry.name + "\t" + entry.category)
        var number = EAN13.member(seed: seed.next())
        if knownNumbers.contains(number.digits) {
            summary.known += 1
            return
        }
        while !newNumbers.insert(number.digits).inserted { number = EAN13.member(seed: seed.next()) }

        try tx.insert(
            Card(
                shop: entry.name, barcode: number.digits, points: Self.points(&seed),
                owner: owners[index % owners.count].reference, brand: brand(of: group)))
        summary.cards += 1
    }

    /// Returns the brand of a name. The entries are all those with this name.
    private mutating func brand(of group: [BrandEntry]) throws -> Reference<Brand> {
        let name = group[0].name
        if let brand = brands[name] { return brand }
        let brand = try tx.insert(
            Brand(
                name: name,
                categories: group.map(\.category).filter { !$0.isEmpty },
                regions: Set(group.flatMap(\.regions)),
                wikidata: group.lazy.compactMap(\.wikidata).first
            ).identifiedByName)
        brands[name] = brand.reference
        summary.brands += 1
        return brand.reference
    }

    /// Returns a few hundred points for most cards, and more than 64 bits can hold for one in a hundred.
    private static func points(_ seed: inout SeededGenerator) -> BigInt {
        let points = BigInt(seed.next() % 2500)
        return seed.next() % 100 == 0 ? points * BigInt(10).power(18) : points
    }
}
