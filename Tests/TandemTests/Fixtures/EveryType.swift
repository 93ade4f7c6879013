import BigInt
import Foundation
import Tandem

/// An enum with integer raw values.
enum Level: Int, Codable, CaseIterable {
    case low = -1
    case middle = 0
    case high = 9_000_000_000
}

/// An enum with text raw values.
enum Color: String, Codable, CaseIterable {
    case red, green
    case odd = "o\u{0}d\u{301}d"
}

/// A value that is stored as JSON.
struct Place: Codable, Hashable {
    var name: String
    var latitude: Double
    var tags: [String: Int]?
}

/// A model with a property of every type, as `@Model` would expand it.
struct EveryType: Hashable, Codable {
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
    var url: URL = URL(string: "a:b")!
    var decimal: Decimal = Decimal()
    var big: BigInt = 0
    var bigUnsigned: BigUInt = 0
    var level: Level = .low
    var color: Color = .red
    var place: Place = Place(name: "", latitude: 0)
    var int64s: [Int64] = []
    var uint64s: [UInt64] = []
    var doubles: [Double] = []
    var floats: [Float] = []
    var texts: [String] = []
    var datas: [Data] = []
    var dates: [Date] = []
    var bigs: [BigInt] = []
    var decimals: [Decimal] = []
    var urls: [URL] = []
    var nested: [[String]] = []
    var textSet: Set<String> = []
    var intSet: Set<Int> = []
    var uuidSet: Set<UUID> = []
    var textMap: [String: String] = [:]
    var doubleMap: [String: Double] = [:]
    var listMap: [String: [Int64]] = [:]
    var maybeFlag: Bool? = nil
    var maybeInt: Int? = nil
    var maybeInt8: Int8? = nil
    var maybeInt64: Int64? = nil
    var maybeUint: UInt? = nil
    var maybeUint8: UInt8? = nil
    var maybeUint64: UInt64? = nil
    var maybeDouble: Double? = nil
    var maybeFloat: Float? = nil
    var maybeText: String? = nil
    var maybeData: Data? = nil
    var maybeDate: Date? = nil
    var maybeUuid: UUID? = nil
    var maybeUrl: URL? = nil
    var maybeDecimal: Decimal? = nil
    var maybeBig: BigInt? = nil
    var maybeBigUnsigned: BigUInt? = nil
    var maybeLevel: Level? = nil
    var maybeColor: Color? = nil
    var maybePlace: Place? = nil
    var maybeInt64s: [Int64]? = nil
    var maybeUint64s: [UInt64]? = nil
    var maybeDoubles: [Double]? = nil
    var maybeTexts: [String]? = nil
    var maybeDatas: [Data]? = nil
    var maybeDates: [Date]? = nil
    var maybeBigs: [BigInt]? = nil
    var maybeTextSet: Set<String>? = nil
    var maybeIntSet: Set<Int>? = nil
    var maybeTextMap: [String: String]? = nil
    var maybeDoubleMap: [String: Double]? = nil
    var one: Reference<EveryType>? = nil
    var many: [Reference<EveryType>] = []
    var __state = ObjectState()

    init() {}

