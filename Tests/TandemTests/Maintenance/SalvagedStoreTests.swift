import Foundation
import OpenCombine
import SQLiteCipher
import TandemTesting
import TestSupport
import Testing

@testable import Tandem
@testable import TandemTestScript

/// Encrypted stores with some damaged pages.
@Suite(.ownThreads) struct SalvagedStoreTests {
    let folder: TestFolder
    init() throws { folder = try TestFolder() }

    /// Makes a closed store, and returns its shops by local ID and its number of pages.
    private func makeStore(_ kind: StoreKind, _ name: String) throws -> (shops: [String: String], pages: Int) {
        let store = try Peer.open(folder.file(name), kind)
        try store.fillWithPeers(cards: 300)
        var shops: [String: String] = [:]
        for row in try store.sql("SELECT localID, shop FROM PeerCard") { shops[row[0].string!] = row[1].string! }
        store.close()
        let size = try FileManager.default.attributesOfItem(atPath: folder.file(name))[.size] as? Int ?? 0
        return (shops, size / 4096)
    }

    private func pages(_ kind: StoreKind, _ name: String, of table: String, leaves: Bool = true) throws -> [Int] {
        let store = try Peer.open(folder.file(name), kind)
        defer { store.close() }
        let condition = leaves ? "AND pagetype = 'leaf'" : ""
        return try store.sql("SELECT pageno FROM dbstat WHERE name = '\(table)' \(condition) ORDER BY 1").map {
            $0[0].int!
        }
    }

    // MARK: Reading

    @Test(arguments: StoreKind.withKey)
    func `a damaged page is an error that names page and file`(kind: StoreKind) throws {
        let (_, count) = try makeStore(kind, "a")
        let tables = ["PeerCard", "PeerPerson", "__operations", "__links_PeerCard_people", "__search_PeerCard_data"]
        // The links are read from their index, which contains all of them.
        let read = try Set(
            tables.filter { $0 != "__links_PeerCard_people" }.flatMap { table in
                try pages(kind, "a", of: table, leaves: false)
            })
        let whole = try Data(contentsOf: URL(fileURLWithPath: folder.file("a")))
        var (named, silent) = (0, [Int]())
        for page in stride(from: 1, through: count, by: isSoak ? 1 : 5) {
            try whole.write(to: URL(fileURLWithPath: folder.file("a")))
            try folder.damage("a", page: page)
            do {
                let store = try Peer.open(folder.file("a"), kind)
                defer { store.close() }
                for table in tables { _ = try store.sql("SELECT * FROM \(table)") }
                _ = try store.sql("SELECT barcode FROM PeerCard ORDER BY barcode")
                silent.append(page)
            } catch let error as TandemError {
                named += 1
                #expect(error.code == .corrupt, "\(error)")
                #expect(error.message.contains("Page \(page) ") && error.store == folder.file("a"), "\(error)")
                #expect(error.advice?.contains("alvage") == true)
            }
        }
        // Opening reads some of the other pages.
        #expect(read.isDisjoint(with: silent), "\(silent)")
        #expect(named > 5, "\(named) of \(count) pages")
    }

    @Test(arguments: StoreKind.withKey)
    func `checking the integrity of a damaged store reports the damage`(kind: StoreKind) throws {
        _ = try makeStore(kind, "a")
        let page = try #require(try pages(kind, "a", of: "PeerCard").dropFirst(3).first)
        try folder.damage("a", page: page)
        let store = try Peer.open(folder.file("a"), kind)
        do {
            #expect(try store.checkIntegrity() != [])
        } catch let error as TandemError {
            #expect(error.code == .corrupt && error.message.contains("Page \(page) "), "\(error)")
        }
        // Undamaged pages can be read and written.
        #expect(try store.rows("SELECT count(*) FROM PeerPerson") == [[2]])
        _ = try store.write { try $0.insert(PeerPerson(name: "Ева")) }
    }

    /// Backups and exports of a damaged store must not look intact.
    @Test(arguments: StoreKind.withKey)
    func `a damaged store is not copied`(kind: StoreKind) throws {
        _ = try makeStore(kind, "a")
        try folder.damage("a", page: try #require(try pages(kind, "a", of: "PeerCard").last))
        let store = try Peer.open(folder.file("a"), kind)
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        expectError(.corrupt) { try store.backup(to: folder.file("copy")) }
        expectError(.corrupt) { try store.exportPlain(to: folder.file("copy")) }
        expectError(.corrupt) { try store.export(to: folder.file("copy"), key: Secrets.otherKey, profile: .sqlCipher4) }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == names)
        store.close()
        expectError(.corrupt) {
            try Store.changeKey(
                at: folder.file("a"), from: StoreKind.key, profile: kind.profile!, to: Secrets.otherKey)
        }
        #expect(try folder.contents().keys.sorted() == ["a"])
        #expect(try Peer.open(folder.file("a"), kind).rows("SELECT count(*) FROM PeerPerson") == [[2]])
    }

