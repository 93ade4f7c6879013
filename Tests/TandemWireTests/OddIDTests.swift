import DatasyncWire
import Foundation
import HTTPTypes
import Tandem
import TandemSync
import TestSupport
import Testing

/// IDs with characters that are special in a URL.
private let oddIDs: [(String, path: String)] = [
    ("O'Neil", "O%27Neil"), ("say \"hi\"", "say%20%22hi%22"), ("a/b/../c", "a%2Fb%2F..%2Fc"), ("1+1", "1%2B1"),
    ("a b", "a%20b"), ("%2F", "%252F"), ("?a=b&c#d", "%3Fa%3Db%26c%23d"), ("a;b,c:d@e", "a%3Bb%2Cc%3Ad%40e"),
    ("карта", "%D0%BA%D0%B0%D1%80%D1%82%D0%B0"), ("会员", "%E4%BC%9A%E5%91%98"),
    ("👩‍👧", "%F0%9F%91%A9%E2%80%8D%F0%9F%91%A7"),
    ("e\u{301}", "e%CC%81"), ("\u{E9}", "%C3%A9"), ("'\u{301}", "%27%CC%81"), ("A-z_0.9~", "A-z_0.9~"),
    ("...", "..."), ("\\", "%5C"), ("$filter", "%24filter"),
]

@Suite(.ownThreads) struct OddIDTests {
    @Test(arguments: oddIDs) func `an ID is one segment of the path`(id: String, path: String) throws {
        for wire in Wire.allCases {
            let request = try wire.writer.delete(.card(ServerID(id)))
            let table = wire == .azure ? "Card" : "card"
            #expect(request.line == "DELETE /api/tables/\(table)/\(path)")
            // Foundation's parser confirms the address.
            let url = try #require(URL(string: request.url))
            #expect(Array((url.path(percentEncoded: false)).utf8) == Array("/api/tables/\(table)/\(id)".utf8))
        }
    }

    @Test(arguments: oddIDs) func `an ID in a filter is one text`(id: String, path: String) throws {
        let line = try Wire.azure.writer.find("Card", key: .id(ServerID(id))).line
        let start = try #require(line.range(of: "$filter="))
        let end = try #require(line.range(of: "&$top"))
        let decoded = try #require(String(line[start.upperBound..<end.lowerBound]).removingPercentEncoding)
        // Decodes the text by the grammar: a quote in a text is doubled.
        var utf8 = Array(decoded.utf8)
        #expect(utf8.starts(with: "(id eq '".utf8))
        #expect(utf8.suffix(2) == [0x27, 0x29])
        utf8 = Array(utf8.dropFirst(8).dropLast(2))
        var read: [UInt8] = []
        while let byte = utf8.first {
            if byte == 0x27 { try #require(utf8.count > 1 && utf8[1] == 0x27, "a quote ends the text early") }
            utf8.removeFirst(byte == 0x27 ? 2 : 1)
            read.append(byte)
        }
        #expect(read == Array(id.utf8))
    }

    @Test func `a plus sign is encoded`() {
        #expect(PathText.queryValue("2026-11-21T03:14:34+02:00 1+1") == "2026-11-21T03:14:34%2B02:00%201%2B1")
        #expect(PathText.segment("+") == "%2B")
    }

    @Test(arguments: ["", ".", "..", "a\u{0}b", "a\n", "\u{7F}", "\u{85}", String(repeating: "я", count: 128)])
    func `an invalid ID is not sent`(id: String) {
        for wire in Wire.allCases {
            for write in [wire.writer.insert, wire.writer.update, wire.writer.delete, wire.writer.undelete] {
                let error = #expect(throws: RequestEncodingError.self) { try write(.card(ServerID(id))) }
                #expect(error?.code == .invalidID)
            }
            #expect(throws: RequestEncodingError.self) { try wire.writer.find("Card", key: .id(ServerID(id))) }
        }
    }
}

@Suite(.ownThreads) struct ServerAddressTests {
    @Test(
        arguments: [
            ("https://shop.example", "https://shop.example"), ("HTTPS://Shop.Example:443/", "https://shop.example"),
            ("http://h:80/api//", "http://h/api"), ("https://h:80", "https://h:80"),
            ("http://[::1]:8080/x", "http://[::1]:8080/x"), ("http://[::1]", "http://[::1]"),
            ("http://127.0.0.1:5000", "http://127.0.0.1:5000"),
        ])
    func `a valid address is parsed`(text: String, address: String) {
        #expect(ServerAddress(text)?.description == address)
    }

    @Test(
        arguments: [
            "", "shop.example", "ftp://h", "https://", "https:///x", "https://user:pw@h", "https://h?x", "https://h/#x",
            "https://h:0", "https://h:99999", "https://h:+1", "https://h:", "https://h/a b", "https://хост", "://h",
            "https://h/a\\b", "https://:80",
        ])
    func `an invalid address is refused`(text: String) {
        #expect(ServerAddress(text) == nil)
    }
}