    init(__row row: RowDecoder) throws {
        __state = try row.state
        flag = try row.value(0, as: Bool.self)
        int = try row.value(1, as: Int.self)
        int8 = try row.value(2, as: Int8.self)
        int16 = try row.value(3, as: Int16.self)
        int32 = try row.value(4, as: Int32.self)
        int64 = try row.value(5, as: Int64.self)
        uint = try row.value(6, as: UInt.self)
        uint8 = try row.value(7, as: UInt8.self)
        uint16 = try row.value(8, as: UInt16.self)
        uint32 = try row.value(9, as: UInt32.self)
        uint64 = try row.value(10, as: UInt64.self)
        double = try row.value(11, as: Double.self)
        float = try row.value(12, as: Float.self)
        text = try row.value(13, as: String.self)
        data = try row.value(14, as: Data.self)
        date = try row.value(15, as: Date.self)
        uuid = try row.value(16, as: UUID.self)
        url = try row.value(17, as: URL.self)
        decimal = try row.value(18, as: Decimal.self)
        big = try row.value(19, as: BigInt.self)
        bigUnsigned = try row.value(20, as: BigUInt.self)
        level = try row.value(21, as: Level.self)
        color = try row.value(22, as: Color.self)
        place = try row.value(23, as: Place.self)
        int64s = try row.value(24, as: [Int64].self)
        uint64s = try row.value(25, as: [UInt64].self)
        doubles = try row.value(26, as: [Double].self)
        floats = try row.value(27, as: [Float].self)
        texts = try row.value(28, as: [String].self)
        datas = try row.value(29, as: [Data].self)
        dates = try row.value(30, as: [Date].self)
        bigs = try row.value(31, as: [BigInt].self)
        decimals = try row.value(32, as: [Decimal].self)
        urls = try row.value(33, as: [URL].self)
        nested = try row.value(34, as: [[String]].self)
        textSet = try row.value(35, as: Set<String>.self)
        intSet = try row.value(36, as: Set<Int>.self)
        uuidSet = try row.value(37, as: Set<UUID>.self)
        textMap = try row.value(38, as: [String: String].self)
        doubleMap = try row.value(39, as: [String: Double].self)
        listMap = try row.value(40, as: [String: [Int64]].self)
        maybeFlag = try row.value(41, as: Bool?.self)
        maybeInt = try row.value(42, as: Int?.self)
        maybeInt8 = try row.value(43, as: Int8?.self)
        maybeInt64 = try row.value(44, as: Int64?.self)
        maybeUint = try row.value(45, as: UInt?.self)
        maybeUint8 = try row.value(46, as: UInt8?.self)
        maybeUint64 = try row.value(47, as: UInt64?.self)
        maybeDouble = try row.value(48, as: Double?.self)
        maybeFloat = try row.value(49, as: Float?.self)
        maybeText = try row.value(50, as: String?.self)
        maybeData = try row.value(51, as: Data?.self)
        maybeDate = try row.value(52, as: Date?.self)
        maybeUuid = try row.value(53, as: UUID?.self)
        maybeUrl = try row.value(54, as: URL?.self)
        maybeDecimal = try row.value(55, as: Decimal?.self)
        maybeBig = try row.value(56, as: BigInt?.self)
        maybeBigUnsigned = try row.value(57, as: BigUInt?.self)
        maybeLevel = try row.value(58, as: Level?.self)
        maybeColor = try row.value(59, as: Color?.self)
        maybePlace = try row.value(60, as: Place?.self)
        maybeInt64s = try row.value(61, as: [Int64]?.self)
        maybeUint64s = try row.value(62, as: [UInt64]?.self)
        maybeDoubles = try row.value(63, as: [Double]?.self)
        maybeTexts = try row.value(64, as: [String]?.self)
        maybeDatas = try row.value(65, as: [Data]?.self)
        maybeDates = try row.value(66, as: [Date]?.self)
        maybeBigs = try row.value(67, as: [BigInt]?.self)
        maybeTextSet = try row.value(68, as: Set<String>?.self)
        maybeIntSet = try row.value(69, as: Set<Int>?.self)
        maybeTextMap = try row.value(70, as: [String: String]?.self)
        maybeDoubleMap = try row.value(71, as: [String: Double]?.self)
        one = try row.value(72, as: Reference<EveryType>?.self)
        many = try row.value(73, as: [Reference<EveryType>].self)
    }

