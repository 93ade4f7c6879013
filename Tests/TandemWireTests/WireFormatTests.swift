import BigInt
import DatasyncWire
import Foundation
import TandemTesting
import TestSupport
import Testing

@testable import Tandem
@testable import TandemSync

private let date = Date(timeIntervalSince1970: 1_795_230_874.003)
private let uuid = UUID(uuidString: "018F0000-0000-7000-8000-0000000000AB")!

private func sample() -> Every {
    Every(
        flag: true, int8: -128, int64: .max, uint32: .max, uint64: .max, double: -0.0, float: 0.1,
        text: "Пят\u{0}ёрочка 🛒 会",
        data: Data([0, 255, 62, 63]), date: date, uuid: uuid, url: URL(string: "https://x.example/%D0%B6?a=b#c")!,
        decimal: Decimal(string: "-12345678901234567890123456789.0123")!, big: -(BigInt(1) << 200),
        bigUnsigned: BigUInt(1) << 100, level: .high, place: Place(name: "Омск", latitude: 54.98, tags: ["a": 1]),
        int64s: [0, 1 << 53, (1 << 53) + 1, .min], uint64s: [.max, 0], doubles: [1.5, 1e300, .leastNonzeroMagnitude],
        floats: [0.1, 16_777_216], datas: [Data(), Data([1])], dates: [date, Date(timeIntervalSince1970: 0)],
        bigs: [0, 1 << 70], decimals: [1, Decimal(string: "0.10")!], nested: [[], ["а", "\"'\\"]],
        textSet: ["b", "а", "👋"], uuidSet: [uuid], dateMap: ["когда": date, "": date],
        listMap: ["$blob": [1], "x": []],
        maybe: nil, maybeDate: date, maybeDoubles: [], one: Reference(localID: "p"),
        many: [Reference(localID: "a/b"), Reference(localID: "я")])
}

/// Returns the stored values of an object, with their properties.
private func stored(_ object: Every) -> [(PropertyDefinition, StorageValue)] {
    let row = RowEncoder()
    object.__append(to: row)
    return Every.__definition.properties.enumerated().map { ($1, row.value(at: $0)) }
}

private func nested(_ wire: Wire) -> WireFormat {
    var format = wire.dialect.format
    format.nestedJSON = true
    return format
}

@Suite(.ownThreads) struct WireFormatTests {
    /// Each property type is encoded in a request and decoded from a response without loss.
    @Test(arguments: Wire.allCases, [false, true])
    func `each type is sent and received unchanged`(wire: Wire, isNested: Bool) throws {
        var dialect = wire.dialect
        dialect.format.nestedJSON = isNested
        let values = stored(sample())
        var item = OutgoingItem(table: "Every", id: "018f")
        for (property, value) in values {
            item.members.append((property.wireName, try dialect.format.node(of: value, for: property)))
        }
        let request = try RequestEncoder(dialect, at: Wire.address).insert(item)
        let decoded = try ResponseDecoder(dialect, at: Wire.address).remoteResponse(
            response(201), body: request.body, to: request)
        let received = try #require(decoded.item)
        #expect(received.members.count == values.count)
        for (property, value) in values {
            let node = try #require(received[member: property.wireName])
            #expect(try dialect.format.storageValue(of: node, for: property) == value, "\(property.name)")
        }
    }

