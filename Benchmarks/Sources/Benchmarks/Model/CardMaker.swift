import BigInt
import Foundation
import Tandem

/// Generates the same people and cards in each run, with new local IDs.
struct CardMaker {
    private var random = SplitMix64(seed: 20)

    private static let shops = [
        "Пятёрочка", "Магнит", "Лента", "Перекрёсток", "ВкусВилл", "Дикси", "Ашан", "Спортмастер", "L'Oréal", "IKEA",
        "Starbucks", "Carrefour", "Tesco", "Straßenkauf", "Öko-Markt", "Żabka", "Café de Flore", "Γαλαξίας",
        "Σκλαβενίτης", "無印良品", "ユニクロ", "セブンイレブン", "이마트", "海底捞", "ПЯТЬ ОЗЁР", "Boots", "M&S", "dm", "Migros", "Coop",
    ]
    private static let places = [
        "Москва", "Казань", "Paris", "Lyon", "Αθήνα", "東京", "大阪", "서울", "Berlin", "Zürich", "Łódź", "London", "Київ",
        "Санкт-Петербург", "Нижний Новгород", "New York",
    ]
    private static let names = [
        "Ада Лавлейс", "Grace Hopper", "Софья Ковалевская", "Alan Turing", "Edsger Dijkstra", "Андрей Ершов",
        "Barbara Liskov", "山田花子", "Νίκος Παπαδόπουλος", "José Álvarez",
    ]

    /// Returns a shop's name.
    static func shop(_ random: inout SplitMix64) -> String {
        let (shop, place) = (Int(random.next() % UInt64(shops.count)), Int(random.next() % UInt64(places.count)))
        return "\(shops[shop]) \(places[place]) \(random.next() % 1000)"
    }

    mutating func people(_ count: Int) -> [Person] {
        (0..<count).map { Person(name: "\(pick(Self.names)) \($0)") }
    }

    mutating func cards(_ count: Int, owners: [Person]) -> [Card] {
        (0..<count).map { _ in
            let digits = String(random.next() % 10_000_000_000)
            return Card(
                shop: Self.shop(&random),
                name: pick(Self.names),
                barcode: "460" + String(repeating: "0", count: 10 - digits.count) + digits,
                points: BigInt(Int64(random.next() % 2_000_000) - 1000),
                isPinned: random.next() % 8 == 0,
                createdOn: Date(timeIntervalSinceReferenceDate: Double(random.next() % 800_000_000_000) / 1000),
                payload: Data((0..<25).flatMap { _ in withUnsafeBytes(of: random.next(), Array.init) }),
                note: random.next() % 4 == 0 ? "Скидка по вторникам, не на всё" : nil,
                owner: pick(owners).reference)
        }
    }

    private mutating func pick<T>(_ choices: [T]) -> T {
        choices[Int(random.next() % UInt64(choices.count))]
    }
}

/// A reproducible random number generator (Steele, Lea and Flood's SplitMix).
struct SplitMix64: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}