    func __append(to row: RowEncoder) {
        row.append(flag, as: Bool.self)
        row.append(int, as: Int.self)
        row.append(int8, as: Int8.self)
        row.append(int16, as: Int16.self)
        row.append(int32, as: Int32.self)
        row.append(int64, as: Int64.self)
        row.append(uint, as: UInt.self)
        row.append(uint8, as: UInt8.self)
        row.append(uint16, as: UInt16.self)
        row.append(uint32, as: UInt32.self)
        row.append(uint64, as: UInt64.self)
        row.append(double, as: Double.self)
        row.append(float, as: Float.self)
        row.append(text, as: String.self)
        row.append(data, as: Data.self)
        row.append(date, as: Date.self)
        row.append(uuid, as: UUID.self)
        row.append(url, as: URL.self)
        row.append(decimal, as: Decimal.self)
        row.append(big, as: BigInt.self)
        row.append(bigUnsigned, as: BigUInt.self)
        row.append(level, as: Level.self)
        row.append(color, as: Color.self)
        row.append(place, as: Place.self)
        row.append(int64s, as: [Int64].self)
        row.append(uint64s, as: [UInt64].self)
        row.append(doubles, as: [Double].self)
        row.append(floats, as: [Float].self)
        row.append(texts, as: [String].self)
        row.append(datas, as: [Data].self)
        row.append(dates, as: [Date].self)
        row.append(bigs, as: [BigInt].self)
        row.append(decimals, as: [Decimal].self)
        row.append(urls, as: [URL].self)
        row.append(nested, as: [[String]].self)
        row.append(textSet, as: Set<String>.self)
        row.append(intSet, as: Set<Int>.self)
        row.append(uuidSet, as: Set<UUID>.self)
        row.append(textMap, as: [String: String].self)
        row.append(doubleMap, as: [String: Double].self)
        row.append(listMap, as: [String: [Int64]].self)
        row.append(maybeFlag, as: Bool?.self)
        row.append(maybeInt, as: Int?.self)
        row.append(maybeInt8, as: Int8?.self)
        row.append(maybeInt64, as: Int64?.self)
        row.append(maybeUint, as: UInt?.self)
        row.append(maybeUint8, as: UInt8?.self)
        row.append(maybeUint64, as: UInt64?.self)
        row.append(maybeDouble, as: Double?.self)
        row.append(maybeFloat, as: Float?.self)
        row.append(maybeText, as: String?.self)
        row.append(maybeData, as: Data?.self)
        row.append(maybeDate, as: Date?.self)
        row.append(maybeUuid, as: UUID?.self)
        row.append(maybeUrl, as: URL?.self)
        row.append(maybeDecimal, as: Decimal?.self)
        row.append(maybeBig, as: BigInt?.self)
        row.append(maybeBigUnsigned, as: BigUInt?.self)
        row.append(maybeLevel, as: Level?.self)
        row.append(maybeColor, as: Color?.self)
        row.append(maybePlace, as: Place?.self)
        row.append(maybeInt64s, as: [Int64]?.self)
        row.append(maybeUint64s, as: [UInt64]?.self)
        row.append(maybeDoubles, as: [Double]?.self)
        row.append(maybeTexts, as: [String]?.self)
        row.append(maybeDatas, as: [Data]?.self)
        row.append(maybeDates, as: [Date]?.self)
        row.append(maybeBigs, as: [BigInt]?.self)
        row.append(maybeTextSet, as: Set<String>?.self)
        row.append(maybeIntSet, as: Set<Int>?.self)
        row.append(maybeTextMap, as: [String: String]?.self)
        row.append(maybeDoubleMap, as: [String: Double]?.self)
        row.append(one, as: Reference<EveryType>?.self)
        row.append(many, as: [Reference<EveryType>].self)
    }

