import Foundation
import TandemTesting
import TestSupport
import Testing

@testable import Tandem

@Suite(.ownThreads) struct ExactJSONTests {
    @Test(
        arguments: [
            (.null, "null"), (.bool(true), "true"), (.bool(false), "false"), (.integer(0), "0"),
            (.integer(.min), "-9223372036854775808"), (.integer(.max), "9223372036854775807"),
            (.real(1), "1.0"), (.real(-0.0), "-0.0"), (.real(0.1), "0.1"), (.real(1e16), "1e+16"),
            (.real(.leastNonzeroMagnitude), "5e-324"), (.real(.greatestFiniteMagnitude), "1.7976931348623157e+308"),
            (.real(.infinity), #"{"$real":"7ff0000000000000"}"#),
            (.real(-.infinity), #"{"$real":"fff0000000000000"}"#),
            (.real(Double(bitPattern: 0xFFF8_0000_DEAD_BEEF)), #"{"$real":"fff80000deadbeef"}"#),
            (.text(""), #""""#), (.text("a\"b\\c/d"), #""a\"b\\c/d""#),
            (.text("\0\u{1}\u{8}\t\n\u{B}\u{C}\r\u{1F}\u{7F}"), #""\u0000\u0001\b\t\n\u000b\f\r\u001f"# + "\u{7F}\""),
            (.text("é\u{2028}😀"), "\"é\u{2028}😀\""),
            (.blob([]), #"{"$blob":""}"#), (.blob([1]), #"{"$blob":"AQ=="}"#), (.blob([1, 2]), #"{"$blob":"AQI="}"#),
            (.blob([1, 2, 3]), #"{"$blob":"AQID"}"#), (.blob([251, 255]), #"{"$blob":"+/8="}"#),
            (.array([]), "[]"), (.array([.integer(1), .real(1), .null]), "[1,1.0,null]"), (.object([]), "{}"),
            (
                .object([("$", .null), ("$$blob", .null), ("$blob", .text("AQ==")), ("a", .object([("$real", .null)]))]
                ),
                #"{"$$":null,"$$$blob":null,"$$blob":"AQ==","a":{"$$real":null}}"#
            ),
        ] as [(JSONNode, String)])
    func `the text of each kind of node does not change`(node: JSONNode, text: String) throws {
        #expect(try write(node) == text)
        #expect(try parse(text) == node)
    }

    @Test func `keys are sorted by their UTF-8, and canonically equivalent keys stay different`() throws {
        let composed = "\u{E9}"
        let decomposed = "e\u{301}"
        #expect(composed == decomposed)
        let node = JSONNode.object([
            (composed, .integer(1)), ("z", .integer(2)), (decomposed, .integer(3)), ("", .integer(4)), ("Z", .null),
            ("\u{FFFD}", .integer(5)), ("😀", .integer(6)),
        ])
        let text = try write(node)
        #expect(
            text.utf8.elementsEqual(
                "{\"\":4,\"Z\":null,\"e\u{301}\":3,\"z\":2,\"\u{E9}\":1,\"\u{FFFD}\":5,\"😀\":6}".utf8))
        guard case .object(let members) = try parse(text) else { return #expect(Bool(false)) }
        #expect(members.count == 7)
        #expect(try write(.object(members.reversed())) == text)
    }

    @Test func `a repeated key is refused, and a failed write appends nothing`() throws {
        var out: [UInt8] = [42]
        let node = JSONNode.array([.object([("a", .null), ("b", .null), ("a", .null)])])
        #expect { try ExactJSON.write(node, to: &out) } throws: {
            ($0 as? InvalidEncoding)?.code == .duplicateKey
        }
        #expect(out == [42])
        for text in [#"{"a":1,"a":1}"#, #"{"a":1,"b":2,"\u0061":3}"#] {
            #expect { try parse(text) } throws: { ($0 as? InvalidEncoding)?.code == .duplicateKey }
        }
    }

    @Test func `128 levels are written and read, 129 levels are refused`() throws {
        func nested(_ levels: Int, _ leaf: JSONNode) -> JSONNode {
            (0..<levels).reduce(leaf) { node, level in level % 2 == 0 ? .array([node]) : .object([("k", node)]) }
        }
        for leaf in [JSONNode.null, .blob([1]), .real(.nan)] {
            let node = nested(128, leaf)
            #expect(try parse(write(node)) == node)
            #expect { try write(nested(129, leaf)) } throws: { ($0 as? InvalidEncoding)?.code == .tooDeep }
        }
        for leaf in [JSONNode.array([]), .object([]), .object([("k", .null)])] {
            #expect(throws: Never.self) { try parse(write(nested(127, leaf))) }
            #expect { try write(nested(128, leaf)) } throws: { ($0 as? InvalidEncoding)?.code == .tooDeep }
        }
        for unit in ["[", "{\"a\":", "[{\"$$\":"] {
            let text = String(repeating: unit, count: 100_000)
            #expect { try parse(text) } throws: { ($0 as? InvalidEncoding)?.code == .tooDeep }
        }
        let empty = String(repeating: "[", count: 128) + "{}" + String(repeating: "]", count: 128)
        #expect { try parse(empty) } throws: { ($0 as? InvalidEncoding)?.code == .tooDeep }
    }

    @Test func `every Unicode scalar is restored from a text and from a key`() throws {
        var string = ""
        for value in UInt32(0)...0x10FFFF {
            guard let scalar = Unicode.Scalar(value) else { continue }
            string.unicodeScalars.append(scalar)
            if value % 0x1000 == 0xFFF || value == 0xD7FF {
                let node = JSONNode.object([(string, .text(string))])
                #expect(try parse(write(node)) == node)
                string = ""
            }
        }
    }

    @Test func `doubles are restored bit by bit`() throws {
        var random = SeededGenerator.seeded()
        var values: [Double] = [0, -0.0, .pi, .leastNormalMagnitude, .leastNonzeroMagnitude, 1e15, 1e16, 1e22, 1e23]
        for exponent in -1074...1023 { values += [pow(2, Double(exponent)), pow(2, Double(exponent)).nextDown] }
        for _ in 0..<50_000 { values.append(Double(bitPattern: random.next())) }
        for _ in 0..<20_000 { values.append(Double(Int.random(in: -10_000_000...10_000_000, using: &random)) / 1000) }
        for value in values {
            let text = try write(.real(value))
            #expect(try parse(text) == .real(value))
        }
    }

    @Test func `random trees are restored, and Foundation reads the same values`() throws {
        var random = SeededGenerator.seeded()
        for _ in 0..<3_000 {
            let node = randomNode(&random, depth: 4)
            let text = try write(node)
            let parsed = try parse(text)
            #expect(try write(parsed) == text)
            #expect(parsed == canonical(node))
            let object = try JSONSerialization.jsonObject(with: Data(text.utf8), options: .fragmentsAllowed)
            #expect(agrees(object, parsed), "\(text)")
        }
    }

    private func write(_ node: JSONNode) throws -> String {
        var out: [UInt8] = []
        try ExactJSON.write(node, to: &out)
        return try #require(String(validating: out, as: UTF8.self))
    }

    private func parse(_ text: String) throws -> JSONNode {
        try Array(text.utf8).withUnsafeBufferPointer(ExactJSON.parse)
    }

    private func canonical(_ node: JSONNode) -> JSONNode {
        switch node {
        case .array(let elements): .array(elements.map(canonical))
        case .object(let members):
            .object(members.map { ($0.key, canonical($0.value)) }.sorted { UTF8Order.compare($0.key, $1.key) < 0 })
        default: node
        }
    }

    private func agrees(_ object: Any, _ node: JSONNode) -> Bool {
        switch node {
        case .null: return object is NSNull
        case .bool(let value): return object as? Bool == value
        case .integer(let value): return (object as? NSNumber)?.int64Value == value
        case .real(let value):
            guard value.isFinite else { return (object as? [String: Any])?["$real"] is String }
            // Foundation reads a number as a Decimal if possible. The conversion to Double loses the last bits.
            guard let read = (object as? NSNumber)?.doubleValue else { return false }
            return abs(read - value) <= abs(value) * 1e-14
        case .text(let value): return object as? String == value
        case .blob(let bytes):
            let text = (object as? [String: Any])?["$blob"] as? String
            return text.flatMap { Data(base64Encoded: $0) } == Data(bytes)
        case .array(let elements):
            guard let array = object as? [Any], array.count == elements.count else { return false }
            return zip(array, elements).allSatisfy { agrees($0, $1) }
        case .object(let members):
            guard let dictionary = object as? [String: Any] else { return false }
            return members.allSatisfy { member in
                let key = member.key.hasPrefix("$") ? "$" + member.key : member.key
                return dictionary[key].map { agrees($0, member.value) } ?? false
            }
        }
    }

    private func randomNode(_ random: inout SeededGenerator, depth: Int) -> JSONNode {
        switch Int.random(in: 0..<(depth > 0 ? 9 : 7), using: &random) {
        case 0: return .null
        case 1: return .bool(Bool.random(using: &random))
        case 2:
            let shift = Int64.random(in: 0..<64, using: &random)
            return .integer(Int64.random(in: .min ... .max, using: &random) >> shift)
        case 3: return .real(Double(bitPattern: random.next()))
        case 4: return .real(Double(Int.random(in: -1000...1000, using: &random)))
        case 5: return .text(randomText(&random))
        case 6: return .blob(random.bytes(Int.random(in: 0..<20, using: &random)))
        case 7:
            let count = Int.random(in: 0..<6, using: &random)
            return .array((0..<count).map { _ in randomNode(&random, depth: depth - 1) })
        default:
            let count = Int.random(in: 0..<6, using: &random)
            let prefixes = ["", "$", "$$", "$real", "$blob"]
            return .object(
                (0..<count).map { index in
                    let key = prefixes.randomElement(using: &random)! + "\(index)" + randomText(&random)
                    return (key, randomNode(&random, depth: depth - 1))
                })
        }
    }

    private func randomText(_ random: inout SeededGenerator) -> String {
        let pieces = [
            "a", "Z", " ", "\"", "\\", "/", "\0", "\n", "\u{1F}", "ж", "\u{2028}", "中", "😀", "$", "\u{10FFFF}",
        ]
        return (0..<Int.random(in: 0..<12, using: &random)).map { _ in pieces.randomElement(using: &random)! }.joined()
    }
}