    // MARK: Salvaging

    private func salvage(_ kind: StoreKind, to name: String = "rescued") throws -> SalvageReport {
        try Store.salvage(
            at: folder.file("a"), key: StoreKind.key, profile: kind.profile!, to: folder.file(name))
    }

    @Test(arguments: StoreKind.withKey)
    func `an undamaged store is salvaged completely`(kind: StoreKind) throws {
        let rows = try folder.makeStore(kind, "a")
        let before = try folder.contents()
        let report = try salvage(kind)
        #expect(report.isComplete && report.rows["PeerCard"] == 40, "\(report)")
        #expect(try folder.contents()["a"] == before["a"])
        let store = try Peer.open(folder.file("rescued"), kind)
        // The search index is rebuilt with the same content.
        #expect(try Secrets.rows(store).dropLast() == rows.dropLast())
        #expect(try store.checkIntegrity() == [])
        try store.expectSound()
        _ = try store.write { try $0.insert(PeerPerson(name: "Ева")) }
        store.close()
        let stamp = try Peer.open(folder.file("rescued"), kind).openedStamp
        #expect(try Peer.open(folder.file("rescued"), kind).openedStamp == stamp, "only the first open creates a stamp")
        // The target must not exist.
        #expect(throws: TandemError.self) { try salvage(kind) }
        try folder.expectRefused(.wrongKey) {
            try Store.salvage(
                at: folder.file("a"), key: Secrets.otherKey, profile: kind.profile!, to: folder.file("x"))
        }
    }

