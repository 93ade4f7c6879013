import BigInt
import TandemTesting
import TestSupport
import Testing

@testable import Tandem

/// Sections and their change sets, step by step.
@Suite(.ownThreads) struct LiveSectionsTests {
    /// Sections as a table view holds them. Changes are applied as the comment of ``SectionedChangeSet`` says.
    private struct Table<Key: Equatable & Sendable>: Equatable {
        var keys: [Key] = []
        var rows: [[Card]] = []

        mutating func apply(_ change: SectionedChangeSet<Key, Card>) {
            for position in change.deletions.sorted().reversed() { rows[position.section].remove(at: position.item) }
            for section in change.deletedSections.reversed() {
                #expect(rows[section].isEmpty)
                rows.remove(at: section)
                keys.remove(at: section)
            }
            for section in change.insertedSections {
                rows.insert([], at: section)
                keys.insert(change.sections[section].key, at: section)
            }
            for position in change.insertions.sorted() {
                rows[position.section].insert(change.sections[position.section][position.item], at: position.item)
            }
            for modification in change.modifications {
                rows[modification.new.section][modification.new.item] =
                    change.sections[modification.new.section][modification.new.item]
            }
        }

        init() {}

        init(_ sections: LiveSections<Key, Card>) {
            keys = sections.map(\.key)
            rows = sections.map(Array.init)
        }

        init(_ sections: [ResultsSection<Key, Card>]) throws {
            keys = sections.map(\.key)
            rows = try sections.map { try $0.results.all() }
        }
    }

    /// Inserts, changes and deletes cards, and applies each change set to a table.
    ///
    /// - Parameter expected: Reads the sections after each commit.
    private func follow<Key: Equatable & Sendable>(
        _ store: Store, _ publisher: LivePublisher<SectionedChangeSet<Key, Card>>, shops: [String], seed: UInt64,
        expected: () throws -> Table<Key>
    ) throws {
        var random = SeededGenerator(seed: seed)
        let recorder = publisher.on(.immediate).record()
        var table = Table<Key>()
        var applied = 0
        var known: [LocalID] = []
        for step in 0..<120 {
            try store.write { tx in
                for _ in 0..<Int.random(in: 1...4, using: &random) {
                    let points = BigInt(Int.random(in: 0...7, using: &random))
                    let shop = shops[Int.random(in: 0..<shops.count, using: &random)]
                    if known.isEmpty || Bool.random(using: &random) {
                        known.append(try tx.insert(Card(shop: shop, barcode: "\(step)", points: points)).localID)
                    } else if Bool.random(using: &random) {
                        try tx.update(Card.self, localID: known.randomElement(using: &random)!) {
                            if Bool.random(using: &random) { $0.points = points }
                            if Bool.random(using: &random) { $0.shop = shop }
                            $0.isPinned.toggle()
                        }
                    } else {
                        let index = Int.random(in: 0..<known.count, using: &random)
                        try tx.delete(Card.self, localID: known.remove(at: index))
                    }
                }
            }
            for change in recorder.values[applied...] {
                #expect(Table(change.previous) == table)
                table.apply(change)
                #expect(table == Table(change.sections), "seed \(seed), step \(step)")
            }
            applied = recorder.values.count
            let fresh = try expected()
            #expect(table == fresh, "seed \(seed), step \(step)")
        }
        recorder.cancel()
    }

    @Test(arguments: [(1, true), (2, false), (3, true), (4, false), (5, true), (6, false)] as [(UInt64, Bool)])
    func `a change set applied step by step gives the new sections`(_ seed: UInt64, _ ascending: Bool) throws {
        try StoreKind.memory.withStore(Card.self, Person.self, Badge.self) { store in
            let query = store.cards.where { $0.points < 6 }.sorted(by: \.shop)
            let publisher = query.sectionedChangesetPublisher(by: \.points, ascending: ascending)
            try follow(store, publisher, shops: (0...9).map { "\($0)" }, seed: seed) {
                let fresh = try query.all()
                var table = Table<BigInt>()
                table.keys = Set(fresh.map(\.points)).sorted(by: ascending ? (<) : (>))
                table.rows = table.keys.map { key in fresh.filter { $0.points == key } }
                return table
            }
        }
    }

