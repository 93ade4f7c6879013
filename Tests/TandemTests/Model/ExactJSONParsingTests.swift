import Foundation
import TandemTesting
import TestSupport
import Testing

@testable import Tandem

@Suite(.ownThreads) struct ExactJSONParsingTests {
    @Test(
        arguments: [
            (" \t\r\n1 \n", .integer(1)), ("-0", .integer(0)), ("1E2", .real(100)), ("1e-2", .real(0.01)),
            ("0.10", .real(0.1)), ("0e0", .real(0)), ("-0e5", .real(-0.0)), ("1e-999", .real(0)),
            ("0e99999999999999999999", .real(0)), ("9007199254740993.0", .real(9_007_199_254_740_992)),
            ("123456789012345678901234567890.0", .real(123_456_789_012_345_677_877_719_597_056)),
            ("2.2250738585072011e-308", .real(Double.leastNormalMagnitude.nextDown)),
            (#""\u0041\u00e9\uD83D\ude00\/""#, .text("A\u{E9}😀/")), ("\"\u{7F}\"", .text("\u{7F}")),
            (
                #""\u007f\u0080\u07ff\u0800\uffff\ud800\udc00\udbff\udfff""#,
                .text("\u{7F}\u{80}\u{7FF}\u{800}\u{FFFF}\u{10000}\u{10FFFF}")
            ),
            // The memory of an escaped string is used again for the next ones.
            (
                #"{"\u0430long key":"long \u043f\u0440 text","\u0431":"\u0432","c":"d\n"}"#,
                .object([("c", .text("d\n")), ("аlong key", .text("long пр text")), ("б", .text("в"))])
            ),
            (#"[ 1 , [ ] , { } ]"#, .array([.integer(1), .array([]), .object([])])),
            (#"{ "b" : 1 , "a" : { "$blob" : "AQI=" } }"#, .object([("a", .blob([1, 2])), ("b", .integer(1))])),
            (#"{"\u0024blob":"AQI="}"#, .blob([1, 2])), (#"{"$$blob":"x"}"#, .object([("$blob", .text("x"))])),
        ] as [(String, JSONNode)])
    func `valid texts are accepted`(text: String, node: JSONNode) throws {
        #expect(try parse(Array(text.utf8)) == node)
    }

    @Test(
        arguments: [
            "", " ", "nul", "nulll", "True", "+1", "01", "-", "-01", "1.", ".5", "1e", "1e+", "1.e1", "0x10", "NaN",
            "Infinity", "1 2", "[1,]", "[,1]", "[1 2]", "[", "]", "[1}", "{", "{a:1}", "{'a':1}", #"{"a"}"#,
            #"{"a":}"#, #"{"a":1,}"#, #"{"a":1 "b":2}"#, #"{,}"#, #"{1:2}"#, "\"", #""abc"#, "\"\n\"", "\"\0\"",
            #""\x""#, #""\u12""#, #""\u12G4""#, #""\ud800""#, #""\ud800x""#, #""\ud800\n""#, #""\ud800\ud800""#,
            #""\udc00""#, #""\udc00\ud800""#, #""\""#, "'a'", "// c\n1", "1//", "\u{FEFF}1", "[1]]", "{}{}", "\u{A0}1",
        ])
    func `invalid texts are refused`(text: String) {
        #expect(throws: InvalidEncoding.self) { try parse(Array(text.utf8)) }
        // Foundation accepts a byte order mark and a comma after the last element.
        guard text.utf8.first != 0xEF, !["[1,]", #"{"a":1,}"#].contains(text) else { return }
        #expect(throws: (any Error).self) {
            _ = try JSONSerialization.jsonObject(with: Data(text.utf8), options: .fragmentsAllowed)
        }
    }

    @Test(
        arguments: [
            "9223372036854775808", "-9223372036854775809", "123456789012345678901", "1e309", "-1e400", "1e99999999",
        ])
    func `numbers out of range are refused`(text: String) {
        #expect { try parse(Array(text.utf8)) } throws: { ($0 as? InvalidEncoding)?.code == .outOfRange }
    }

    @Test(
        arguments: [
            #"{"$":1}"#, #"{"$x":1}"#, #"{"$Blob":"AQI="}"#, #"{"$blob":1}"#, #"{"$blob":null}"#,
            #"{"$blob":"AQI=","a":1}"#, #"{"a":1,"$blob":"AQI="}"#, #"{"$blob":"AQI"}"#, #"{"$blob":"AQJ="}"#,
            #"{"$blob":"AQ=="#, #"{"$blob":"A==="}"#, #"{"$blob":"===="}"#, #"{"$blob":"AQ==AQ=="}"#,
            #"{"$blob":"AQ-_"}"#, #"{"$blob":" AQI="}"#, #"{"$blob":"AQI=\n"}"#, #"{"$blob":"AR=="}"#,
            #"{"$blob":"AQID\u0000"}"#, #"{"$blob":"AQI\u212a"}"#, #"{"$blob":"AQI=AQID"}"#, #"{"$blob":"A=I="}"#,
            #"{"$real":"7ff"}"#, #"{"$real":"7FF8000000000000"}"#,
            #"{"$real":"3ff0000000000000"}"#, #"{"$real":"7ff800000000000g"}"#, #"{"$real":1.0}"#,
        ])
    func `unknown keys with a dollar sign are refused`(text: String) {
        #expect(throws: InvalidEncoding.self) { try parse(Array(text.utf8)) }
    }

    @Test(
        arguments: [
            "80", "bf", "c0af", "c1bf", "c2", "c2c2", "e08080", "e09fbf", "eda080", "edbfbf", "e282", "f0808080",
            "f08fbfbf", "f09f98", "f4908080", "f5808080", "fe", "ff", "41c3",
        ])
    func `invalid UTF-8 is refused`(text: String) {
        let bytes = unhex(text)
        for content in [bytes, Array("a\\n".utf8) + bytes, bytes + Array("\\u00e9".utf8)] {
            #expect { try parse([0x22] + content + [0x22]) } throws: { ($0 as? InvalidEncoding)?.code == .malformed }
        }
    }

    @Test func `UTF-8 of every length is kept`() throws {
        var random = SeededGenerator.seeded()
        var sequences: [[UInt8]] = []
        for first in UInt8(0x80)...0xFF { for second in UInt8(0x20)...0xFF { sequences.append([first, second]) } }
        let bytes: [UInt8] = [0x41, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC2, 0xE0, 0xED, 0xEF, 0xF0, 0xF4]
        for _ in 0..<20_000 {
            sequences.append((0..<4).map { _ in bytes.randomElement(using: &random)! })
            sequences.append((0..<3).map { _ in bytes.randomElement(using: &random)! })
        }
        for sequence in sequences where !sequence.contains(0x22) && !sequence.contains(0x5C) {
            let expected = String(validating: sequence, as: UTF8.self)
            let parsed = try? parse([0x22] + sequence + [0x22])
            #expect(parsed == expected.map { .text($0) }, "\(hex(sequence))")
        }
    }

    /// The parser examines eight bytes at a time. The plain bytes here are those from `]` to `~`.
    @Test(arguments: 0...40)
    func `special bytes are found at every offset of a text`(length: Int) throws {
        let plain = String((0..<length).map { Character(UnicodeScalar(UInt8(0x5D + $0 % 34))) })
        #expect(try parse(Array("[\"\(plain)\"]".utf8)) == .array([.text(plain)]))
        for place in 0...length {
            let (before, after) = (plain.prefix(place), plain.dropFirst(place))
            func text(_ some: String) -> [UInt8] { Array("[\"\(before)\(some)\(after)\"]".utf8) }
            #expect(try parse(text("é")) == .array([.text("\(before)é\(after)")]))
            #expect(try parse(text("\\\"")) == .array([.text("\(before)\"\(after)")]))
            #expect(try parse(text("\",\"")) == .array([.text(String(before)), .text(String(after))]))
            for control in ["\0", "\u{1F}", "\n"] {
                #expect(throws: InvalidEncoding.self) { try parse(text(control)) }
            }
            #expect(throws: InvalidEncoding.self) { try parse(Array("[\"\(before)".utf8) + [0xFF] + Array("\"]".utf8)) }
            #expect(throws: InvalidEncoding.self) { try parse(Array("[\"\(before)".utf8)) }
        }
    }

    /// The parser tries the order of the previous object's keys first.
    @Test func `the keys of each object in a list are sorted`() throws {
        func object(_ keys: String...) -> JSONNode { .object(keys.map { ($0, .text($0)) }) }
        func text(_ keys: String...) -> String {
            "{\(keys.map { "\"\($0)\":\"\($0)\"" }.joined(separator: ","))}"
        }
        let texts = [
            text("c", "a", "b"), text("c", "a", "b"), text("b", "a", "c"), text("c", "a"), text("a", "b", "c"),
            text("c", "a", "é"), text("c", "a", "e\u{301}"), text("c", "a", "b", "d"), text("c", "a", "b"),
        ]
        let nodes = [
            object("a", "b", "c"), object("a", "b", "c"), object("a", "b", "c"), object("a", "c"),
            object("a", "b", "c"), object("a", "c", "é"), object("a", "c", "e\u{301}"), object("a", "b", "c", "d"),
            object("a", "b", "c"),
        ]
        #expect(try parse(Array("[\(texts.joined(separator: ","))]".utf8)) == .array(nodes))
        for twice in [text("c", "a", "c"), text("b", "a", "a"), text("a", "a", "b")] {
            #expect { try parse(Array("[\(texts[0]),\(twice)]".utf8)) } throws: {
                ($0 as? InvalidEncoding)?.code == .duplicateKey
            }
        }
    }

