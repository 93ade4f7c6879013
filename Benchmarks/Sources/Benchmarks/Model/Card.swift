import BigInt
import Foundation
import Tandem

// What `@Model` makes of
//
//     @Model struct Card {
//         @Folded var shop: String
//         var name: String
//         @Indexed var barcode: String
//         var points: BigInt = 0
//         var isPinned = false
//         var createdOn: Date
//         var payload: Data
//         var note: String?
//         var owner: Reference<Person>?
//     }
//
// written by hand until the macro is there.

/// A discount card: the object of all benchmarks.
struct Card {
    var shop: String
    var name: String
    var barcode: String
    var points: BigInt
    var isPinned: Bool
    var createdOn: Date
    var payload: Data
    var note: String?
    var owner: Reference<Person>?

    // No default: an initialiser that reads a row would make an ID for it first, only to drop it.
    var __state: ObjectState

    init(
        shop: String, name: String, barcode: String, points: BigInt = 0, isPinned: Bool = false, createdOn: Date,
        payload: Data, note: String? = nil, owner: Reference<Person>? = nil
    ) {
        self.shop = shop
        self.name = name
        self.barcode = barcode
        self.points = points
        self.isPinned = isPinned
        self.createdOn = createdOn
        self.payload = payload
        self.note = note
        self.owner = owner
        self.__state = ObjectState()
    }

    init(__row row: RowReader) throws {
        self.__state = try row.state
        self.shop = try row.value(0, String.self)
        self.name = try row.value(1, String.self)
        self.barcode = try row.value(2, String.self)
        self.points = try row.value(3, BigInt.self)
        self.isPinned = try row.value(4, Bool.self)
        self.createdOn = try row.value(5, Date.self)
        self.payload = try row.value(6, Data.self)
        self.note = try row.value(7, String?.self)
        self.owner = try row.value(8, Reference<Person>?.self)
    }

    func __append(to row: RowBuffer) {
        row.append(self.shop, String.self)
        row.append(self.name, String.self)
        row.append(self.barcode, String.self)
        row.append(self.points, BigInt.self)
        row.append(self.isPinned, Bool.self)
        row.append(self.createdOn, Date.self)
        row.append(self.payload, Data.self)
        row.append(self.note, String?.self)
        row.append(self.owner, Reference<Person>?.self)
    }

    static let __definition = ModelDefinition(
        Card.self, name: "Card",
        properties: [
            PropertyDefinition("shop", Codec.of(String.self), folding: .searched),
            PropertyDefinition("name", Codec.of(String.self)),
            PropertyDefinition("barcode", Codec.of(String.self), indexed: true),
            PropertyDefinition("points", Codec.of(BigInt.self), default: { 0 }),
            PropertyDefinition("isPinned", Codec.of(Bool.self), default: { false }),
            PropertyDefinition("createdOn", Codec.of(Date.self)),
            PropertyDefinition("payload", Codec.of(Data.self)),
            PropertyDefinition("note", Codec.of(String?.self)),
            PropertyDefinition("owner", Codec.of(Reference<Person>?.self)),
        ])

    struct Columns: ModelColumns {
        typealias Root = Card
        init() {}
        var shop: FoldedProperty<Card, String> { FoldedProperty(Card.__definition, 0, Codec.of(String.self)) }
        var name: Property<Card, String> { Property(Card.__definition, 1, Codec.of(String.self)) }
        var barcode: Property<Card, String> { Property(Card.__definition, 2, Codec.of(String.self)) }
        var points: Property<Card, BigInt> { Property(Card.__definition, 3, Codec.of(BigInt.self)) }
        var isPinned: Property<Card, Bool> { Property(Card.__definition, 4, Codec.of(Bool.self)) }
        var createdOn: Property<Card, Date> { Property(Card.__definition, 5, Codec.of(Date.self)) }
        var payload: Property<Card, Data> { Property(Card.__definition, 6, Codec.of(Data.self)) }
        var note: Property<Card, String?> { Property(Card.__definition, 7, Codec.of(String?.self)) }
        var owner: ReferenceProperty<Card, Person> { ReferenceProperty(Card.__definition, 8) }
    }

    enum CodingKeys: String, CodingKey {
        case shop, name, barcode, points, isPinned, createdOn, payload, note, owner
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.__state = try ObjectState(from: decoder)
        self.shop = try container.decode(String.self, forKey: .shop)
        self.name = try container.decode(String.self, forKey: .name)
        self.barcode = try container.decode(String.self, forKey: .barcode)
        self.points = try container.decodeIfPresent(BigInt.self, forKey: .points) ?? 0
        self.isPinned = try container.decodeIfPresent(Bool.self, forKey: .isPinned) ?? false
        self.createdOn = try container.decode(Date.self, forKey: .createdOn)
        self.payload = try container.decode(Data.self, forKey: .payload)
        self.note = try container.decodeIfPresent(String.self, forKey: .note)
        self.owner = try container.decodeIfPresent(Reference<Person>.self, forKey: .owner)
    }

    func encode(to encoder: any Encoder) throws {
        try self.__state.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(self.shop, forKey: .shop)
        try container.encode(self.name, forKey: .name)
        try container.encode(self.barcode, forKey: .barcode)
        try container.encode(self.points, forKey: .points)
        try container.encode(self.isPinned, forKey: .isPinned)
        try container.encode(self.createdOn, forKey: .createdOn)
        try container.encode(self.payload, forKey: .payload)
        try container.encodeIfPresent(self.note, forKey: .note)
        try container.encodeIfPresent(self.owner, forKey: .owner)
    }

    static func == (lhs: Card, rhs: Card) -> Bool {
        lhs.__state == rhs.__state
            && __same(lhs.shop, rhs.shop) && __same(lhs.name, rhs.name) && __same(lhs.barcode, rhs.barcode)
            && __same(lhs.points, rhs.points) && __same(lhs.isPinned, rhs.isPinned)
            && __same(lhs.createdOn, rhs.createdOn) && __same(lhs.payload, rhs.payload)
            && __same(lhs.note, rhs.note) && __same(lhs.owner, rhs.owner)
    }

    func hash(into hasher: inout Hasher) {
        self.__state.hash(into: &hasher)
    }
}

extension Card: Model {}

struct Person {
    var name: String

    var __state: ObjectState

    init(name: String) {
        self.name = name
        self.__state = ObjectState()
    }

    init(__row row: RowReader) throws {
        self.__state = try row.state
        self.name = try row.value(0, String.self)
    }

    func __append(to row: RowBuffer) {
        row.append(self.name, String.self)
    }

    static let __definition = ModelDefinition(
        Person.self, name: "Person", properties: [PropertyDefinition("name", Codec.of(String.self), folding: .searched)])

    struct Columns: ModelColumns {
        typealias Root = Person
        init() {}
        var name: FoldedProperty<Person, String> { FoldedProperty(Person.__definition, 0, Codec.of(String.self)) }
    }

    enum CodingKeys: String, CodingKey {
        case name
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.__state = try ObjectState(from: decoder)
        self.name = try container.decode(String.self, forKey: .name)
    }

    func encode(to encoder: any Encoder) throws {
        try self.__state.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(self.name, forKey: .name)
    }

    static func == (lhs: Person, rhs: Person) -> Bool {
        lhs.__state == rhs.__state && __same(lhs.name, rhs.name)
    }

    func hash(into hasher: inout Hasher) {
        self.__state.hash(into: &hasher)
    }
}

extension Person: Model {}
