import BigInt
import TandemTesting
import TestSupport
import Testing

@testable import Tandem

/// Sections and their change sets, step by step.
@Suite(.ownThreads) struct LiveSectionsTests {
    /// Sections as a table view holds them. Changes are applied as the comment of ``SectionedChangeSet`` says.
    private struct Table: Equatable {
        var keys: [BigInt] = []
        var rows: [[Card]] = []

        mutating func apply(_ change: SectionedChangeSet<BigInt, Card>) {
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

        init(_ sections: LiveSections<BigInt, Card>) {
            keys = sections.map(\.key)
            rows = sections.map(Array.init)
        }
    }

    @Test(arguments: [(1, true), (2, false), (3, true), (4, false), (5, true), (6, false)] as [(UInt64, Bool)])
    func `a change set applied step by step gives the new sections`(_ seed: UInt64, _ ascending: Bool) throws {
        try StoreKind.memory.withStore(Card.self, Person.self, Badge.self) { store in
            var random = SeededGenerator(seed: seed)
            let query = store.cards.where { $0.points < 6 }.sorted(by: \.shop)
            let recorder = query.sectionedChangesetPublisher(by: \.points, ascending: ascending)
                .on(.immediate).record()
            var table = Table()
            var applied = 0
            var known: [LocalID] = []
            for step in 0..<120 {
                try store.write { tx in
                    for _ in 0..<Int.random(in: 1...4, using: &random) {
                        let points = BigInt(Int.random(in: 0...7, using: &random))
                        let shop = "\(Int.random(in: 0...9, using: &random))"
                        if known.isEmpty || Bool.random(using: &random) {
                            known.append(try tx.insert(Card(shop: shop, barcode: "\(step)", points: points)).localID)
                        } else if Bool.random(using: &random) {
                            try tx.update(Card.self, known.randomElement(using: &random)!) {
                                if Bool.random(using: &random) { $0.points = points }
                                if Bool.random(using: &random) { $0.shop = shop }
                                $0.isPinned.toggle()
                            }
                        } else {
                            let index = Int.random(in: 0..<known.count, using: &random)
                            try tx.delete(Card.self, known.remove(at: index))
                        }
                    }
                }
                for change in recorder.values[applied...] {
                    #expect(Table(change.previous) == table)
                    table.apply(change)
                    #expect(table == Table(change.sections), "seed \(seed), step \(step)")
                }
                applied = recorder.values.count
                let fresh = try query.all()
                let keys = Set(fresh.map(\.points)).sorted(by: ascending ? (<) : (>))
                #expect(table.keys == keys)
                #expect(table.rows == keys.map { key in fresh.filter { $0.points == key } })
            }
            recorder.cancel()
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
    func `sections by a property behind a reference follow its object`(_ kind: StoreKind) throws {
        try kind.withStore(Card.self, Person.self, Badge.self) { store in
            let ada = try store.write { try $0.insert(Person(name: "Ада")) }
            try store.insert("А", owner: ada)
            try store.insert("Б")
            let recorder = store.cards.sectionsPublisher(by: \.owner.name).on(.immediate).record()
            try store.write { tx in try tx.update(Person.self, ada.localID) { $0.name = "Яна" } }
            #expect(recorder.values.map { $0.map(\.key) } == [[nil, "Ада"], [nil, "Яна"]])
            recorder.cancel()
        }
    }
}