    static let __definition = ModelDefinition(
        EveryType.self, name: "EveryType",
        properties: [
            PropertyDefinition("flag", codec: Codec.of(Bool.self), default: { false }),
            PropertyDefinition("int", codec: Codec.of(Int.self), default: { 0 }),
            PropertyDefinition("int8", codec: Codec.of(Int8.self), default: { 0 }),
            PropertyDefinition("int16", codec: Codec.of(Int16.self), default: { 0 }),
            PropertyDefinition("int32", codec: Codec.of(Int32.self), default: { 0 }),
            PropertyDefinition("int64", codec: Codec.of(Int64.self), default: { 0 }),
            PropertyDefinition("uint", codec: Codec.of(UInt.self), default: { 0 }),
            PropertyDefinition("uint8", codec: Codec.of(UInt8.self), default: { 0 }),
            PropertyDefinition("uint16", codec: Codec.of(UInt16.self), default: { 0 }),
            PropertyDefinition("uint32", codec: Codec.of(UInt32.self), default: { 0 }),
            PropertyDefinition("uint64", codec: Codec.of(UInt64.self), default: { 0 }),
            PropertyDefinition("double", codec: Codec.of(Double.self), default: { 0 }),
            PropertyDefinition("float", codec: Codec.of(Float.self), default: { 0 }),
            PropertyDefinition("text", codec: Codec.of(String.self), default: { "" }),
            PropertyDefinition("data", codec: Codec.of(Data.self), default: { Data() }),
            PropertyDefinition(
                "date", codec: Codec.of(Date.self), default: { Date(timeIntervalSinceReferenceDate: 0) }),
            PropertyDefinition(
                "uuid", codec: Codec.of(UUID.self),
                default: { UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)) }),
            PropertyDefinition("url", codec: Codec.of(URL.self), default: { URL(string: "a:b")! }),
            PropertyDefinition("decimal", codec: Codec.of(Decimal.self), default: { Decimal() }),
            PropertyDefinition("big", codec: Codec.of(BigInt.self), default: { 0 }),
            PropertyDefinition("bigUnsigned", codec: Codec.of(BigUInt.self), default: { 0 }),
            PropertyDefinition("level", codec: Codec.of(Level.self), default: { .low }),
            PropertyDefinition("color", codec: Codec.of(Color.self), default: { .red }),
            PropertyDefinition("place", codec: Codec.of(Place.self), default: { Place(name: "", latitude: 0) }),
            PropertyDefinition("int64s", codec: Codec.of([Int64].self), default: { [] }),
            PropertyDefinition("uint64s", codec: Codec.of([UInt64].self), default: { [] }),
            PropertyDefinition("doubles", codec: Codec.of([Double].self), default: { [] }),
            PropertyDefinition("floats", codec: Codec.of([Float].self), default: { [] }),
            PropertyDefinition("texts", codec: Codec.of([String].self), default: { [] }),
            PropertyDefinition("datas", codec: Codec.of([Data].self), default: { [] }),
            PropertyDefinition("dates", codec: Codec.of([Date].self), default: { [] }),
            PropertyDefinition("bigs", codec: Codec.of([BigInt].self), default: { [] }),
            PropertyDefinition("decimals", codec: Codec.of([Decimal].self), default: { [] }),
            PropertyDefinition("urls", codec: Codec.of([URL].self), default: { [] }),
            PropertyDefinition("nested", codec: Codec.of([[String]].self), default: { [] }),
            PropertyDefinition("textSet", codec: Codec.of(Set<String>.self), default: { [] }),
            PropertyDefinition("intSet", codec: Codec.of(Set<Int>.self), default: { [] }),
            PropertyDefinition("uuidSet", codec: Codec.of(Set<UUID>.self), default: { [] }),
            PropertyDefinition("textMap", codec: Codec.of([String: String].self), default: { [:] }),
            PropertyDefinition("doubleMap", codec: Codec.of([String: Double].self), default: { [:] }),
            PropertyDefinition("listMap", codec: Codec.of([String: [Int64]].self), default: { [:] }),
            PropertyDefinition("maybeFlag", codec: Codec.of(Bool?.self)),
            PropertyDefinition("maybeInt", codec: Codec.of(Int?.self)),
            PropertyDefinition("maybeInt8", codec: Codec.of(Int8?.self)),
            PropertyDefinition("maybeInt64", codec: Codec.of(Int64?.self)),
            PropertyDefinition("maybeUint", codec: Codec.of(UInt?.self)),
            PropertyDefinition("maybeUint8", codec: Codec.of(UInt8?.self)),
            PropertyDefinition("maybeUint64", codec: Codec.of(UInt64?.self)),
            PropertyDefinition("maybeDouble", codec: Codec.of(Double?.self)),
            PropertyDefinition("maybeFloat", codec: Codec.of(Float?.self)),
            PropertyDefinition("maybeText", codec: Codec.of(String?.self)),
            PropertyDefinition("maybeData", codec: Codec.of(Data?.self)),
            PropertyDefinition("maybeDate", codec: Codec.of(Date?.self)),
            PropertyDefinition("maybeUuid", codec: Codec.of(UUID?.self)),
            PropertyDefinition("maybeUrl", codec: Codec.of(URL?.self)),
            PropertyDefinition("maybeDecimal", codec: Codec.of(Decimal?.self)),
            PropertyDefinition("maybeBig", codec: Codec.of(BigInt?.self)),
            PropertyDefinition("maybeBigUnsigned", codec: Codec.of(BigUInt?.self)),
            PropertyDefinition("maybeLevel", codec: Codec.of(Level?.self)),
            PropertyDefinition("maybeColor", codec: Codec.of(Color?.self)),
            PropertyDefinition("maybePlace", codec: Codec.of(Place?.self)),
            PropertyDefinition("maybeInt64s", codec: Codec.of([Int64]?.self)),
            PropertyDefinition("maybeUint64s", codec: Codec.of([UInt64]?.self)),
            PropertyDefinition("maybeDoubles", codec: Codec.of([Double]?.self)),
            PropertyDefinition("maybeTexts", codec: Codec.of([String]?.self)),
            PropertyDefinition("maybeDatas", codec: Codec.of([Data]?.self)),
            PropertyDefinition("maybeDates", codec: Codec.of([Date]?.self)),
            PropertyDefinition("maybeBigs", codec: Codec.of([BigInt]?.self)),
            PropertyDefinition("maybeTextSet", codec: Codec.of(Set<String>?.self)),
            PropertyDefinition("maybeIntSet", codec: Codec.of(Set<Int>?.self)),
            PropertyDefinition("maybeTextMap", codec: Codec.of([String: String]?.self)),
            PropertyDefinition("maybeDoubleMap", codec: Codec.of([String: Double]?.self)),
            PropertyDefinition("one", codec: Codec.of(Reference<EveryType>?.self)),
            PropertyDefinition("many", codec: Codec.of([Reference<EveryType>].self), default: { [] }),
        ])

    struct Columns: ModelColumns {
        typealias Root = EveryType
        init() {}
        var text: Property<EveryType, String> {
            Property(EveryType.__definition, index: 13, codec: Codec.of(String.self))
        }
        var one: ReferenceProperty<EveryType, EveryType> { ReferenceProperty(EveryType.__definition, index: 72) }
    }
}

extension EveryType: Model {}
