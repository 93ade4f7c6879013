import BigInt
import Foundation
import Tandem

/// An enum with whole numbers.
enum Rank: Int, Codable, CaseIterable {
    case low = -1
    case middle = 0
    case high = 9_000_000_000
}

/// An enum with texts.
enum Shade: String, Codable, CaseIterable {
    case red, green
    case odd = "o\u{0}d\u{301}d"
}

/// A value that is stored as JSON.
struct Spot: Codable, Hashable {
    enum Kind: Codable, Hashable {
        case plain
        case named(String, Int64)
    }
    var name: String
    var latitude: Double
    var tags: [String: Int]?
    var kind = Kind.plain
    var inner: [[Int64?]] = []
}

/// A reference's target.
@Model struct Friend {
    var name: String
}

/// A property of every type, and an optional one of each.
@Model struct AllTypes {
    var mark: Int = 0
    var flag: Bool = false
    var int: Int = 0
    var int8: Int8 = 0
    var int16: Int16 = 0
    var int32: Int32 = 0
    var int64: Int64 = 0
    var uint: UInt = 0
    var uint8: UInt8 = 0
    var uint16: UInt16 = 0
    var uint32: UInt32 = 0
    var uint64: UInt64 = 0
    var double: Double = 0
    var float: Float = 0
    var text: String = ""
    var data: Data = Data()
    var date: Date = Date(timeIntervalSinceReferenceDate: 0)
    var uuid: UUID = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
    var url: URL = URL(filePath: "/")
    var decimal: Decimal = 0
    var big: BigInt = 0
    var bigUnsigned: BigUInt = 0
    var rank: Rank = .low
    var shade: Shade = .red
    var spot: Spot = Spot(name: "", latitude: 0)
    var one: Reference<Friend>?
    var many: [Reference<Friend>] = []
    var flags: [Bool] = []
    var ints: [Int] = []
    var int64s: [Int64] = []
    var uint64s: [UInt64] = []
    var doubles: [Double] = []
    var floats: [Float] = []
    var texts: [String] = []
    var datas: [Data] = []
    var dates: [Date] = []
    var uuids: [UUID] = []
    var urls: [URL] = []
    var decimals: [Decimal] = []
    var bigs: [BigInt] = []
    var nested: [[String]] = []
    var textSet: Set<String> = []
    var intSet: Set<Int> = []
    var uuidSet: Set<UUID> = []
    var textMap: [String: String] = [:]
    var doubleMap: [String: Double] = [:]
    var dateMap: [String: Date] = [:]
    var listMap: [String: [UInt64]] = [:]
    var maybeFlag: Bool?
    var maybeInt: Int?
    var maybeInt8: Int8?
    var maybeInt16: Int16?
    var maybeInt32: Int32?
    var maybeInt64: Int64?
    var maybeUint: UInt?
    var maybeUint8: UInt8?
    var maybeUint16: UInt16?
    var maybeUint32: UInt32?
    var maybeUint64: UInt64?
    var maybeDouble: Double?
    var maybeFloat: Float?
    var maybeText: String?
    var maybeData: Data?
    var maybeDate: Date?
    var maybeUuid: UUID?
    var maybeUrl: URL?
    var maybeDecimal: Decimal?
    var maybeBig: BigInt?
    var maybeBigUnsigned: BigUInt?
    var maybeRank: Rank?
    var maybeShade: Shade?
    var maybeSpot: Spot?
    var maybeInt64s: [Int64]?
    var maybeDoubles: [Double]?
    var maybeTexts: [String]?
    var maybeTextSet: Set<String>?
    var maybeTextMap: [String: String]?
}

// MARK: - Samples

/// Texts that a faulty coder splits, or considers equal.
private let oddTexts = [
    "", "\u{0}", "a\u{0}b", "Пятёрочка", "会员卡 カード 카드", "👩‍👧‍👦🏳️‍🌈🛒", "e\u{301}", "\u{E9}", "\"'\\/\t\r\n\u{8}\u{C}\u{7F}",
    "\u{FEFF}\u{2028}\u{10FFFF}\u{FFFD}", "null", "1e5", "[]", "{\"a\":1}", " x ", "$blob",
]

/// To the millisecond, as on the wire.
private func time(_ seconds: Int64, _ milliseconds: Int64 = 0) -> Date {
    Date(timeIntervalSinceReferenceDate: Double(seconds - 978_307_200) + Double(milliseconds * 1_000_000) / 1e9)
}

private let firstDate = time(-62_135_596_800)
private let lastDate = time(253_402_300_799, 999)

extension AllTypes {
    /// The largest value of each type.
    static func largest(_ friends: [Friend]) -> AllTypes {
        var all = AllTypes()
        all.flag = true
        (all.int, all.int8, all.int16, all.int32, all.int64) = (.max, .max, .max, .max, .max)
        (all.uint, all.uint8, all.uint16, all.uint32, all.uint64) = (.max, .max, .max, .max, .max)
        (all.double, all.float) = (.greatestFiniteMagnitude, .greatestFiniteMagnitude)
        all.text = oddTexts.joined(separator: "|")
        all.data = Data(0...255)
        (all.date, all.uuid) = (lastDate, UUID(uuidString: "FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF") ?? UUID())
        all.url = URL(string: "https://x.example:8443/%D0%B6/a%2Fb;c?a=b&c=%00#d") ?? all.url
        all.decimal = .greatestFiniteMagnitude
        (all.big, all.bigUnsigned) = ((BigInt(1) << 300) + 1, (BigUInt(1) << 300) + 1)
        (all.rank, all.shade) = (.high, .odd)
        all.spot = Spot(
            name: "Омск\u{0}", latitude: 54.980_000_000_000_004, tags: ["": .max, "ключ": .min],
            kind: .named("\u{0}", .max), inner: [[nil, .min], []])
        (all.one, all.many) = (friends[0].reference, friends.map(\.reference))
        all.fillCollections(friends)
        all.fillOptionals()
        return all
    }

