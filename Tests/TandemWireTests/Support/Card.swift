import BigInt
import Foundation
import Tandem

@Model struct Person {
    @Folded var name: String
}

@Model struct Card {
    @Folded var shop: String
    var barcode: String
    var nickname: String?
    var points: Int
    var weight: Double?
    var price: Decimal
    var isPinned: Bool
    var isOld: Bool?
    var expires: Date?
    var seen: Date
    var key: UUID
    var labels: [String]
    var owner: Reference<Person>?
    @LocalOnly var note: String = ""
    @Named(wire: "colour_1") var colour: String?
    @Named(wire: "a-b") var odd: String?
}

enum Level: Int, Codable, CaseIterable {
    case low = -1
    case high = 9_000_000_000
}

struct Place: Codable, Hashable {
    var name: String
    var latitude: Double
    var tags: [String: Int]?
}

@Model struct Every {
    var flag: Bool
    var int8: Int8
    var int64: Int64
    var uint32: UInt32
    var uint64: UInt64
    var double: Double
    var float: Float
    var text: String
    var data: Data
    var date: Date
    var uuid: UUID
    var url: URL
    var decimal: Decimal
    var big: BigInt
    var bigUnsigned: BigUInt
    var level: Level
    var place: Place
    var int64s: [Int64]
    var uint64s: [UInt64]
    var doubles: [Double]
    var floats: [Float]
    var datas: [Data]
    var dates: [Date]
    var bigs: [BigInt]
    var decimals: [Decimal]
    var nested: [[String]]
    var textSet: Set<String>
    var uuidSet: Set<UUID>
    var dateMap: [String: Date]
    var listMap: [String: [Int64]]
    var maybe: String?
    var maybeDate: Date?
    var maybeDoubles: [Double]?
    var one: Reference<Person>?
    var many: [Reference<Person>]
}
