import Foundation
import TandemTesting
import TestSupport
import Testing

@testable import Tandem

/// A model with names in many languages.
@Model struct Surname {
    @Folded var name: String
    @Folded(.sorted) var city: String?
    var number: Int = 0
    var head: Reference<Surname>?
}

@Suite("Texts sort by the store's language", .ownThreads)
struct SortLanguageTests {
    private static let names = [
        "", "Ahlén", "Åhlén", "Öhman", "Zorn", "aarhus", "Aarhus", "chata", "cukr", "Čapek", "dům", "Ежевика", "ёлка",
        "Ель", "ель", "ЕЛЬ", "Жук", "Яблоко", "Іва", "Їжак", "Ірис", "I", "i", "İ", "ı", "ñandú", "nube", "oso",
        "lluvia",
        "luz", "Straße", "Strasse", "STRASSE", "élan", "elan", "e\u{301}lan", "星巴克", "がく", "카페", "7", "10",
        "ǆ", "ŵyneb", "ngwlad", "Đà", "Ăn", "\u{0}", "🇩🇪", "\u{10FFFF}",
    ]

    private static func configuration(
        _ language: SortLanguage, numbers: Bool = false, readOnly: Bool = false
    ) -> Store.Configuration {
        var configuration = Store.Configuration()
        configuration.sortLanguage = language
        configuration.sortsNumbersByValue = numbers
        configuration.isReadOnly = readOnly
        return configuration
    }

    private func withNames<T>(
        _ names: [String], _ language: SortLanguage, numbers: Bool = false, kind: StoreKind = .memory,
        _ body: (Store) throws -> T
    ) throws -> T {
        try kind.withStore(Surname.self, configuration: Self.configuration(language, numbers: numbers)) { store in
            try store.write { tx in
                for (index, name) in names.enumerated() {
                    _ = try tx.insert(
                        Surname(name: name, city: index % 3 == 0 ? nil : name, number: index)
                            .identified(by: LocalID("\(100 + index)")))
                }
            }
            return try body(store)
        }
    }

    private func names(_ results: Results<Surname>) throws -> [String] { try results.all().map(\.name) }

    @Test(arguments: StoreKind.fileAndEncrypted)
    func `accented letters are beside their letters, or after z in Swedish`(kind: StoreKind) throws {
        let given = ["Zorn", "Öhman", "Åhlén", "Ahlén"]
        try withNames(given, .root, kind: kind) { (store) throws in
            let sorted = store.objects(Surname.self).sorted(by: \.name)
            #expect(try names(sorted) == ["Ahlén", "Åhlén", "Öhman", "Zorn"])
            #expect(try sorted.sectioned(by: \.name.firstLetter).map(\.key) == ["A", "O", "Z"])
        }
        try withNames(given, .swedish, kind: kind) { (store) throws in
            let sorted = store.objects(Surname.self).sorted(by: \.name)
            #expect(try names(sorted) == ["Ahlén", "Zorn", "Åhlén", "Öhman"])
            let sections = try sorted.sectioned(by: \.name.firstLetter)
            #expect(sections.map(\.key) == ["A", "Z", "Å", "Ö"] && sections.allSatisfy { $0.count == 1 })
            #expect(try sections.map { try names($0.results) } == [["Ahlén"], ["Zorn"], ["Åhlén"], ["Öhman"]])
        }
    }

    @Test(arguments: [SortLanguage.root, .russian, .swedish])
    func `ё is in the section of е`(language: SortLanguage) throws {
        try withNames(["Ель", "Жук", "ёлка", "Ежевика", "Яблоко"], language) { (store) throws in
            let sorted = store.objects(Surname.self).sorted(by: \.name)
            #expect(try names(sorted) == ["Ежевика", "ёлка", "Ель", "Жук", "Яблоко"])
            let sections = try sorted.sectioned(by: \.name.firstLetter)
            #expect(sections.map(\.key) == ["Е", "Ж", "Я"] && sections.map(\.count) == [3, 1, 1])
            #expect(try names(sections[0].results) == ["Ежевика", "ёлка", "Ель"])
        }
    }

