import Foundation
import Testing

@testable import DiscountCards

@Suite struct StolenFilesTests {
    @Test func `a text is counted in all files, up to their last byte`() {
        let files = StolenFiles([Data("Лента, Лен, Лента".utf8), Data(), Data("\0Лента".utf8)])
        #expect(files.count(of: "Лента") == 3)
        #expect(files.count(of: "Магнит") == 0)
        #expect(StolenFiles([Data("ЛентЛента".utf8), Data("aaaa".utf8)]).count(of: "Лента") == 1)
        #expect(StolenFiles([Data("aaaa".utf8)]).count(of: "aa") == 3)
    }

    @Test func `the entropy is 0 for equal bytes, 1 for two values, and 8 for all`() {
        #expect(StolenFiles([Data(repeating: 7, count: 1000)]).entropy == 0)
        #expect(StolenFiles([Data([0, 255, 0, 255])]).entropy == 1)
        #expect(StolenFiles([Data(0...255)]).entropy == 8)
    }

    @Test func `a store's database and log are copied and counted together`() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("cards-tests-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appendingPathComponent("plain.tandem").path
        let store = try Wallet.openStore(at: path)
        try store.write { _ = try $0.insert(Card(shop: "Пятёрочка", barcode: "1")) }
        let stolen = try StolenFiles(of: path, to: folder.appendingPathComponent("stolen"))
        store.close()
        #expect(stolen.files.count == 3 && stolen.size > 4096)
        #expect(stolen.count(of: "Пятёрочка") > 0)
        #expect(stolen.files[0].isEmpty || StolenFiles([stolen.files[0]]).count(of: "Пятёрочка") == 0)
    }

    @Test func `bytes are shown sixteen per line with their characters`() {
        #expect(
            HexDump.lines("SQLite format 3\0\u{7F}é".utf8) == [
                "00000000  53 51 4c 69 74 65 20 66 6f 72 6d 61 74 20 33 00  |SQLite format 3.|",
                "00000010  7f c3 a9                                         |...|",
            ])
        #expect(HexDump.lines([]).isEmpty)
    }

    @Test func `a list written to a file is read unchanged`() throws {
        let entries = MadeUpBrands.entries(300) + [BrandEntry(name: "Лента", regions: ["ru", "by"], wikidata: "Q1")]
        #expect(try BrandFile.parse(Array(BrandFile.text(entries).utf8), path: "x.tsv") == entries)
    }
}
