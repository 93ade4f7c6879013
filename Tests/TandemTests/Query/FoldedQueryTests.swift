import TandemTesting
import TestSupport
import Testing

@testable import Tandem

/// A model with a property whose name sections might use.
@Model struct Entry {
    @Folded var name: String
    var letter: String
    @Unique var code: String
}

@Suite("Folded texts are compared, divided and paged without regard to case", .ownThreads)
struct FoldedQueryTests {
    private func makeStore(_ kind: StoreKind) throws -> Store {
        let store = try makeQueryStore([Voucher.self, Holder.self], kind: kind)
        try store.write { tx in
            let maria = try tx.insert(Holder(name: "Мария").identified(by: "h"))
            let shops: [(String, String?)] = [
                ("лента", "омск"), ("Магнит", nil), ("ЛЕНТА", "Омск"), ("Пятёрочка", ""), ("магнит", "Тула"),
                ("", "ОМСК"),
            ]
            for (index, (shop, city)) in shops.enumerated() {
                var voucher = Voucher(shop: shop, city: city, number: "\(index)", points: index % 2)
                if index == 1 { voucher.holder = maria.reference }
                _ = try tx.insert(voucher.identified(by: LocalID("v\(index)")))
            }
        }
        return store
    }

    private func ids(_ results: Results<Voucher>) throws -> [String] { try results.localIDs().map(\.rawValue) }

    @Test(arguments: StoreKind.fileAndEncrypted)
    func `equality ignores case and uses the sort index`(kind: StoreKind) throws {
        let vouchers = try makeStore(kind).objects(Voucher.self)
        let found = vouchers.where { $0.shop.folded == "Лента" }
        #expect(try ids(found) == ["v0", "v2"])
        #expect(try ids(vouchers.where { $0.shop.folded != "Лента" }) == ["v1", "v3", "v4", "v5"])
        #expect(try ids(vouchers.where { $0.shop.folded.in(["МАГНИТ", "пятёрочка"]) }) == ["v1", "v3", "v4"])
        #expect(try ids(vouchers.where { $0.holder.name.folded == "МАРИЯ" }) == ["v1"])
        #expect(try ids(vouchers.where { $0.holder.name.folded != "МАРИЯ" }) == ["v0", "v2", "v3", "v4", "v5"])
        let plan = try found.explain().plan
        #expect(plan.first == "SEARCH t0 USING INDEX __sort_Voucher_shop (__sort_shop>? AND __sort_shop<?)", "\(plan)")
    }