    @Test func `ї has its own section after і in Ukrainian`() throws {
        try withNames(["Яна", "Їжак", "Ірис", "Іва", "Йод"], .ukrainian) { (store) throws in
            let sorted = store.objects(Surname.self).sorted(by: \.name)
            #expect(try names(sorted) == ["Іва", "Ірис", "Їжак", "Йод", "Яна"])
            #expect(try sorted.sectioned(by: \.name.firstLetter).map(\.key) == ["І", "Ї", "Й", "Я"])
        }
    }

    @Test(arguments: SortLanguage.allCases)
    func `lists, pages and sections follow the keys of the language`(language: SortLanguage) throws {
        try withNames(Self.names, language) { (store) throws in
            let collation = Collation(language: language, isNumeric: false)
            #expect(store.collation == collation)
            let all = try store.objects(Surname.self).all()
            let expected = all.map { (collation.key(for: $0.name), $0) }.sorted {
                $0.0 == $1.0 ? $0.1.localID < $1.1.localID : $0.0.lexicographicallyPrecedes($1.0)
            }.map(\.1.name)
            for ascending in [true, false] {
                let sorted = store.objects(Surname.self).sorted(by: \.name, ascending: ascending)
                let found = try names(sorted)
                // Only canonically equivalent texts are in the order of local IDs in both directions.
                #expect(found.map(collation.key) == (ascending ? expected : expected.reversed()).map(collation.key))
                for limit in [1, 2, 7] {
                    var paged: [String] = []
                    var page = try sorted.page(after: nil, limit: limit)
                    while let last = page.last, paged.count <= found.count {
                        paged += page.map(\.name)
                        page = try sorted.page(after: last, limit: limit)
                    }
                    #expect(paged.map(\.unicodeScalars.count) == found.map(\.unicodeScalars.count) && paged == found)
                }
                let sections = try sorted.sectioned(by: \.name.firstLetter, ascending: ascending)
                #expect(try sections.flatMap { try names($0.results) } == found)
                for section in sections {
                    let listed = try names(section.results)
                    #expect(listed.count == section.count)
                    #expect(listed.allSatisfy { collation.firstLetter(of: $0) == section.key }, "\(section.key ?? "")")
                }
            }
        }
    }

    @Test(arguments: [SortLanguage.root, .swedish])
    func `a live list and its sections follow the language`(language: SortLanguage) throws {
        try withNames(["Ahlén", "Åhlén", "Zorn", "ёлка"], language) { (store) throws in
            let query = store.objects(Surname.self).sorted(by: \.name)
            let list = query.collectionPublisher.on(.immediate).record()
            let sections = query.sectionsPublisher(by: \.name.firstLetter).on(.immediate).record()
            let zorn = try #require(try store.objects(Surname.self).where { $0.name == "Zorn" }.first())
            for name in ["Öberg", "ель", "Ärla", "Åhlen", "e\u{301}lan", "zorn"] {
                try store.write { tx in try tx.update(Surname.self, localID: zorn.localID) { $0.name = name } }
                let live = try #require(list.values.last)
                let found = try names(query)
                #expect(live.map(\.name) == found, "\(name)")
                let divided = try #require(sections.values.last)
                let read = try query.sectioned(by: \.name.firstLetter)
                #expect(divided.map(\.key) == read.map(\.key), "\(name)")
                let readNames = try read.map { try names($0.results) }
                #expect(divided.map { $0.map(\.name) } == readNames, "\(name)")
            }
            let keys = sections.values.last?.map(\.key)
            #expect(keys == (language == .root ? ["A", "Z", "Е"] : ["A", "Z", "Å", "Е"]))
            list.cancel()
            sections.cancel()
        }
    }