    @Test func `each type has its documented format`() throws {
        func text(_ format: WireFormat) throws -> [String: String] {
            var texts: [String: String] = [:]
            for (property, value) in stored(sample()) {
                var bytes: [UInt8] = []
                try ExactJSON.writeForeign(try format.node(of: value, for: property), to: &bytes)
                texts[property.name] = String(decoding: bytes, as: UTF8.self)
            }
            return texts
        }
        let flat = try text(WireFormat())
        #expect(flat["flag"] == "true")
        #expect(flat["int8"] == "-128")
        #expect(flat["int64"] == #""9223372036854775807""#)
        #expect(flat["uint32"] == "4294967295")
        #expect(flat["uint64"] == #""18446744073709551615""#)
        #expect(flat["double"] == "-0.0")
        #expect(flat["float"] == "0.1")
        #expect(flat["text"] == #""Пят\u0000ёрочка 🛒 会""#)
        #expect(flat["data"] == #""AP8+Pw==""#)
        #expect(flat["date"] == #""2026-11-21T03:14:34.003Z""#)
        #expect(flat["uuid"] == #""018f0000-0000-7000-8000-0000000000ab""#)
        #expect(flat["decimal"] == #""-12345678901234567890123456789.0123""#)
        #expect(flat["bigUnsigned"] == #""1267650600228229401496703205376""#)
        #expect(flat["level"] == "9000000000")
        #expect(flat["int64s"] == #""[0,9007199254740992,\"9007199254740993\",\"-9223372036854775808\"]""#)
        #expect(flat["dates"] == #""[\"2026-11-21T03:14:34.003Z\",\"1970-01-01T00:00:00.000Z\"]""#)
        #expect(flat["maybe"] == "null")
        #expect(flat["one"] == #""p""#)
        #expect(flat["many"] == #""[\"a/b\",\"я\"]""#)
        let nested = try text(WireFormat(fractionDigits: 6, nestedJSON: true))
        #expect(nested["dates"] == #"["2026-11-21T03:14:34.003000Z","1970-01-01T00:00:00.000000Z"]"#)
        #expect(nested["datas"] == #"["","AQ=="]"#)
        #expect(nested["place"] == #"{"latitude":54.98,"name":"Омск","tags":{"a":1}}"#)
        #expect(nested["listMap"] == #"{"$blob":[1],"x":[]}"#)
        #expect(nested["many"] == #"["a/b","я"]"#)
    }

    private func property(_ name: String) throws -> PropertyDefinition {
        try #require(Every.__definition.properties.first { $0.name == name })
    }