    @Test(arguments: [(1, true), (2, false), (3, true), (4, false)] as [(UInt64, Bool)])
    func `change sets by first letter applied step by step give the sections of sectioned(by:)`(
        _ seed: UInt64, _ ascending: Bool
    ) throws {
        let shops = [
            "", "\u{0}", "7", "лента", "ЛЕНТА", "Лампа", "магнит", "Ёж", "ёлка", "ß", "Ss", "é", "e\u{301}", "星巴克",
            "\u{10FFFF}",
        ]
        try StoreKind.memory.withStore(Card.self, Person.self, Badge.self) { store in
            let query = store.cards.where { $0.points < 6 }.sorted(by: .descending(\.points), .ascending(\.barcode))
            let publisher = query.sectionedChangesetPublisher(by: \.shop.firstLetter, ascending: ascending)
            try follow(store, publisher, shops: shops, seed: seed) {
                try Table(query.sectioned(by: \.shop.firstLetter, ascending: ascending))
            }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `an object that changes its section moves and empty sections are removed`(_ kind: StoreKind) throws {
        try kind.withStore(Card.self, Person.self, Badge.self) { store in
            let a = try store.insert("А", 1)
            try store.insert("Б", 2)
            let sections = store.cards.sorted(by: \.shop)
            let recorder = sections.sectionedChangesetPublisher(by: \.points).on(.immediate).record()
            let plain = sections.sectionsPublisher(by: \.points).on(.immediate).record()
            try store.change(a) { $0.points = 2 }
            let change = try #require(recorder.values.last)
            #expect(change.deletedSections == [0] && change.insertedSections == [])
            #expect(change.moves.map(\.old) == [SectionPosition(section: 0, item: 0)])
            #expect(change.moves.map(\.new) == [SectionPosition(section: 0, item: 0)])
            #expect(plain.values.map { $0.map(\.count) } == [[1, 1], [2]])
            recorder.cancel()
            plain.cancel()
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `an object moves to another section if its first letter changes, and only then`(_ kind: StoreKind) throws {
        try kind.withStore(Card.self, Person.self, Badge.self) { store in
            let card = try store.insert("лента", 1)
            try store.insert("Магнит", 2)
            try store.insert("ЛАМПА", 3)
            let recorder = store.cards.sorted(by: \.points).sectionedChangesetPublisher(by: \.shop.firstLetter)
                .on(.immediate).record()
            let first = try #require(recorder.values.last)
            #expect(first.sections.map(\.key) == ["Л", "М"])
            #expect(first.sections.map { $0.map(\.shop) } == [["лента", "ЛАМПА"], ["Магнит"]])

            try store.change(card) { $0.shop = "Лукошко" }
            let renamed = try #require(recorder.values.last)
            #expect(renamed.modifications.map(\.new) == [SectionPosition(section: 0, item: 0)])
            #expect(renamed.deletions == [] && renamed.insertions == [] && renamed.moves == [])

            try store.change(card) { $0.shop = "магнолия" }
            let moved = try #require(recorder.values.last)
            #expect(moved.moves.map(\.old) == [SectionPosition(section: 0, item: 0)])
            #expect(moved.moves.map(\.new) == [SectionPosition(section: 1, item: 0)])
            #expect(moved.deletedSections == [] && moved.insertedSections == [] && moved.modifications == [])

            try store.change(card) { $0.shop = "" }
            let emptied = try #require(recorder.values.last)
            #expect(emptied.sections.map(\.key) == ["", "Л", "М"])
            #expect(emptied.insertedSections == [0] && emptied.deletedSections == [])

            try store.write { try $0.delete(Card.self, localID: card.localID) }
            let deleted = try #require(recorder.values.last)
            #expect(deleted.deletedSections == [0] && deleted.deletions == [SectionPosition(section: 0, item: 0)])
            #expect(deleted.sections.map(\.key) == ["Л", "М"] && recorder.values.count == 5)
            recorder.cancel()
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `sections by a property behind a reference follow its object`(_ kind: StoreKind) throws {
        try kind.withStore(Card.self, Person.self, Badge.self) { store in
            let ada = try store.write { try $0.insert(Person(name: "Ада")) }
            try store.insert("А", owner: ada)
            try store.insert("Б")
            let recorder = store.cards.sectionsPublisher(by: \.owner.name).on(.immediate).record()
            let letters = store.cards.sectionsPublisher(by: \.owner.name.firstLetter, ascending: false)
                .on(.immediate).record()
            try store.write { tx in try tx.update(Person.self, localID: ada.localID) { $0.name = "анна" } }
            try store.write { tx in try tx.update(Person.self, localID: ada.localID) { $0.name = "Яна" } }
            #expect(recorder.values.map { $0.map(\.key) } == [[nil, "Ада"], [nil, "анна"], [nil, "Яна"]])
            #expect(letters.values.map { $0.map(\.key) } == [["А", nil], ["Я", nil]])
            recorder.cancel()
            letters.cancel()
        }
    }

    @Test func `objects with a nil text are in a separate section`() throws {
        let store = try Store.inMemory(models: Voucher.self, Holder.self)
        let voucher = try store.write { tx in
            _ = try tx.insert(Voucher(shop: "a", city: "омск", number: "1"))
            return try tx.insert(Voucher(shop: "b", city: nil, number: "2"))
        }
        let vouchers = store.objects(Voucher.self)
        let recorder = vouchers.sectionsPublisher(by: \.city.firstLetter).on(.immediate).record()
        for city in ["Ош", nil, "Тула"] {
            try store.write { tx in try tx.update(Voucher.self, localID: voucher.localID) { $0.city = city } }
        }
        let keys: [[String?]] = [[nil, "О"], ["О"], [nil, "О"], ["О", "Т"]]
        #expect(recorder.values.map { $0.map(\.key) } == keys)
        recorder.cancel()
    }

    @Test func `live sections of limited and of distinct objects equal those of sectioned(by:)`() throws {
        try StoreKind.memory.withStore(Card.self, Person.self, Badge.self) { store in
            let shops = ["яблоко", "Апельсин", "банан", "Ягода"]
            let cards = try store.write { tx in
                try shops.enumerated().map { index, shop in
                    try tx.insert(Card(shop: shop, barcode: "\(index)", points: BigInt(index / 2)))
                }
            }
            let byBarcode = store.cards.sorted(by: \.barcode)
            // distinct(by:) selects the card with the least barcode, regardless of its section.
            for query in [byBarcode.limit(3), byBarcode.offset(1).limit(2), byBarcode.distinct(by: \.points)] {
                let recorder = query.sectionsPublisher(by: \.shop).on(.immediate).record()
                let letters = query.sectionsPublisher(by: \.shop.firstLetter).on(.immediate).record()
                for shop in ["вишня", "яблоко"] {
                    try store.change(cards[0]) { $0.shop = shop }
                    let byShop = try Table(query.sectioned(by: \.shop))
                    let byLetter = try Table(query.sectioned(by: \.shop.firstLetter))
                    #expect(recorder.waitForValue { Table($0) == byShop })
                    #expect(letters.waitForValue { Table($0) == byLetter })
                }
                recorder.cancel()
                letters.cancel()
            }
        }
    }
}