    /// Random pages of each table and index are damaged. The rest makes a valid store.
    @Test(arguments: StoreKind.withKey)
    func `the readable part of a damaged store makes a valid one`(kind: StoreKind) throws {
        let (shops, count) = try makeStore(kind, "a")
        let undamaged = try Peer.open(folder.file("a"), kind)
        let settings = try undamaged.sql("SELECT key FROM __settings").count
        undamaged.close()
        let whole = try Data(contentsOf: URL(fileURLWithPath: folder.file("a")))
        let base =
            ProcessInfo.processInfo.environment["TANDEM_SEED"].flatMap(UInt64.init) ?? UInt64.random(in: 0...999_999)
        print("SalvagedStoreTests: TANDEM_SEED=\(base)")
        var opened = 0
        let rounds = isSoak ? 300 : 8
        for round in 0..<rounds {
            let seed = base &+ UInt64(round)
            var random = PeerRandom(seed)
            try whole.write(to: URL(fileURLWithPath: folder.file("a")))
            let damaged = Set(
                (0..<Int.random(in: 1...6, using: &random)).map { _ in
                    Int.random(in: 1...count, using: &random)
                })
            for page in damaged { try folder.damage("a", page: page) }
            let report = try salvage(kind, to: "rescued-\(round)")
            #expect(report.damagedPages == damaged.map(UInt32.init).sorted(), "seed \(seed)")
            let store: Store
            do {
                store = try Peer.open(folder.file("rescued-\(round)"), kind)
            } catch let error as TandemError {
                // Its settings are on one of a few hundred pages.
                let found = report.rows["__settings"] ?? 0
                #expect(error.code == .corrupt && found < settings, "seed \(seed): \(error)")
                continue
            }
            opened += 1
            defer { store.close() }
            var kept = 0
            for row in try store.sql("SELECT localID, shop FROM PeerCard") {
                kept += 1
                #expect(shops[row[0].string!] == row[1].string!, "seed \(seed)")
            }
            #expect(kept == report.rows["PeerCard"] ?? 0, "seed \(seed)")
            let problems = try store.checkIntegrity()
            #expect(problems == [], "seed \(seed), pages \(damaged.sorted())")
            try store.expectSound()
            // The store can be searched, written and reopened.
            if let (id, _) = try store.sql("SELECT localID, shop FROM PeerCard LIMIT 1").first.map({ ($0[0], $0[1]) }) {
                #expect(
                    try store.rows(
                        "SELECT count(*) FROM __search_PeerCard WHERE __search_shop GLOB '*елка*'") == [
                            [.integer(Int64(kept))]
                        ])
                try store.write { try $0.update(PeerCard.self, localID: LocalID(id.string!)) { $0.shop = "Новая" } }
            }
            _ = try store.write { try $0.insert(PeerCard(shop: "Новая", barcode: "new")) }
            #expect(try store.checkIntegrity() == [])
        }
        #expect(opened * 2 >= rounds)
    }

    /// A page of the schema names some tables of a model, but not the others.
    @Test(arguments: StoreKind.withKey)
    func `remains of a lost model block nothing`(kind: StoreKind) throws {
        _ = try makeStore(kind, "a")
        let schema = try pages(kind, "a", of: "sqlite_schema")
        let whole = try Data(contentsOf: URL(fileURLWithPath: folder.file("a")))
        var opened = 0
        for page in schema where page != 1 {
            try whole.write(to: URL(fileURLWithPath: folder.file("a")))
            try folder.damage("a", page: page)
            let report = try salvage(kind, to: "rescued-\(page)")
            // Without its settings the file is not a store.
            guard report.rows["__settings"] != nil else { continue }
            let store = try Peer.open(folder.file("rescued-\(page)"), kind)
            defer { store.close() }
            #expect(try store.checkIntegrity() == [], "page \(page)")
            _ = try store.write { try $0.insert(PeerCard(shop: "Новая", barcode: "new")) }
            #expect(try store.checkIntegrity() == [], "page \(page)")
            opened += 1
        }
        #expect(opened > 0)
    }

    /// Objects are lost to which others refer and which have queued operations.
    @Test(arguments: StoreKind.withKey)
    func `references to lost objects wait for them`(kind: StoreKind) throws {
        _ = try makeStore(kind, "a")
        for page in try pages(kind, "a", of: "PeerPerson") { try folder.damage("a", page: page) }
        let report = try salvage(kind)
        #expect(report.rows["PeerPerson"] ?? 0 == 0 && report.rows["PeerCard"] == 300)
        let store = try Peer.open(folder.file("rescued"), kind)
        #expect(try store.checkIntegrity() == [])
        #expect(try store.rows("SELECT count(*) FROM PeerCard WHERE owner IS NOT NULL") == [[0]])
        #expect(try store.rows("SELECT count(*) FROM __unresolved") == [[600]])
        #expect(try store.operations.count() == 300)
        store.close()
        // It can be opened read-only after it was opened for writing.
        #expect(
            try Peer.open(folder.file("rescued"), kind, readOnly: true).rows("SELECT count(*) FROM PeerCard") == [[300]]
        )
    }

    // MARK: Live results

    @Test(.timeLimit(.minutes(10)), arguments: StoreKind.withKey)
    func `live results of pages that become damaged end with an error`(kind: StoreKind) throws {
        _ = try makeStore(kind, "a")
        let leaves = try pages(kind, "a", of: "PeerCard")
        var configuration = Store.Configuration()
        configuration.cacheSize = 1 << 16
        let models: [any Model.Type] = [PeerCard.self, PeerPerson.self, PeerMark.self]
        let store = try kind.open(at: folder.file("a"), models, configuration: configuration)
        defer { store.close() }
        let immediate = store.objects(PeerCard.self).collectionPublisher.on(.immediate).record()
        let queued = store.objects(PeerCard.self).changesetPublisher.record()
        let people = store.objects(PeerPerson.self).countPublisher.on(.immediate).record()
        #expect(queued.waitForValues(1) && immediate.values.count == 1)
        for page in leaves { try folder.damage("a", page: page) }
        // Another store's commit causes a reload.
        let other = try kind.open(at: folder.file("a"), models)
        defer { other.close() }
        _ = try other.write { try $0.insert(PeerPerson(name: "Ева")) }
        #expect(immediate.waitForEnd() && queued.waitForEnd())
        for error in [immediate.error, queued.error] {
            #expect(
                error?.code == .corrupt && error?.message.hasPrefix("Page ") == true, "\(String(describing: error))")
            #expect(error?.store == folder.file("a"))
        }
        // Results on undamaged pages continue.
        #expect(store.live.waitUntilIdle(store) { people.values.last == 3 })
        #expect(people.completion == nil)
        let late = store.objects(PeerCard.self).collectionPublisher.on(.immediate).record()
        #expect(late.error?.code == .corrupt)
        people.cancel()
    }
}
