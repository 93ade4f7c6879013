import DatasyncWire
import Foundation
import HTTPTypes
import Tandem
import TandemSync
import TandemTesting
import TestSupport
import Testing

/// Mutated real responses: flipped bits, cuts and splices. Each is refused, or another decoder confirms it.
@Suite(.ownThreads) struct ResponseFuzzTests {
    private static let rows = (0..<3).map { index in
        """
        {"id":"018f-\(index)","createdAt":"2026-11-21T03:14:33.887Z","updatedAt":"2026-11-21T03:14:34.00\(index)Z",\
        "version":"MQ\(index)=","deleted":false,"shop":"Лента 🛒 会","points":-7\(index),"weight":1.5e-7,\
        "price":"0.10","labels":"[\\"a\\",\\"\\u00e9\\"]","owner":null,"nested":{"a":[true,{}]}}
        """
    }

    private static func mutate(_ bytes: inout [UInt8], _ random: inout SeededGenerator) {
        for _ in 0..<Int.random(in: 1...3, using: &random) where !bytes.isEmpty {
            let index = Int.random(in: bytes.indices, using: &random)
            switch Int.random(in: 0..<6, using: &random) {
            case 0: bytes[index] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            case 1: bytes.removeSubrange(index..<min(bytes.count, index + Int.random(in: 1...20, using: &random)))
            case 2: bytes.removeSubrange(index...)
            case 3: bytes.insert(Array(#"{}[],:"0\e.-n"#.utf8).randomElement(using: &random) ?? 0, at: index)
            case 4 where Bool.random(using: &random): bytes.insert(contentsOf: "e-9223372036854775808".utf8, at: index)
            case 4:
                // Repeats a piece of the response at another position: duplicate members and IDs.
                let end = min(bytes.count, index + Int.random(in: 1...60, using: &random))
                bytes.insert(contentsOf: bytes[index..<end], at: Int.random(in: 0...bytes.count, using: &random))
            default: bytes[index] = UInt8.random(in: 0...255, using: &random)
            }
        }
    }

    /// Decodes a response with Foundation. Foundation refuses numbers beyond a double. They are valid JSON, and Tandem
    /// keeps their texts. This function therefore removes their exponents.
    private static func decode(_ bytes: [UInt8]) -> Any? {
        if let document = try? JSONSerialization.jsonObject(with: Data(bytes)) { return document }
        // Invalid UTF-8 must stay invalid.
        guard let text = String(validating: bytes, as: UTF8.self) else { return nil }
        let shortened = text.replacing(#/(\d)[eE]\+?\d{3,}(?=\s*[,}\]])/#) { $0.output.1 }
        return try? JSONSerialization.jsonObject(with: Data(shortened.utf8))
    }

    /// Checks the properties of an accepted item.
    private func check(_ item: RemoteItem, _ object: Any?, _ seed: UInt64) throws {
        let object = try #require(object as? [String: Any], "seed \(seed): no object")
        #expect(object["id"] as? String == item.id.rawValue, "seed \(seed)")
        #expect(!item.id.rawValue.isEmpty && item.id.rawValue.utf8.count <= 255, "seed \(seed)")
        #expect(!item.id.rawValue.unicodeScalars.contains { $0.value < 32 }, "seed \(seed)")
        #expect(object["version"] as? String == item.version, "seed \(seed)")
        #expect(item.version?.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != 0x22 } ?? true, "seed \(seed)")
        #expect(object["updatedAt"] as? String == item.updatedAt?.text, "seed \(seed)")
        #expect((object["deleted"] as? Bool ?? false) == item.isDeleted, "seed \(seed)")
        for member in item.members { #expect(object[member.key] != nil, "seed \(seed): \(member.key)") }
        let system = object.keys.filter { ["id", "version", "updatedAt", "deleted", "createdAt"].contains($0) }
        #expect(item.members.count + system.count >= object.count, "seed \(seed)")
    }

    @Test(arguments: Wire.allCases) func `a damaged page is refused or valid`(wire: Wire) throws {
        let seed = SeededGenerator.seed(from: "TANDEM_SEED")
        var random = SeededGenerator(seed: seed)
        let items = "[" + Self.rows.joined(separator: ",") + "]"
        let whole = Array(
            (wire == .azure ? items : #"{"items":\#(items),"count":214,"nextLink":"$skip=3&$top=7"}"#).utf8)
        let request = try wire.writer.page(
            PageRequest(table: "Card", order: .updatedAt(from: WireTimestamp("2026-11-21T03:14:34Z")), top: 3))
        #expect(try wire.reader.page(response(200), body: whole, to: request).items.count == 3)
        var accepted = 0
        for _ in 0..<1500 {
            var bytes = whole
            Self.mutate(&bytes, &random)
            guard bytes != whole else { continue }
            do throws(RemoteFailure) {
                let page = try wire.reader.page(response(200), body: bytes, to: request)
                accepted += 1
                let document = Self.decode(bytes)
                let objects = wire == .azure ? document as? [Any] : (document as? [String: Any])?["items"] as? [Any]
                #expect(objects?.count == page.items.count, "seed \(seed)")
                #expect(Set(page.items.map(\.id)).count == page.items.count, "seed \(seed)")
                #expect(page.items.count <= 6, "seed \(seed)")
                let times = page.items.compactMap(\.updatedAt)
                #expect(times.count == page.items.count && times == times.sorted(), "seed \(seed)")
                for (item, object) in zip(page.items, objects ?? []) {
                    #expect(throws: Never.self) { try check(item, object, seed) }
                }
            } catch {
                guard case .invalidResponse = error else {
                    Issue.record("seed \(seed): \(error)")
                    continue
                }
            }
        }
        // Changed letters in texts leave a valid page. Without accepted pages, nothing above would be checked.
        #expect(accepted > 0, "seed \(seed)")
    }

    @Test(arguments: Wire.allCases) func `a damaged row is refused or valid`(wire: Wire) throws {
        let seed = SeededGenerator.seed(from: "TANDEM_SEED")
        var random = SeededGenerator(seed: seed)
        let request = try wire.writer.insert(.card())
        var accepted = 0
        for _ in 0..<1500 {
            var bytes = Array(Self.rows[0].utf8)
            Self.mutate(&bytes, &random)
            do throws(RemoteFailure) {
                guard let item = try wire.reader.remoteResponse(response(201), body: bytes, to: request).item else {
                    #expect(bytes.isEmpty, "seed \(seed)")
                    continue
                }
                accepted += 1
                let object = Self.decode(bytes)
                #expect(throws: Never.self) { try check(item, object, seed) }
            } catch {
                guard case .invalidResponse = error else {
                    Issue.record("seed \(seed): \(error)")
                    continue
                }
            }
        }
        #expect(accepted > 0, "seed \(seed)")
    }

    @Test(arguments: Wire.allCases) func `a number beyond a double is accepted`(wire: Wire) throws {
        let text = Self.rows[0].replacingOccurrences(of: "1.5e-7", with: "1.5e775808")
        let request = try wire.writer.insert(.card())
        let accepted = try wire.reader.remoteResponse(response(201), body: Array(text.utf8), to: request)
        try check(#require(accepted.item), Self.decode(Array(text.utf8)), 0)
    }

    /// Requests with any text in a filter or an ID: the request line is one line with a valid path.
    @Test(arguments: Wire.allCases) func `no text breaks out of a request`(wire: Wire) throws {
        let seed = SeededGenerator.seed(from: "TANDEM_SEED")
        var random = SeededGenerator(seed: seed)
        let scalars: [Unicode.Scalar] = [
            "'", "/", "+", " ", "?", "#", "&", "%", "\"", "\\", "\u{301}", "ж", "会", "😀", "\r", "\n", "a", "\u{200D}",
            "=",
        ]
        for _ in 0..<300 {
            let text = String(
                String.UnicodeScalarView(
                    (0..<Int.random(in: 1...8, using: &random)).map { _ in scalars.randomElement(using: &random) ?? "a"
                    }))
            let filter = RemoteFilter.comparison(.init("shop"), by: .equal, to: .text(text))
            let request = try wire.writer.page(PageRequest(table: "Card", filter: filter, order: .id(after: nil)))
            let path = try #require(request.head.path)
            #expect(path.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != 0x22 && $0 != 0x23 }, "seed \(seed)")
            #expect(path.utf8.count(where: { $0 == 0x26 }) == 2, "seed \(seed): an option more, or less")
            #expect(path.utf8.count(where: { $0 == 0x27 }) % 2 == 0, "seed \(seed): an odd quote")
            guard let write = try? wire.writer.delete(.card(ServerID(text))) else { continue }
            #expect(write.line.utf8.count(where: { $0 == 0x2F }) == 4, "seed \(seed)")
        }
    }
}
