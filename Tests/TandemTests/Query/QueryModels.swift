import BigInt
import Foundation
import Tandem

// Models with every kind of property that queries tell apart, as `@Model` would write them.

enum Shade: Int, Codable, Sendable, CaseIterable {
    case red = 3
    case green = 1
    case blue = 2
}

struct Thing {
    var text: String
    var nickname: String?
    var code: String
    var flag: Bool
    var small: Int8?
    var int: Int
    var unsigned: UInt64
    var ratio: Double
    var maybeRatio: Double?
    var float: Float
    var amount: BigInt
    var price: Decimal?
    var day: Date?
    var uuid: UUID
    var color: Shade
    var labels: [String]
    var owner: Reference<Owner>?
    var tags: [Reference<Tag>]
    var __state = ObjectState()

    init(
        _ text: String = "", nickname: String? = nil, code: String = "", flag: Bool = false, small: Int8? = nil,
        int: Int = 0, unsigned: UInt64 = 0, ratio: Double = 0, maybeRatio: Double? = nil, float: Float = 0,
        amount: BigInt = 0, price: Decimal? = nil, day: Date? = nil, uuid: UUID = UUID(), color: Shade = .red,
        labels: [String] = [], owner: Reference<Owner>? = nil, tags: [Reference<Tag>] = []
    ) {
        self.text = text
        self.nickname = nickname
        self.code = code
        self.flag = flag
        self.small = small
        self.int = int
        self.unsigned = unsigned
        self.ratio = ratio
        self.maybeRatio = maybeRatio
        self.float = float
        self.amount = amount
        self.price = price
        self.day = day
        self.uuid = uuid
        self.color = color
        self.labels = labels
        self.owner = owner
        self.tags = tags
    }

    init(__row row: RowDecoder) throws {
        __state = try row.state
        text = try row.value(0, as: String.self)
        nickname = try row.value(1, as: String?.self)
        code = try row.value(2, as: String.self)
        flag = try row.value(3, as: Bool.self)
        small = try row.value(4, as: Int8?.self)
        int = try row.value(5, as: Int.self)
        unsigned = try row.value(6, as: UInt64.self)
        ratio = try row.value(7, as: Double.self)
        maybeRatio = try row.value(8, as: Double?.self)
        float = try row.value(9, as: Float.self)
        amount = try row.value(10, as: BigInt.self)
        price = try row.value(11, as: Decimal?.self)
        day = try row.value(12, as: Date?.self)
        uuid = try row.value(13, as: UUID.self)
        color = try row.value(14, as: Shade.self)
        labels = try row.value(15, as: [String].self)
        owner = try row.value(16, as: Reference<Owner>?.self)
        tags = try row.value(17, as: [Reference<Tag>].self)
    }

    func __append(to row: RowEncoder) {
        row.append(text, as: String.self)
        row.append(nickname, as: String?.self)
        row.append(code, as: String.self)
        row.append(flag, as: Bool.self)
        row.append(small, as: Int8?.self)
        row.append(int, as: Int.self)
        row.append(unsigned, as: UInt64.self)
        row.append(ratio, as: Double.self)
        row.append(maybeRatio, as: Double?.self)
        row.append(float, as: Float.self)
        row.append(amount, as: BigInt.self)
        row.append(price, as: Decimal?.self)
        row.append(day, as: Date?.self)
        row.append(uuid, as: UUID.self)
        row.append(color, as: Shade.self)
        row.append(labels, as: [String].self)
        row.append(owner, as: Reference<Owner>?.self)
        row.append(tags, as: [Reference<Tag>].self)
    }

    static let __definition = ModelDefinition(
        Thing.self, name: "Thing",
        properties: [
            PropertyDefinition("text", codec: Codec.of(String.self), folding: .searched),
            PropertyDefinition("nickname", codec: Codec.of(String?.self), folding: .searched),
            PropertyDefinition("code", codec: Codec.of(String.self), indexed: true),
            PropertyDefinition("flag", codec: Codec.of(Bool.self)),
            PropertyDefinition("small", codec: Codec.of(Int8?.self)),
            PropertyDefinition("int", codec: Codec.of(Int.self)),
            PropertyDefinition("unsigned", codec: Codec.of(UInt64.self)),
            PropertyDefinition("ratio", codec: Codec.of(Double.self)),
            PropertyDefinition("maybeRatio", codec: Codec.of(Double?.self)),
            PropertyDefinition("float", codec: Codec.of(Float.self)),
            PropertyDefinition("amount", codec: Codec.of(BigInt.self)),
            PropertyDefinition("price", codec: Codec.of(Decimal?.self)),
            PropertyDefinition("day", codec: Codec.of(Date?.self)),
            PropertyDefinition("uuid", codec: Codec.of(UUID.self)),
            PropertyDefinition("color", codec: Codec.of(Shade.self)),
            PropertyDefinition("labels", codec: Codec.of([String].self)),
            PropertyDefinition("owner", codec: Codec.of(Reference<Owner>?.self)),
            PropertyDefinition("tags", codec: Codec.of([Reference<Tag>].self)),
        ])