    @Test(
        arguments: [
            ("double", .real(.nan)), ("double", .blob([0x7F, 0xF8, 0, 0, 0, 0, 0, 0])), ("double", .real(-.infinity)),
            ("float", .real(.infinity)), ("date", .real(1e20)), ("date", .blob([0x7F, 0xF8, 0, 0, 0, 0, 0, 0])),
            ("decimal", .blob([0xFF])), ("doubles", .text(#"[1.0,{"$real":"7ff0000000000000"}]"#)),
            ("url", .text("a\u{0}https://base")), ("int64", .text("7")), ("doubles", .text("[")), ("uuid", .blob([1])),
        ] as [(String, StorageValue)])
    func `a value that can't be encoded is refused`(name: String, value: StorageValue) throws {
        let property = try property(name)
        let error = #expect(throws: RequestEncodingError.self) { try WireFormat().node(of: value, for: property) }
        #expect(error?.code == .value)
        #expect(error?.member == name)
    }

    @Test(
        arguments: [
            ("flag", .integer(1), .integer(1)), ("flag", .bool(false), .integer(0)),
            ("int64", .text("-9223372036854775808"), .integer(.min)), ("int64", .real(7), .integer(7)),
            ("double", .integer(9_007_199_254_740_993), .real(9_007_199_254_740_992)),
            ("double", .text("123456789012345680000"), .real(1.2345678901234568e20)),
            ("double", .text("1e-3"), .real(0.001)),
            ("float", .real(0.1), .real(Double(Float(0.1)))), ("data", .text("AP8"), .blob([0, 255])),
            ("data", .text("AP8="), .blob([0, 255])), ("data", .text(""), .blob([])),
            ("date", .text("2001-01-01T02:00:00+02:00"), .real(0)), ("date", .text("2001-01-01T00:00:00"), .real(0)),
            ("maybe", .null, .null), ("maybeDoubles", .array([.integer(1), .text("2.5")]), .text("[1.0,2.5]")),
            ("maybeDoubles", .text(" [1, 2.5] "), .text("[1.0,2.5]")), ("many", .array([.text("x")]), .text(#"["x"]"#)),
            ("textSet", .array([.text("b"), .text("a"), .text("b")]), .text(#"["a","b"]"#)),
        ] as [(String, JSONNode, StorageValue)])
    func `values in other servers' formats are decoded`(name: String, node: JSONNode, value: StorageValue) throws {
        #expect(try WireFormat().storageValue(of: node, for: property(name)) == value)
    }

    @Test(
        arguments: [
            ("flag", .text("true")), ("flag", .integer(2)), ("int8", .integer(128)), ("int8", .real(1.5)),
            ("int64", .text("9223372036854775808")), ("int64", .text("+7")), ("int64", .text("7 ")),
            ("int64", .text("")),
            ("uint32", .integer(-1)), ("uint64", .text("-1")), ("uint64", .text("18446744073709551616")),
            ("double", .text("NaN")), ("double", .text("inf")), ("double", .text("0x10")), ("double", .text("1e999")),
            ("double", .text(" 1")), ("double", .bool(true)), ("float", .real(1e300)), ("text", .integer(7)),
            ("text", .null), ("text", .array([])), ("data", .text("A")), ("data", .text("AP8*")), ("data", .integer(1)),
            ("date", .real(0)), ("date", .text("2026-11-21")), ("uuid", .text("018f")), ("url", .text("")),
            ("decimal", .text("1,5")), ("decimal", .text("NaN")), ("decimal", .text("1e400")),
            ("decimal", .text("1e-400")),
            ("decimal", .text("1234567890123456789012345678901234567890.5")), ("big", .text("1e3")),
            ("big", .text("--1")),
            ("big", .text(String(repeating: "9", count: 10_001))), ("bigUnsigned", .integer(-1)),
            ("level", .integer(0)),
            ("place", .text("{}")), ("place", .text("{")), ("place", .integer(1)), ("int64s", .object([])),
            ("int64s", .array([.null])), ("int64s", .text("1")), ("dates", .array([.real(0)])), ("dateMap", .array([])),
            ("many", .array([.integer(1)])), ("one", .text("")), ("one", .integer(1)), ("nested", .array([.text("x")])),
        ] as [(String, JSONNode)])
    func `an invalid value is refused with its name`(name: String, node: JSONNode) throws {
        let property = try property(name)
        let error = #expect(throws: UnreadableValue.self) { try WireFormat().storageValue(of: node, for: property) }
        #expect(error?.member == name)
    }

    /// The digits that a server prints are stored, in contrast to 0.1 + 0.2 in binary.
    @Test func `decimals keep their digits`() throws {
        let property = try property("decimal")
        for text in ["12345678901234567.89", "0.1", "79228162514264337593543950335", "-0.000000000000000000000000001"] {
            var number = text
            let node = try number.withUTF8 { try ExactJSON.parseWire($0) }
            let value = try WireFormat().storageValue(of: node, for: property)
            #expect(try property.node(of: value) == .text(try #require(Decimal(string: text)).description))
        }
    }

    /// The position of the point is added to the exponent, which may then overflow.
    @Test(arguments: [
        "1.5e-9223372036854775808", "0e9223372036854775807", "0.0e-9223372036854775808", "10e9223372036854775807",
        "1.5e-99999999999999999999999", "100e99999999999999999999999", "1.25e+9223372036854775807",
    ])
    func `exponents may have any size`(text: String) throws {
        let bytes = Array(text.utf8)
        _ = try? bytes.withUnsafeBufferPointer { try ExactJSON.parseWire($0) }
        for name in ["decimal", "double", "float"] {
            _ = try? WireFormat().storageValue(of: .text(text), for: property(name))
        }
        #expect(DecimalDigits(text) == DecimalDigits("0") || DecimalDigits(text) != DecimalDigits("1.5e-308"))
    }

    @Test func `different spellings of a number have the same digits`() {
        #expect(DecimalDigits("1.50e3") == DecimalDigits("1500") && DecimalDigits("1e40") != DecimalDigits("1e41"))
        #expect(DecimalDigits("0e99999999999999999999") == DecimalDigits("0.0"))
        #expect(DecimalDigits("1e-99999999999999999999") != DecimalDigits("1e99999999999999999999"))
    }

    @Test func `numbers that a double can hold are stored as numbers`() throws {
        var random = SeededGenerator(seed: 53)
        for _ in 0..<3000 {
            let value = Double(bitPattern: random.next())
            guard value.isFinite else { continue }
            var text = value.description
            let node = try text.withUTF8 { try ExactJSON.parseWire($0) }
            #expect(node == .real(value), "\(text)")
            // Adds one more digit than a double can hold.
            guard value.isNormal, let exponent = text.firstIndex(of: "e"),
                text[..<exponent].count(where: \.isNumber) == 17
            else { continue }
            var longer = text[..<exponent] + "1" + text[exponent...]
            let kept = try longer.withUTF8 { try ExactJSON.parseWire($0) }
            #expect(kept == .text(String(longer)), "\(longer)")
        }
    }
}
