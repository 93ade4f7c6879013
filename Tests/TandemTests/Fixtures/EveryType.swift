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
        flag = try row.value(0, Bool.self)
        int = try row.value(1, Int.self)
        int8 = try row.value(2, Int8.self)
        int16 = try row.value(3, Int16.self)
        int32 = try row.value(4, Int32.self)
        int64 = try row.value(5, Int64.self)
        uint = try row.value(6, UInt.self)
        uint8 = try row.value(7, UInt8.self)
        uint16 = try row.value(8, UInt16.self)
        uint32 = try row.value(9, UInt32.self)
        uint64 = try row.value(10, UInt64.self)
        double = try row.value(11, Double.self)
        float = try row.value(12, Float.self)
        text = try row.value(13, String.self)
        data = try row.value(14, Data.self)
        date = try row.value(15, Date.self)
        uuid = try row.value(16, UUID.self)
        url = try row.value(17, URL.self)
        decimal = try row.value(18, Decimal.self)
        big = try row.value(19, BigInt.self)
        bigUnsigned = try row.value(20, BigUInt.self)
        level = try row.value(21, Level.self)
        color = try row.value(22, Color.self)
        place = try row.value(23, Place.self)
        int64s = try row.value(24, [Int64].self)
        uint64s = try row.value(25, [UInt64].self)
        doubles = try row.value(26, [Double].self)
        floats = try row.value(27, [Float].self)
        texts = try row.value(28, [String].self)
        datas = try row.value(29, [Data].self)
        dates = try row.value(30, [Date].self)
        bigs = try row.value(31, [BigInt].self)
        decimals = try row.value(32, [Decimal].self)
        urls = try row.value(33, [URL].self)
        nested = try row.value(34, [[String]].self)
        textSet = try row.value(35, Set<String>.self)
        intSet = try row.value(36, Set<Int>.self)
        uuidSet = try row.value(37, Set<UUID>.self)
        textMap = try row.value(38, [String: String].self)
        doubleMap = try row.value(39, [String: Double].self)
        listMap = try row.value(40, [String: [Int64]].self)
        maybeFlag = try row.value(41, Bool?.self)
        maybeInt = try row.value(42, Int?.self)
        maybeInt8 = try row.value(43, Int8?.self)
        maybeInt64 = try row.value(44, Int64?.self)
        maybeUint = try row.value(45, UInt?.self)
        maybeUint8 = try row.value(46, UInt8?.self)
        maybeUint64 = try row.value(47, UInt64?.self)
        maybeDouble = try row.value(48, Double?.self)
        maybeFloat = try row.value(49, Float?.self)
        maybeText = try row.value(50, String?.self)
        maybeData = try row.value(51, Data?.self)
        maybeDate = try row.value(52, Date?.self)
        maybeUuid = try row.value(53, UUID?.self)
        maybeUrl = try row.value(54, URL?.self)
        maybeDecimal = try row.value(55, Decimal?.self)
        maybeBig = try row.value(56, BigInt?.self)
        maybeBigUnsigned = try row.value(57, BigUInt?.self)
        maybeLevel = try row.value(58, Level?.self)
        maybeColor = try row.value(59, Color?.self)
        maybePlace = try row.value(60, Place?.self)
        maybeInt64s = try row.value(61, [Int64]?.self)
        maybeUint64s = try row.value(62, [UInt64]?.self)
        maybeDoubles = try row.value(63, [Double]?.self)
        maybeTexts = try row.value(64, [String]?.self)
        maybeDatas = try row.value(65, [Data]?.self)
        maybeDates = try row.value(66, [Date]?.self)
        maybeBigs = try row.value(67, [BigInt]?.self)
        maybeTextSet = try row.value(68, Set<String>?.self)
        maybeIntSet = try row.value(69, Set<Int>?.self)
        maybeTextMap = try row.value(70, [String: String]?.self)
        maybeDoubleMap = try row.value(71, [String: Double]?.self)
        one = try row.value(72, Reference<EveryType>?.self)
        many = try row.value(73, [Reference<EveryType>].self)
    }

    func __append(to row: RowEncoder) {
        row.append(flag, Bool.self)
        row.append(int, Int.self)
        row.append(int8, Int8.self)
        row.append(int16, Int16.self)
        row.append(int32, Int32.self)
        row.append(int64, Int64.self)
        row.append(uint, UInt.self)
        row.append(uint8, UInt8.self)
        row.append(uint16, UInt16.self)
        row.append(uint32, UInt32.self)
        row.append(uint64, UInt64.self)
        row.append(double, Double.self)
        row.append(float, Float.self)
        row.append(text, String.self)
        row.append(data, Data.self)
        row.append(date, Date.self)
        row.append(uuid, UUID.self)
        row.append(url, URL.self)
        row.append(decimal, Decimal.self)
        row.append(big, BigInt.self)
        row.append(bigUnsigned, BigUInt.self)
        row.append(level, Level.self)
        row.append(color, Color.self)
        row.append(place, Place.self)
        row.append(int64s, [Int64].self)
        row.append(uint64s, [UInt64].self)
        row.append(doubles, [Double].self)
        row.append(floats, [Float].self)
        row.append(texts, [String].self)
        row.append(datas, [Data].self)
        row.append(dates, [Date].self)
        row.append(bigs, [BigInt].self)
        row.append(decimals, [Decimal].self)
        row.append(urls, [URL].self)
        row.append(nested, [[String]].self)
        row.append(textSet, Set<String>.self)
        row.append(intSet, Set<Int>.self)
        row.append(uuidSet, Set<UUID>.self)
        row.append(textMap, [String: String].self)
        row.append(doubleMap, [String: Double].self)
        row.append(listMap, [String: [Int64]].self)
        row.append(maybeFlag, Bool?.self)
        row.append(maybeInt, Int?.self)
        row.append(maybeInt8, Int8?.self)
        row.append(maybeInt64, Int64?.self)
        row.append(maybeUint, UInt?.self)
        row.append(maybeUint8, UInt8?.self)
        row.append(maybeUint64, UInt64?.self)
        row.append(maybeDouble, Double?.self)
        row.append(maybeFloat, Float?.self)
        row.append(maybeText, String?.self)
        row.append(maybeData, Data?.self)
        row.append(maybeDate, Date?.self)
        row.append(maybeUuid, UUID?.self)
        row.append(maybeUrl, URL?.self)
        row.append(maybeDecimal, Decimal?.self)
        row.append(maybeBig, BigInt?.self)
        row.append(maybeBigUnsigned, BigUInt?.self)
        row.append(maybeLevel, Level?.self)
        row.append(maybeColor, Color?.self)
        row.append(maybePlace, Place?.self)
        row.append(maybeInt64s, [Int64]?.self)
        row.append(maybeUint64s, [UInt64]?.self)
        row.append(maybeDoubles, [Double]?.self)
        row.append(maybeTexts, [String]?.self)
        row.append(maybeDatas, [Data]?.self)
        row.append(maybeDates, [Date]?.self)
        row.append(maybeBigs, [BigInt]?.self)
        row.append(maybeTextSet, Set<String>?.self)
        row.append(maybeIntSet, Set<Int>?.self)
        row.append(maybeTextMap, [String: String]?.self)
        row.append(maybeDoubleMap, [String: Double]?.self)
        row.append(one, Reference<EveryType>?.self)
        row.append(many, [Reference<EveryType>].self)
    }

    static let __definition = ModelDefinition(
        EveryType.self, name: "EveryType",
        properties: [
            PropertyDefinition("flag", Codec.of(Bool.self), default: { false }),
            PropertyDefinition("int", Codec.of(Int.self), default: { 0 }),
            PropertyDefinition("int8", Codec.of(Int8.self), default: { 0 }),
            PropertyDefinition("int16", Codec.of(Int16.self), default: { 0 }),
            PropertyDefinition("int32", Codec.of(Int32.self), default: { 0 }),
            PropertyDefinition("int64", Codec.of(Int64.self), default: { 0 }),
            PropertyDefinition("uint", Codec.of(UInt.self), default: { 0 }),
            PropertyDefinition("uint8", Codec.of(UInt8.self), default: { 0 }),
            PropertyDefinition("uint16", Codec.of(UInt16.self), default: { 0 }),
            PropertyDefinition("uint32", Codec.of(UInt32.self), default: { 0 }),
            PropertyDefinition("uint64", Codec.of(UInt64.self), default: { 0 }),
            PropertyDefinition("double", Codec.of(Double.self), default: { 0 }),
            PropertyDefinition("float", Codec.of(Float.self), default: { 0 }),
            PropertyDefinition("text", Codec.of(String.self), default: { "" }),
            PropertyDefinition("data", Codec.of(Data.self), default: { Data() }),
            PropertyDefinition("date", Codec.of(Date.self), default: { Date(timeIntervalSinceReferenceDate: 0) }),
            PropertyDefinition(
                "uuid", Codec.of(UUID.self), default: { UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)) }),
            PropertyDefinition("url", Codec.of(URL.self), default: { URL(string: "a:b")! }),
            PropertyDefinition("decimal", Codec.of(Decimal.self), default: { Decimal() }),
            PropertyDefinition("big", Codec.of(BigInt.self), default: { 0 }),
            PropertyDefinition("bigUnsigned", Codec.of(BigUInt.self), default: { 0 }),
            PropertyDefinition("level", Codec.of(Level.self), default: { .low }),
            PropertyDefinition("color", Codec.of(Color.self), default: { .red }),
            PropertyDefinition("place", Codec.of(Place.self), default: { Place(name: "", latitude: 0) }),
            PropertyDefinition("int64s", Codec.of([Int64].self), default: { [] }),
            PropertyDefinition("uint64s", Codec.of([UInt64].self), default: { [] }),
            PropertyDefinition("doubles", Codec.of([Double].self), default: { [] }),
            PropertyDefinition("floats", Codec.of([Float].self), default: { [] }),
            PropertyDefinition("texts", Codec.of([String].self), default: { [] }),
            PropertyDefinition("datas", Codec.of([Data].self), default: { [] }),
            PropertyDefinition("dates", Codec.of([Date].self), default: { [] }),
            PropertyDefinition("bigs", Codec.of([BigInt].self), default: { [] }),
            PropertyDefinition("decimals", Codec.of([Decimal].self), default: { [] }),
            PropertyDefinition("urls", Codec.of([URL].self), default: { [] }),
            PropertyDefinition("nested", Codec.of([[String]].self), default: { [] }),
            PropertyDefinition("textSet", Codec.of(Set<String>.self), default: { [] }),
            PropertyDefinition("intSet", Codec.of(Set<Int>.self), default: { [] }),
            PropertyDefinition("uuidSet", Codec.of(Set<UUID>.self), default: { [] }),
            PropertyDefinition("textMap", Codec.of([String: String].self), default: { [:] }),
            PropertyDefinition("doubleMap", Codec.of([String: Double].self), default: { [:] }),
            PropertyDefinition("listMap", Codec.of([String: [Int64]].self), default: { [:] }),
            PropertyDefinition("maybeFlag", Codec.of(Bool?.self)),
            PropertyDefinition("maybeInt", Codec.of(Int?.self)),
            PropertyDefinition("maybeInt8", Codec.of(Int8?.self)),
            PropertyDefinition("maybeInt64", Codec.of(Int64?.self)),
            PropertyDefinition("maybeUint", Codec.of(UInt?.self)),
            PropertyDefinition("maybeUint8", Codec.of(UInt8?.self)),
            PropertyDefinition("maybeUint64", Codec.of(UInt64?.self)),
            PropertyDefinition("maybeDouble", Codec.of(Double?.self)),
            PropertyDefinition("maybeFloat", Codec.of(Float?.self)),
            PropertyDefinition("maybeText", Codec.of(String?.self)),
            PropertyDefinition("maybeData", Codec.of(Data?.self)),
            PropertyDefinition("maybeDate", Codec.of(Date?.self)),
            PropertyDefinition("maybeUuid", Codec.of(UUID?.self)),
            PropertyDefinition("maybeUrl", Codec.of(URL?.self)),
            PropertyDefinition("maybeDecimal", Codec.of(Decimal?.self)),
            PropertyDefinition("maybeBig", Codec.of(BigInt?.self)),
            PropertyDefinition("maybeBigUnsigned", Codec.of(BigUInt?.self)),
            PropertyDefinition("maybeLevel", Codec.of(Level?.self)),
            PropertyDefinition("maybeColor", Codec.of(Color?.self)),
            PropertyDefinition("maybePlace", Codec.of(Place?.self)),
            PropertyDefinition("maybeInt64s", Codec.of([Int64]?.self)),
            PropertyDefinition("maybeUint64s", Codec.of([UInt64]?.self)),
            PropertyDefinition("maybeDoubles", Codec.of([Double]?.self)),
            PropertyDefinition("maybeTexts", Codec.of([String]?.self)),
            PropertyDefinition("maybeDatas", Codec.of([Data]?.self)),
            PropertyDefinition("maybeDates", Codec.of([Date]?.self)),
            PropertyDefinition("maybeBigs", Codec.of([BigInt]?.self)),
            PropertyDefinition("maybeTextSet", Codec.of(Set<String>?.self)),
            PropertyDefinition("maybeIntSet", Codec.of(Set<Int>?.self)),
            PropertyDefinition("maybeTextMap", Codec.of([String: String]?.self)),
            PropertyDefinition("maybeDoubleMap", Codec.of([String: Double]?.self)),
            PropertyDefinition("one", Codec.of(Reference<EveryType>?.self)),
            PropertyDefinition("many", Codec.of([Reference<EveryType>].self), default: { [] }),
        ])

    struct Columns: ModelColumns {
        typealias Root = EveryType
        init() {}
        var text: Property<EveryType, String> { Property(EveryType.__definition, 13, Codec.of(String.self)) }
        var one: ReferenceProperty<EveryType, EveryType> { ReferenceProperty(EveryType.__definition, 72) }
    }
}

extension EveryType: Model {}