    @Test func `numbers sort by their value on request`() throws {
        let given = ["Лента 10", "Лента 9", "Лента 2", "Лента"]
        try withNames(given, .root) { (store) throws in
            #expect(
                try names(store.objects(Surname.self).sorted(by: \.name))
                    == ["Лента", "Лента 10", "Лента 2", "Лента 9"])
        }
        try withNames(given, .root, numbers: true) { (store) throws in
            let sorted = store.objects(Surname.self).sorted(by: \.name)
            #expect(try names(sorted) == ["Лента", "Лента 2", "Лента 9", "Лента 10"])
            #expect(try names(sorted.where { $0.name.folded.hasPrefix("лента 1") }) == ["Лента 10"])
            #expect(try sorted.where { $0.name.folded == "ЛЕНТА 9" }.count() == 1)
        }
        try withNames(["10", "9", "2"], .root, numbers: true) { (store) throws in
            let sections = try store.objects(Surname.self).sorted(by: \.name).sectioned(by: \.name.firstLetter)
            #expect(try sections.flatMap { try names($0.results) }.count == 3)
        }
    }

    @Test func `distinct texts are distinct by their scalars, in the order of the language`() throws {
        try withNames(["лента", "ёж", "ЛЕНТА", "лента", "еж"], .root) { (store) throws in
            let distinct = store.objects(Surname.self).sorted(by: \.name).distinct(by: \.name)
            #expect(try names(distinct) == ["еж", "ёж", "лента", "ЛЕНТА"])
            #expect(try distinct.localIDs() == ["104", "101", "100", "102"])
            let groups = try store.objects(Surname.self).grouped(by: \.name).values(.count)
            #expect(groups.map(\.key) == ["еж", "ёж", "лента", "ЛЕНТА"])
        }
    }
}

// MARK: Comparisons

extension SortLanguageTests {
    @Test(arguments: StoreKind.fileAndEncrypted)
    func `comparisons of folded texts ignore case and count accents`(kind: StoreKind) throws {
        let given = [
            "Ёлка", "ёлка", "ЕЛКА", "елка", "Елки", "елкай", "cafe", "CAFÉ", "cafe\u{301}", "ＣＡＦＥ", "caffè",
            "Straße",
        ]
        try withNames(given, .root, kind: kind) { (store) throws in
            let all = store.objects(Surname.self).sorted(by: \.number)
            #expect(try names(all.where { $0.name.folded == "ёЛКА" }) == ["Ёлка", "ёлка"])
            #expect(try names(all.where { $0.name.folded == "Елка" }) == ["ЕЛКА", "елка"])
            #expect(try all.where { $0.name.folded != "Елка" }.count() == given.count - 2)
            #expect(try names(all.where { $0.name.folded.hasPrefix("елк") }) == ["ЕЛКА", "елка", "Елки", "елкай"])
            // "й" is a letter of its own.
            #expect(try names(all.where { $0.name.folded.hasPrefix("елкаи") }) == [])
            #expect(try names(all.where { $0.name.folded.hasPrefix("ё") }) == ["Ёлка", "ёлка"])
            #expect(try names(all.where { $0.name.folded == "café" }).count == 2)
            #expect(try names(all.where { $0.name.folded == "Cafe" }) == ["cafe"])
            #expect(try names(all.where { $0.name.folded == "STRASSE" }) == ["Straße"])
            #expect(try names(all.where { $0.name.folded.hasPrefix("STRASS") }) == ["Straße"])
            #expect(try names(all.where { $0.name.folded.in(["CAFÉ", "елки", "no"]) }).count == 3)
            #expect(try names(all.where { $0.name.folded.hasPrefix("caf") }).count == 4)
        }
    }

    @Test func `a long list of folded texts is found by the index, also through a reference`() throws {
        try withNames((0..<300).map { "Имя \($0)" }, .root) { (store) throws in
            let all = store.objects(Surname.self)
            let head = try #require(try all.where { $0.name == "Имя 7" }.first())
            try store.write { tx in
                try tx.update(Surname.self, localID: "150") { $0.head = head.reference }
            }
            let list = (0..<200).map { "ИМЯ \($0)" } + ["x", "имя 0"]
            let found = all.where { $0.name.folded.in(list) }
            #expect(try found.count() == 200)
            let plan = try found.explain().plan
            #expect(plan.contains { $0.contains("__sort_Surname_name") }, "\(plan)")
            #expect(try all.where { $0.head.name.folded.in(list) }.localIDs() == ["150"])
            #expect(try all.where { $0.head.name.folded == "имя 7" }.localIDs() == ["150"])
            #expect(try all.where { $0.head.name.folded.hasPrefix("ИМЯ") }.localIDs() == ["150"])
            #expect(try all.where { !$0.name.folded.in(list) }.count() == 100)
            #expect(try all.where { $0.name.folded.in([]) }.count() == 0)
        }
    }

