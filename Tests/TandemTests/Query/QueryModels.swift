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
        text = try row.value(0, String.self)
        nickname = try row.value(1, String?.self)
        code = try row.value(2, String.self)
        flag = try row.value(3, Bool.self)
        small = try row.value(4, Int8?.self)
        int = try row.value(5, Int.self)
        unsigned = try row.value(6, UInt64.self)
        ratio = try row.value(7, Double.self)
        maybeRatio = try row.value(8, Double?.self)
        float = try row.value(9, Float.self)
        amount = try row.value(10, BigInt.self)
        price = try row.value(11, Decimal?.self)
        day = try row.value(12, Date?.self)
        uuid = try row.value(13, UUID.self)
        color = try row.value(14, Shade.self)
        labels = try row.value(15, [String].self)
        owner = try row.value(16, Reference<Owner>?.self)
        tags = try row.value(17, [Reference<Tag>].self)
    }

    func __append(to row: RowEncoder) {
        row.append(text, String.self)
        row.append(nickname, String?.self)
        row.append(code, String.self)
        row.append(flag, Bool.self)
        row.append(small, Int8?.self)
        row.append(int, Int.self)
        row.append(unsigned, UInt64.self)
        row.append(ratio, Double.self)
        row.append(maybeRatio, Double?.self)
        row.append(float, Float.self)
        row.append(amount, BigInt.self)
        row.append(price, Decimal?.self)
        row.append(day, Date?.self)
        row.append(uuid, UUID.self)
        row.append(color, Shade.self)
        row.append(labels, [String].self)
        row.append(owner, Reference<Owner>?.self)
        row.append(tags, [Reference<Tag>].self)
    }

    static let __definition = ModelDefinition(
        Thing.self, name: "Thing",
        properties: [
            PropertyDefinition("text", Codec.of(String.self), folding: .searched),
            PropertyDefinition("nickname", Codec.of(String?.self), folding: .searched),
            PropertyDefinition("code", Codec.of(String.self), indexed: true),
            PropertyDefinition("flag", Codec.of(Bool.self)),
            PropertyDefinition("small", Codec.of(Int8?.self)),
            PropertyDefinition("int", Codec.of(Int.self)),
            PropertyDefinition("unsigned", Codec.of(UInt64.self)),
            PropertyDefinition("ratio", Codec.of(Double.self)),
            PropertyDefinition("maybeRatio", Codec.of(Double?.self)),
            PropertyDefinition("float", Codec.of(Float.self)),
            PropertyDefinition("amount", Codec.of(BigInt.self)),
            PropertyDefinition("price", Codec.of(Decimal?.self)),
            PropertyDefinition("day", Codec.of(Date?.self)),
            PropertyDefinition("uuid", Codec.of(UUID.self)),
            PropertyDefinition("color", Codec.of(Shade.self)),
            PropertyDefinition("labels", Codec.of([String].self)),
            PropertyDefinition("owner", Codec.of(Reference<Owner>?.self)),
            PropertyDefinition("tags", Codec.of([Reference<Tag>].self)),
        ])

    struct Columns: ModelColumns {
        typealias Root = Thing
        private var model: ModelDefinition { Thing.__definition }
        var text: FoldedProperty<Thing, String> { FoldedProperty(model, 0, Codec.of(String.self)) }
        var nickname: FoldedProperty<Thing, String?> { FoldedProperty(model, 1, Codec.of(String?.self)) }
        var code: Property<Thing, String> { Property(model, 2, Codec.of(String.self)) }
        var flag: Property<Thing, Bool> { Property(model, 3, Codec.of(Bool.self)) }
        var small: Property<Thing, Int8?> { Property(model, 4, Codec.of(Int8?.self)) }
        var int: Property<Thing, Int> { Property(model, 5, Codec.of(Int.self)) }
        var unsigned: Property<Thing, UInt64> { Property(model, 6, Codec.of(UInt64.self)) }
        var ratio: Property<Thing, Double> { Property(model, 7, Codec.of(Double.self)) }
        var maybeRatio: Property<Thing, Double?> { Property(model, 8, Codec.of(Double?.self)) }
        var float: Property<Thing, Float> { Property(model, 9, Codec.of(Float.self)) }
        var amount: Property<Thing, BigInt> { Property(model, 10, Codec.of(BigInt.self)) }
        var price: Property<Thing, Decimal?> { Property(model, 11, Codec.of(Decimal?.self)) }
        var day: Property<Thing, Date?> { Property(model, 12, Codec.of(Date?.self)) }
        var uuid: Property<Thing, UUID> { Property(model, 13, Codec.of(UUID.self)) }
        var color: Property<Thing, Shade> { Property(model, 14, Codec.of(Shade.self)) }
        var labels: Property<Thing, [String]> { Property(model, 15, Codec.of([String].self)) }
        var owner: ReferenceProperty<Thing, Owner> { ReferenceProperty(model, 16) }
        var tags: ReferencesProperty<Thing, Tag> { ReferencesProperty(model, 17) }
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
        name = try row.value(0, String.self)
        age = try row.value(1, Int?.self)
        boss = try row.value(2, Reference<Owner>?.self)
    }

    func __append(to row: RowEncoder) {
        row.append(name, String.self)
        row.append(age, Int?.self)
        row.append(boss, Reference<Owner>?.self)
    }

    static let __definition = ModelDefinition(
        Owner.self, name: "Owner",
        properties: [
            PropertyDefinition("name", Codec.of(String.self), folding: .searched),
            PropertyDefinition("age", Codec.of(Int?.self)),
            PropertyDefinition("boss", Codec.of(Reference<Owner>?.self)),
        ])

    struct Columns: ModelColumns {
        typealias Root = Owner
        var name: FoldedProperty<Owner, String> { FoldedProperty(Owner.__definition, 0, Codec.of(String.self)) }
        var age: Property<Owner, Int?> { Property(Owner.__definition, 1, Codec.of(Int?.self)) }
        var boss: ReferenceProperty<Owner, Owner> { ReferenceProperty(Owner.__definition, 2) }
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
        name = try row.value(0, String.self)
        rank = try row.value(1, Int.self)
        isNew = try row.value(2, Bool.self)
    }

    func __append(to row: RowEncoder) {
        row.append(name, String.self)
        row.append(rank, Int.self)
        row.append(isNew, Bool.self)
    }

    static let __definition = ModelDefinition(
        Tag.self, name: "Tag",
        properties: [
            PropertyDefinition("name", Codec.of(String.self)), PropertyDefinition("rank", Codec.of(Int.self)),
            PropertyDefinition("isNew", Codec.of(Bool.self)),
        ])

    struct Columns: ModelColumns {
        typealias Root = Tag
        var name: Property<Tag, String> { Property(Tag.__definition, 0, Codec.of(String.self)) }
        var rank: Property<Tag, Int> { Property(Tag.__definition, 1, Codec.of(Int.self)) }
        var isNew: Property<Tag, Bool> { Property(Tag.__definition, 2, Codec.of(Bool.self)) }
        var things: InverseProperty<Tag, Thing> { InverseProperty(through: \Thing.Columns.tags) }
    }

    var things: InverseLinks<Thing> { InverseLinks(to: localID, through: \Thing.Columns.tags) }
}

extension Tag: Model {}