    /// The smallest value of each type.
    static func smallest(_ friends: [Friend]) -> AllTypes {
        var all = AllTypes()
        (all.int, all.int8, all.int16, all.int32, all.int64) = (.min, .min, .min, .min, .min)
        (all.double, all.float) = (-.leastNonzeroMagnitude, -.leastNonzeroMagnitude)
        (all.text, all.date) = ("\u{0}", firstDate)
        all.decimal = -.greatestFiniteMagnitude
        all.big = -(BigInt(1) << 300) - 1
        all.shade = .green
        all.many = [friends[1].reference]
        (all.maybeInt, all.maybeInt8, all.maybeInt16, all.maybeInt32, all.maybeInt64) = (.min, .min, .min, .min, .min)
        (all.maybeUint, all.maybeUint8, all.maybeUint16, all.maybeUint32, all.maybeUint64) = (0, 0, 0, 0, 0)
        (all.maybeDouble, all.maybeFloat) = (-.greatestFiniteMagnitude, -.greatestFiniteMagnitude)
        (all.maybeText, all.maybeData, all.maybeFlag) = ("", Data(), false)
        (all.maybeInt64s, all.maybeDoubles, all.maybeTexts) = ([], [], [])
        (all.maybeTextSet, all.maybeTextMap) = ([], [:])
        return all
    }

    /// Ordinary values.
    static func ordinary(_ friends: [Friend]) -> AllTypes {
        var all = AllTypes()
        (all.int, all.int8, all.int16, all.int32) = (1 << 53, 7, -300, 70_000)
        // The first values that are texts on the wire, on both sides.
        (all.int64, all.uint64) = ((1 << 53) + 1, (1 << 53) + 1)
        (all.uint, all.uint8, all.uint16, all.uint32) = (1 << 53, 7, 300, 70_000)
        (all.double, all.float) = (0.1 + 0.2, 0.1)
        (all.text, all.data) = ("Лента", Data("б".utf8))
        (all.date, all.uuid) = (
            time(1_795_230_874, 3), UUID(uuidString: "018F0000-0000-7000-8000-0000000000AB") ?? UUID()
        )
        all.url = URL(string: "mailto:a@x.example") ?? all.url
        all.decimal = Decimal(sign: .plus, exponent: -2, significand: 1995)
        (all.big, all.bigUnsigned) = (-5, 5)
        all.spot = Spot(name: "Омск", latitude: 54.98, tags: nil)
        all.one = friends[1].reference
        return all
    }

    private mutating func fillCollections(_ friends: [Friend]) {
        flags = [true, false]
        ints = [0, .max, .min, 1 << 53, (1 << 53) + 1]
        int64s = [-1, -(1 << 53), -(1 << 53) - 1, .min, .max]
        uint64s = [0, 1 << 63, .max]
        doubles = [-0.0, 0, 0.1, 1e22, .leastNonzeroMagnitude, -.greatestFiniteMagnitude, 9_007_199_254_740_994]
        floats = [-0.0, 0.1, .leastNonzeroMagnitude, -.greatestFiniteMagnitude, 16_777_216]
        texts = oddTexts
        datas = [Data(), Data([0]), Data([0xFB, 0xFF]), Data(repeating: 0xFF, count: 1000)]
        dates = [firstDate, lastDate, time(0), time(-1, 999), time(1_795_230_874, 3)]
        uuids = [uuid]
        urls = [url, URL(filePath: "/a b/ж")]
        decimals = [decimal, 0, .leastNonzeroMagnitude, Decimal(sign: .minus, exponent: -100, significand: 1)]
        bigs = [big, -big, 0]
        nested = [[], oddTexts]
        textSet = Set(oddTexts)
        intSet = [.max, 0, .min]
        uuidSet = [uuid, UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1))]
        for (index, text) in oddTexts.enumerated() {
            textMap[text] = oddTexts[oddTexts.count - 1 - index]
            doubleMap[text] = Double(index) / 7
            dateMap[text] = time(Int64(index), 1)
            listMap[text] = [.max, UInt64(index)]
        }
    }

    private mutating func fillOptionals() {
        (maybeFlag, maybeInt, maybeInt8, maybeInt16, maybeInt32, maybeInt64) = (true, .max, .max, .max, .max, .max)
        (maybeUint, maybeUint8, maybeUint16, maybeUint32, maybeUint64) = (.max, .max, .max, .max, .max)
        (maybeDouble, maybeFloat, maybeText, maybeData) = (double, float, text, data)
        (maybeDate, maybeUuid, maybeUrl, maybeDecimal) = (date, uuid, url, decimal)
        (maybeBig, maybeBigUnsigned, maybeRank, maybeShade, maybeSpot) = (big, bigUnsigned, rank, shade, spot)
        (maybeInt64s, maybeDoubles, maybeTexts) = (int64s, doubles, texts)
        (maybeTextSet, maybeTextMap) = (textSet, textMap)
    }
}
