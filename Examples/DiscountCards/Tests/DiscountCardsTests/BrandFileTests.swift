import Foundation
import Testing

@testable import DiscountCards

@Suite struct BrandFileTests {
    private func parse(_ text: String) throws -> [BrandEntry] {
        try BrandFile.parse(Array(text.utf8), path: "x.tsv")
    }

    private func parseFailure(_ bytes: [UInt8]) -> Failure? {
        do {
            _ = try BrandFile.parse(bytes, path: "x.tsv")
            return nil
        } catch {
            return error as? Failure
        }
    }

    @Test func `the header determines the columns`() throws {
        let entries = try parse("wikidata\tname\tother\tregions\nQ1\tЛента\tx\tru,by\n\tL'Orvéa\tx\t\n")
        #expect(
            entries == [
                BrandEntry(name: "Лента", regions: ["ru", "by"], wikidata: "Q1"), BrandEntry(name: "L'Orvéa"),
            ])
    }

    @Test func `a byte order mark, Windows line ends and a missing last line end are accepted`() throws {
        #expect(try parse("\u{FEFF}name\tcategory\r\nA\tb\r\nC\t").map(\.name) == ["A", "C"])
    }

    @Test func `a line that is not UTF-8 is an error with the line and the byte`() throws {
        let bytes = Array("name\nЛента\nab".utf8) + [0xC3, 0x28] + Array("\nC\n".utf8)
        let failure = try #require(parseFailure(bytes))
        #expect(failure.status == .badData)
        #expect(failure.message == "x.tsv:3: the line is not UTF-8, from its byte 3 on.")
    }

    @Test(arguments: [
        ("", "x.tsv: the file is empty."),
        ("shop\nA\n", "x.tsv:1: the header has no column “name”."),
        ("name\tcategory\nA\n", "x.tsv:2: 1 field, but the header has 2."),
        ("name\tcategory\nA\tb\tc\n", "x.tsv:2: 3 fields, but the header has 2."),
        ("name\tcategory\n\tb\n", "x.tsv:2: the name is empty."),
        ("name\nA\n\nB\n", "x.tsv:3: the name is empty."),
    ])
    func `an invalid file is an error with the position`(text: String, message: String) throws {
        let failure = try #require(parseFailure(Array(text.utf8)))
        #expect(failure.status == .badData && failure.message == message)
    }

    @Test func `a missing file and a folder have their own status`() {
        #expect { try BrandFile.read("/nowhere.tsv") } throws: { ($0 as? Failure)?.status == .noInput }
        #expect { try BrandFile.read(NSTemporaryDirectory()) } throws: { ($0 as? Failure)?.status == .noInput }
    }
}