    @Test(arguments: StoreKind.fileAndEncrypted)
    func `a prefix ignores case and uses the sort index`(kind: StoreKind) throws {
        let vouchers = try makeStore(kind).objects(Voucher.self)
        let found = vouchers.where { $0.shop.folded.hasPrefix("МАГ") }
        #expect(try ids(found) == ["v1", "v4"])
        #expect(try ids(vouchers.where { !$0.shop.folded.hasPrefix("ле") }) == ["v1", "v3", "v4", "v5"])
        let plan = try found.sorted(by: \.shop).explain().plan
        #expect(
            plan.first == "SEARCH t0 USING INDEX __sort_Voucher_shop (__sort_shop>? AND __sort_shop<?)", "\(plan)")
        let either = try vouchers.where { $0.shop.folded == "лента" || $0.number == "1" }.explain()
        #expect(either.plan.contains("MULTI-INDEX OR"), "\(either)")
        #expect(either.suggestions == [])
    }

    @Test(arguments: StoreKind.fileAndEncrypted)
    func `a text that is only sorted is compared too, and nil equals no text`(kind: StoreKind) throws {
        let vouchers = try makeStore(kind).objects(Voucher.self)
        #expect(try ids(vouchers.where { $0.city.folded == "Омск" }) == ["v0", "v2", "v5"])
        #expect(try ids(vouchers.where { $0.city.folded != "Омск" }) == ["v1", "v3", "v4"])
        #expect(try ids(vouchers.where { $0.city.folded.hasPrefix("") }) == ["v0", "v2", "v3", "v4", "v5"])
    }

    @Test(arguments: StoreKind.fileAndEncrypted)
    func `rows are evaluated without SQL with the same result`(kind: StoreKind) throws {
        let store = try makeStore(kind)
        let vouchers = store.objects(Voucher.self)
        for results in [
            vouchers.where { $0.shop.folded == "ЛЕНТА" || $0.city.folded.hasPrefix("т") },
            vouchers.where { !($0.shop.folded != "магнит") }, vouchers.where { $0.city.folded.in(["омск"]) },
            vouchers.where { $0.city.folded.in((0..<200).map { "x\($0)" } + ["ТУЛА"]) },
            try vouchers.sectioned(by: \.shop.firstLetter)[1].results,
        ] {
            var slots = ColumnSlots()
            let predicate = try #require(RowPredicate(results.query, slots: &slots))
            let columns = slots.columns.map(\.quotedSQL).joined(separator: ", ")
            let found = try ids(results)
            #expect(!found.isEmpty)
            let statement = try store.writer.connection.uncachedStatement(
                "SELECT \(columns) FROM Voucher ORDER BY localID")
            var held: [String] = []
            var index = 0
            while try statement.step() {
                if predicate.holds(StatementColumns(statement)) { held.append("v\(index)") }
                index += 1
            }
            #expect(held == found)
        }
    }

    @Test(arguments: StoreKind.fileAndEncrypted)
    func `sections by first letter ignore case`(kind: StoreKind) throws {
        let vouchers = try makeStore(kind).objects(Voucher.self)
        let sections = try vouchers.sorted(by: \.shop).sectioned(by: \.shop.firstLetter)
        #expect(sections.map(\.key) == ["", "Л", "М", "П"])
        #expect(sections.map(\.count) == [1, 2, 2, 1])
        #expect(try sections.map { try ids($0.results) } == [["v5"], ["v0", "v2"], ["v4", "v1"], ["v3"]])
        let plan = try sections[1].results.explain().plan
        #expect(plan.first?.hasPrefix("SEARCH t0 USING INDEX __sort_Voucher_shop") == true, "\(plan)")
    }

    @Test(arguments: StoreKind.fileAndEncrypted)
    func `sections by first letter use the given property, whatever other properties are called`(kind: StoreKind) throws
    {
        let store = try makeQueryStore([Entry.self], kind: kind)
        try store.write { tx in
            for (name, letter) in [("Анна", "z"), ("анна", "y"), ("Борис", "z")] {
                _ = try tx.insert(Entry(name: name, letter: letter, code: "\(name) \(letter)"))
            }
        }
        let sections = try store.objects(Entry.self).sectioned(by: \.name.firstLetter)
        #expect(sections.map(\.key) == ["А", "Б"] && sections.map(\.count) == [2, 1])
    }

    @Test(arguments: StoreKind.fileAndEncrypted)
    func `sorting and paging by a unique property use its index`(kind: StoreKind) throws {
        let store = try makeQueryStore([Entry.self], kind: kind)
        let entries = try store.write { tx in
            try (0..<50).map { try tx.insert(Entry(name: "n\($0)", letter: "l\($0)", code: "c\($0)")) }
        }
        let sorted = store.objects(Entry.self).sorted(by: \.code)
        for results in [sorted.limit(5), try sorted.after(entries[9]).limit(5)] {
            let plan = try results.explain().plan.joined(separator: "; ")
            #expect(plan.contains("__unique_Entry_code") && !plan.contains("TEMP B-TREE"), "\(plan)")
        }
    }

    @Test(arguments: StoreKind.fileAndEncrypted)
    func `sections by first letter have one for nil`(kind: StoreKind) throws {
        let vouchers = try makeStore(kind).objects(Voucher.self)
        let sections = try vouchers.where { $0.points == 1 || $0.city.folded == "омск" }
            .sectioned(by: \.city.firstLetter, ascending: false)
        #expect(sections.map(\.key) == ["О", "", nil])
        #expect(try sections.map { try ids($0.results) } == [["v0", "v2", "v5"], ["v3"], ["v1"]])
        let owners = try vouchers.sectioned(by: \.holder.name.firstLetter)
        #expect(owners.map(\.key) == [nil, "М"])
        #expect(owners.map(\.count) == [5, 1])
        #expect(try ids(owners[1].results) == ["v1"])
    }

    @Test(arguments: StoreKind.fileAndEncrypted)
    func `pages are the whole list in its order`(kind: StoreKind) throws {
        let vouchers = try makeStore(kind).objects(Voucher.self)
        for limit in 1...4 {
            for results in [
                vouchers, vouchers.sorted(by: \.shop), vouchers.sorted(by: \.shop, ascending: false),
                vouchers.sorted(by: .ascending(\.city), .descending(\.points)),
                vouchers.sorted(by: .ascending(\.city, nils: .last)), vouchers.sorted(by: \.city, ascending: false),
                vouchers.sorted(by: .descending(\.city, nils: .first)), vouchers.sorted(by: .descending(\.localID)),
                vouchers.where { $0.points == 0 }.sorted(by: .descending(\.points), .ascending(\.shop)),
                vouchers.sorted(by: .descending(\.updatedAt), .ascending(\.isSynced)),
            ] {
                var found: [String] = []
                var page = try results.page(after: nil, limit: limit)
                while let last = page.last, found.count <= 6 {
                    found += page.map(\.localID.rawValue)
                    page = try results.page(after: last, limit: limit)
                }
                #expect(try found == ids(results), "limit \(limit)")
            }
        }
    }

    @Test(arguments: StoreKind.fileAndEncrypted)
    func `a page begins after an object that was deleted, and is found by the index`(kind: StoreKind) throws {
        let store = try makeStore(kind)
        let vouchers = store.objects(Voucher.self)
        let sorted = vouchers.sorted(by: \.shop)
        let last = try #require(try sorted.limit(3).all().last)
        try store.write { try $0.delete(Voucher.self, localID: last.localID) }
        let next = try sorted.after(last)
        #expect(try ids(next) == ["v4", "v1", "v3"])
        let plan = try next.limit(2).explain().plan
        #expect(plan.first == "SEARCH t0 USING INDEX __sort_Voucher_shop (__sort_shop>?)", "\(plan)")
    }

    @Test(arguments: StoreKind.fileAndEncrypted)
    func `an order by a reference or a condition has no pages after an object`(kind: StoreKind) throws {
        let vouchers = try makeStore(kind).objects(Voucher.self)
        let first = try #require(try vouchers.first())
        for results in [
            vouchers.sorted(by: \.holder.name), vouchers.sorted(by: .matchingFirst { $0.points == 1 }),
        ] {
            let error = #expect(throws: TandemError.self) { try results.after(first) }
            #expect(error?.code == .invalidQuery)
        }
    }

    @Test(arguments: StoreKind.fileAndEncrypted)
    func `queries of the state use its indexes`(kind: StoreKind) throws {
        let vouchers = try makeStore(kind).objects(Voucher.self)
        for (results, index) in [
            (vouchers.where { !$0.isSynced }, "__unsynced_Voucher (synced=?)"),
            (vouchers.where { $0.isSynced == false }.sorted(by: \.shop), "__unsynced_Voucher (synced=?)"),
            (vouchers.where { $0.serverID == nil }.sorted(by: \.shop), "__unsent_Voucher (serverID=?)"),
            (vouchers.onlyDeleted(), "__deleted_Voucher (deleted=?)"),
            (vouchers.includingDeleted().where { $0.isDeleted == true }, "__deleted_Voucher (deleted=?)"),
            (vouchers.where { $0.updatedAt == nil }, "__updated_Voucher (updatedAt=?)"),
        ] {
            let explanation = try results.explain()
            #expect(explanation.plan.first == "SEARCH t0 USING INDEX \(index)", "\(explanation)")
        }
        let recent = try vouchers.sorted(by: \.updatedAt, ascending: false).limit(10).explain().plan
        #expect(recent.first == "SCAN t0 USING INDEX __updated_Voucher", "\(recent)")
    }
}