    @Test func `an error describes its place`() {
        #expect { try parse(Array("[1,?]".utf8)) } throws: { error in
            "\(error)" == "Invalid encoding of JSON: no value begins like this (byte 3)."
        }
    }

    @Test func `random bytes never crash the parser`() throws {
        var random = SeededGenerator.seeded()
        let seeds = [
            #"{"a":[1,-2.5e10,"x\u00e9\ud83d\ude00"],"$$b":{"$blob":"AQID"},"c":{"$real":"7ff8000000000000"}}"#,
            #"[[[{"k":null}],true,false],0.1,9223372036854775807,"é"]"#, #""\ud800\udc00""#, "-0.0",
        ].map { Array($0.utf8) }
        let alphabet = Array(#"[]{}:,"\u$blobreal0123456789.-+eE tfn"#.utf8)
        for round in 0..<100_000 {
            let text: [UInt8] =
                switch round % 4 {
                case 0:
                    (0..<Int.random(in: 0...30, using: &random)).map { _ in alphabet.randomElement(using: &random)! }
                case 1: random.bytes(Int.random(in: 0...20, using: &random))
                default: random.damaged(seeds.randomElement(using: &random)!)
                }
            do {
                let node = try parse(text)
                var written: [UInt8] = []
                try ExactJSON.write(node, to: &written)
                #expect(try parse(written) == node)
            } catch is InvalidEncoding {}
        }
    }

    private func parse(_ bytes: [UInt8]) throws -> JSONNode {
        try bytes.withUnsafeBufferPointer(ExactJSON.parse)
    }
}