    struct Columns: ModelColumns {
        typealias Root = Thing
        private var model: ModelDefinition { Thing.__definition }
        var text: FoldedProperty<Thing, String> { FoldedProperty(model, index: 0, codec: Codec.of(String.self)) }
        var nickname: FoldedProperty<Thing, String?> { FoldedProperty(model, index: 1, codec: Codec.of(String?.self)) }
        var code: Property<Thing, String> { Property(model, index: 2, codec: Codec.of(String.self)) }
        var flag: Property<Thing, Bool> { Property(model, index: 3, codec: Codec.of(Bool.self)) }
        var small: Property<Thing, Int8?> { Property(model, index: 4, codec: Codec.of(Int8?.self)) }
        var int: Property<Thing, Int> { Property(model, index: 5, codec: Codec.of(Int.self)) }
        var unsigned: Property<Thing, UInt64> { Property(model, index: 6, codec: Codec.of(UInt64.self)) }
        var ratio: Property<Thing, Double> { Property(model, index: 7, codec: Codec.of(Double.self)) }
        var maybeRatio: Property<Thing, Double?> { Property(model, index: 8, codec: Codec.of(Double?.self)) }
        var float: Property<Thing, Float> { Property(model, index: 9, codec: Codec.of(Float.self)) }
        var amount: Property<Thing, BigInt> { Property(model, index: 10, codec: Codec.of(BigInt.self)) }
        var price: Property<Thing, Decimal?> { Property(model, index: 11, codec: Codec.of(Decimal?.self)) }
        var day: Property<Thing, Date?> { Property(model, index: 12, codec: Codec.of(Date?.self)) }
        var uuid: Property<Thing, UUID> { Property(model, index: 13, codec: Codec.of(UUID.self)) }
        var color: Property<Thing, Shade> { Property(model, index: 14, codec: Codec.of(Shade.self)) }
        var labels: Property<Thing, [String]> { Property(model, index: 15, codec: Codec.of([String].self)) }
        var owner: ReferenceProperty<Thing, Owner> { ReferenceProperty(model, index: 16) }
        var tags: ReferencesProperty<Thing, Tag> { ReferencesProperty(model, index: 17) }
    }
}

extension Thing: Model {}

struct Owner {
    var name: String
    var age: Int?
    var boss: Reference<Owner>?
    var __state = ObjectState()

    init(_ name: String, age: Int? = nil, boss: Reference<Owner>? = nil) {
        self.name = name
        self.age = age
        self.boss = boss
    }

    init(__row row: RowDecoder) throws {
        __state = try row.state
        name = try row.value(0, as: String.self)
        age = try row.value(1, as: Int?.self)
        boss = try row.value(2, as: Reference<Owner>?.self)
    }

    func __append(to row: RowEncoder) {
        row.append(name, as: String.self)
        row.append(age, as: Int?.self)
        row.append(boss, as: Reference<Owner>?.self)
    }

    static let __definition = ModelDefinition(
        Owner.self, name: "Owner",
        properties: [
            PropertyDefinition("name", codec: Codec.of(String.self), folding: .searched),
            PropertyDefinition("age", codec: Codec.of(Int?.self)),
            PropertyDefinition("boss", codec: Codec.of(Reference<Owner>?.self)),
        ])

    struct Columns: ModelColumns {
        typealias Root = Owner
        var name: FoldedProperty<Owner, String> {
            FoldedProperty(Owner.__definition, index: 0, codec: Codec.of(String.self))
        }
        var age: Property<Owner, Int?> { Property(Owner.__definition, index: 1, codec: Codec.of(Int?.self)) }
        var boss: ReferenceProperty<Owner, Owner> { ReferenceProperty(Owner.__definition, index: 2) }
        var things: InverseProperty<Owner, Thing> { InverseProperty(through: \Thing.Columns.owner) }
    }

    var things: InverseLinks<Thing> { InverseLinks(to: localID, through: \Thing.Columns.owner) }
}

extension Owner: Model {}

struct Tag {
    var name: String
    var rank: Int
    var isNew: Bool
    var __state = ObjectState()

    init(_ name: String, rank: Int = 0, isNew: Bool = false) {
        self.name = name
        self.rank = rank
        self.isNew = isNew
    }

    init(__row row: RowDecoder) throws {
        __state = try row.state
        name = try row.value(0, as: String.self)
        rank = try row.value(1, as: Int.self)
        isNew = try row.value(2, as: Bool.self)
    }

    func __append(to row: RowEncoder) {
        row.append(name, as: String.self)
        row.append(rank, as: Int.self)
        row.append(isNew, as: Bool.self)
    }

    static let __definition = ModelDefinition(
        Tag.self, name: "Tag",
        properties: [
            PropertyDefinition("name", codec: Codec.of(String.self)),
            PropertyDefinition("rank", codec: Codec.of(Int.self)),
            PropertyDefinition("isNew", codec: Codec.of(Bool.self)),
        ])

    struct Columns: ModelColumns {
        typealias Root = Tag
        var name: Property<Tag, String> { Property(Tag.__definition, index: 0, codec: Codec.of(String.self)) }
        var rank: Property<Tag, Int> { Property(Tag.__definition, index: 1, codec: Codec.of(Int.self)) }
        var isNew: Property<Tag, Bool> { Property(Tag.__definition, index: 2, codec: Codec.of(Bool.self)) }
        var things: InverseProperty<Tag, Thing> { InverseProperty(through: \Thing.Columns.tags) }
    }

    var things: InverseLinks<Thing> { InverseLinks(to: localID, through: \Thing.Columns.tags) }
}

extension Tag: Model {}
