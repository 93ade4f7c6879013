import BigInt
import Tandem

// The expansion of `@Model` for
//
//     @Model(indexes: [.unique("shop", "barcode")]) struct HandCard {
//         @Folded var shop: String
//         @Indexed var barcode: String
//         var points: BigInt = 0
//         @LocalOnly var isPinned = false
//         @Transient var isSelected = false
//         @OnDelete(.cascade) var owner: Reference<HandPerson>?
//     }
//
// written by hand, so that the core can be tested without the macro, and the macro against it.
struct HandCard {
    var shop: String
    var barcode: String
    var points: BigInt = 0
    var isPinned = false
    var isSelected = false
    var owner: Reference<HandPerson>?

    // The macro writes the code from here on. The state has no default, because reading a row would create an ID only
    // to discard it.
    var __state: ObjectState

    init(
        shop: String, barcode: String, points: BigInt = 0, isPinned: Bool = false, isSelected: Bool = false,
        owner: Reference<HandPerson>? = nil
    ) {
        self.shop = shop
        self.barcode = barcode
        self.points = points
        self.isPinned = isPinned
        self.isSelected = isSelected
        self.owner = owner
        self.__state = ObjectState()
    }

    init(__row row: RowDecoder) throws {
        self.__state = try row.state
        self.shop = try row.value(0, as: String.self)
        self.barcode = try row.value(1, as: String.self)
        self.points = try row.value(2, as: BigInt.self)
        self.isPinned = try row.value(3, as: Bool.self)
        self.owner = try row.value(4, as: Reference<HandPerson>?.self)
    }

    func __append(to row: RowEncoder) {
        row.append(self.shop, as: String.self)
        row.append(self.barcode, as: String.self)
        row.append(self.points, as: BigInt.self)
        row.append(self.isPinned, as: Bool.self)
        row.append(self.owner, as: Reference<HandPerson>?.self)
    }

    static let __definition = ModelDefinition(
        HandCard.self, name: "HandCard",
        indexes: [IndexDefinition(["shop", "barcode"], unique: true)],
        properties: [
            PropertyDefinition("shop", codec: Codec.of(String.self), folding: .searched),
            PropertyDefinition("barcode", codec: Codec.of(String.self), indexed: true),
            PropertyDefinition("points", codec: Codec.of(BigInt.self), default: { 0 }),
            PropertyDefinition("isPinned", codec: Codec.of(Bool.self), localOnly: true, default: { false }),
            PropertyDefinition("owner", codec: Codec.of(Reference<HandPerson>?.self), onDelete: .cascade),
        ])

    struct Columns: ModelColumns {
        typealias Root = HandCard
        init() {}
        var shop: FoldedProperty<HandCard, String> {
            FoldedProperty(HandCard.__definition, index: 0, codec: Codec.of(String.self))
        }
        var barcode: Property<HandCard, String> {
            Property(HandCard.__definition, index: 1, codec: Codec.of(String.self))
        }
        var points: Property<HandCard, BigInt> {
            Property(HandCard.__definition, index: 2, codec: Codec.of(BigInt.self))
        }
        var isPinned: Property<HandCard, Bool> { Property(HandCard.__definition, index: 3, codec: Codec.of(Bool.self)) }
        var owner: ReferenceProperty<HandCard, HandPerson> { ReferenceProperty(HandCard.__definition, index: 4) }
    }

    enum CodingKeys: String, CodingKey {
        case shop
        case barcode
        case points
        case isPinned
        case owner
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.__state = try ObjectState(from: decoder)
        self.shop = try container.decode(String.self, forKey: .shop)
        self.barcode = try container.decode(String.self, forKey: .barcode)
        self.points = try container.decodeIfPresent(BigInt.self, forKey: .points) ?? 0
        self.isPinned = try container.decodeIfPresent(Bool.self, forKey: .isPinned) ?? false
        self.owner = try container.decodeIfPresent(Reference<HandPerson>.self, forKey: .owner)
    }

    func encode(to encoder: any Encoder) throws {
        try self.__state.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(self.shop, forKey: .shop)
        try container.encode(self.barcode, forKey: .barcode)
        try container.encode(self.points, forKey: .points)
        try container.encode(self.isPinned, forKey: .isPinned)
        try container.encodeIfPresent(self.owner, forKey: .owner)
    }

    static func == (lhs: HandCard, rhs: HandCard) -> Bool {
        lhs.__state == rhs.__state
            && __same(lhs.shop, rhs.shop) && __same(lhs.barcode, rhs.barcode) && __same(lhs.points, rhs.points)
            && __same(lhs.isPinned, rhs.isPinned) && __same(lhs.owner, rhs.owner)
    }

    func hash(into hasher: inout Hasher) {
        self.__state.hash(into: &hasher)
    }
}

// The macro's conformance.
extension HandCard: Model {}

struct HandPerson {
    var name: String
    var cards: InverseLinks<HandCard> { InverseLinks(to: self.__state.localID, through: \HandCard.Columns.owner) }

    var __state: ObjectState

    init(name: String) {
        self.name = name
        self.__state = ObjectState()
    }

    init(__row row: RowDecoder) throws {
        self.__state = try row.state
        self.name = try row.value(0, as: String.self)
    }

    func __append(to row: RowEncoder) {
        row.append(self.name, as: String.self)
    }

    static let __definition = ModelDefinition(
        HandPerson.self, name: "HandPerson",
        properties: [PropertyDefinition("name", codec: Codec.of(String.self), folding: .searched)])

    struct Columns: ModelColumns {
        typealias Root = HandPerson
        init() {}
        var name: FoldedProperty<HandPerson, String> {
            FoldedProperty(HandPerson.__definition, index: 0, codec: Codec.of(String.self))
        }
        var cards: InverseProperty<HandPerson, HandCard> { InverseProperty(through: \HandCard.Columns.owner) }
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

    static func == (lhs: HandPerson, rhs: HandPerson) -> Bool {
        lhs.__state == rhs.__state && __same(lhs.name, rhs.name)
    }

    func hash(into hasher: inout Hasher) {
        self.__state.hash(into: &hasher)
    }
}

extension HandPerson: Model {}