    @Test func `comparisons of folded texts follow the letters of the language`() throws {
        let given = ["İstanbul", "istanbul", "Istanbul", "ISPARTA", "ızgara"]
        try withNames(given, .turkish) { (store) throws in
            let all = store.objects(Surname.self).sorted(by: \.number)
            #expect(try names(all.where { $0.name.folded == "İSTANBUL" }) == ["İstanbul", "istanbul"])
            #expect(try names(all.where { $0.name.folded.hasPrefix("is") }) == ["İstanbul", "istanbul"])
            #expect(try names(all.where { $0.name.folded.hasPrefix("ı") }) == ["Istanbul", "ISPARTA", "ızgara"])
        }
        try withNames(["chata", "cukr"], .czech) { (store) throws in
            let all = store.objects(Surname.self)
            #expect(try names(all.where { $0.name.folded.hasPrefix("C") }) == ["chata", "cukr"])
            #expect(try names(all.where { $0.name.folded.hasPrefix("CH") }) == ["chata"])
        }
    }

    @Test(arguments: [SortLanguage.root, .czech, .turkish, .danish])
    func `a row is evaluated without SQL with the same result`(language: SortLanguage) throws {
        try withNames(Self.names, language) { (store) throws in
            let all = store.objects(Surname.self).sorted(by: \.localID)
            let sections = try all.sectioned(by: \.name.firstLetter).map(\.results)
            let cities = try all.sectioned(by: \.city.firstLetter).map(\.results)
            let prefixes = ["e", "E", "a", "å", "c", "ch", "i", "ı", "str", "ß", "е", "Ё", "", "7", "星", "か", "\u{0}"]
            let queries =
                sections + cities
                + Self.names.map { name in all.where { $0.name.folded == name || $0.city.folded == name } }
                + prefixes.map { prefix in all.where { $0.name.folded.hasPrefix(prefix) } }
                + prefixes.map { prefix in all.where { !$0.city.folded.hasPrefix(prefix) } }
                + [all.where { $0.name.folded.in(Self.names.map { $0.uppercased() }) }]
            for query in queries {
                var slots = ColumnSlots()
                let predicate = try #require(RowPredicate(query.query, slots: &slots))
                let columns = slots.columns.map { ", " + $0.quotedSQL }.joined()
                let found = try query.localIDs()
                var held: [LocalID] = []
                try store.reading { connection in
                    let statement = try connection.uncachedStatement(
                        "SELECT localID\(columns) FROM Surname ORDER BY localID")
                    defer { statement.finalize() }
                    while try statement.step() {
                        if predicate.holds(StatementColumns(statement, first: 1)) {
                            held.append(LocalID(try statement.text(0)))
                        }
                    }
                }
                let sql = try query.explain().sql
                #expect(held == found.sorted(), "\(sql)")
            }
        }
    }

    @Test func `a live query of a folded text is notified of exactly its rows`() throws {
        try withNames(["Лента", "Магнит"], .root) { (store) throws in
            let all = store.objects(Surname.self)
            let equal = all.where { $0.name.folded == "ЛЕНТА" }.countPublisher.on(.immediate).record()
            let listed = all.where { $0.name.folded.in(["ЛЕНТА", "яблоко"]) }.countPublisher.on(.immediate).record()
            let prefix = all.where { $0.name.folded.hasPrefix("маг") }.countPublisher.on(.immediate).record()
            for name in ["лента", "МАГ", "Яблоко", "лентач"] {
                try store.write { tx in try tx.update(Surname.self, localID: "101") { $0.name = name } }
            }
            #expect(equal.values == [1, 2, 1])
            #expect(listed.values == [1, 2, 1, 2, 1])
            #expect(prefix.values == [1, 0, 1, 0])
            for recorder in [equal, listed, prefix] { recorder.cancel() }
        }
    }
}
