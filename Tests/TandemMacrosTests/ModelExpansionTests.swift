import Testing

/// The complete expansion of models, as in `TandemTests/Fixtures/HandExpanded.swift`.
@Suite struct ModelExpansionTests {
    @Test func `a model has its state, initializer, row, definition, columns, coding and equality`() {
        expect(
            """
            @Model(indexes: [.unique("shop", "barcode")]) struct HandCard {
                @Folded var shop: String
                @Indexed var barcode: String
                var points: BigInt = 0
                @LocalOnly var isPinned = false
                @Transient var isSelected = false
                @OnDelete(.cascade) var owner: Reference<HandPerson>?
            }
            """,
            expandsTo: """
                struct HandCard {
                    var shop: String
                    var barcode: String
                    var points: BigInt = 0
                    var isPinned = false
                    var isSelected = false
                    var owner: Reference<HandPerson>?

                    var __state: Tandem.ObjectState

                    init(
                        shop: String,
                        barcode: String,
                        points: BigInt = 0,
                        isPinned: Bool = false,
                        isSelected: Bool = false,
                        owner: Reference<HandPerson>? = nil
                    ) {
                        self.shop = shop
                        self.barcode = barcode
                        self.points = points
                        self.isPinned = isPinned
                        self.isSelected = isSelected
                        self.owner = owner
                        self.__state = Tandem.ObjectState()
                    }

                    init(__row row: Tandem.RowDecoder) throws {
                        self.__state = try row.state
                        self.shop = try row.value(0, as: String.self)
                        self.barcode = try row.value(1, as: String.self)
                        self.points = try row.value(2, as: BigInt.self)
                        self.isPinned = try row.value(3, as: Bool.self)
                        self.owner = try row.value(4, as: Reference<HandPerson>?.self)
                    }

                    func __append(to row: Tandem.RowEncoder) {
                        row.append(self.shop, as: String.self)
                        row.append(self.barcode, as: String.self)
                        row.append(self.points, as: BigInt.self)
                        row.append(self.isPinned, as: Bool.self)
                        row.append(self.owner, as: Reference<HandPerson>?.self)
                    }

                    static let __definition = Tandem.ModelDefinition(
                        HandCard.self,
                        name: "HandCard",
                        indexes: [
                            Tandem.IndexDefinition(["shop", "barcode"], unique: true),
                        ],
                        properties: [
                            Tandem.PropertyDefinition("shop", codec: Tandem.Codec.of(String.self), folding: .searched),
                            Tandem.PropertyDefinition("barcode", codec: Tandem.Codec.of(String.self), indexed: true),
                            Tandem.PropertyDefinition("points", codec: Tandem.Codec.of(BigInt.self), default: { 0 }),
                            Tandem.PropertyDefinition("isPinned", codec: Tandem.Codec.of(Bool.self), localOnly: true, \
                default: { false }),
                            Tandem.PropertyDefinition("owner", codec: Tandem.Codec.of(Reference<HandPerson>?.self), \
                onDelete: .cascade),
                        ]
                    )

                    struct Columns: Tandem.ModelColumns {
                        typealias Root = HandCard
                        init() {}
                        var shop: Tandem.FoldedProperty<HandCard, String> {
                            Tandem.FoldedProperty(HandCard.__definition, index: 0, codec: Tandem.Codec.of(String.self))
                        }
                        var barcode: Tandem.Property<HandCard, String> {
                            Tandem.Property(HandCard.__definition, index: 1, codec: Tandem.Codec.of(String.self))
                        }
                        var points: Tandem.Property<HandCard, BigInt> {
                            Tandem.Property(HandCard.__definition, index: 2, codec: Tandem.Codec.of(BigInt.self))
                        }
                        var isPinned: Tandem.Property<HandCard, Bool> {
                            Tandem.Property(HandCard.__definition, index: 3, codec: Tandem.Codec.of(Bool.self))
                        }
                        var owner: Tandem.ReferenceProperty<HandCard, HandPerson> {
                            Tandem.ReferenceProperty(HandCard.__definition, index: 4)
                        }
                    }

                    enum CodingKeys: Swift.String, Swift.CodingKey {
                        case shop
                        case barcode
                        case points
                        case isPinned
                        case owner
                    }

                    init(from decoder: any Swift.Decoder) throws {
                        let container = try decoder.container(keyedBy: CodingKeys.self)
                        self.__state = try Tandem.ObjectState(from: decoder)
                        self.shop = try container.decode(String.self, forKey: .shop)
                        self.barcode = try container.decode(String.self, forKey: .barcode)
                        self.points = try container.decodeIfPresent(BigInt.self, forKey: .points) ?? 0
                        self.isPinned = try container.decodeIfPresent(Bool.self, forKey: .isPinned) ?? false
                        self.owner = try container.decodeIfPresent(Reference<HandPerson>.self, forKey: .owner)
                    }

                    func encode(to encoder: any Swift.Encoder) throws {
                        try self.__state.encode(to: encoder)
                        var container = encoder.container(keyedBy: CodingKeys.self)
                        try container.encode(self.shop, forKey: .shop)
                        try container.encode(self.barcode, forKey: .barcode)
                        try container.encode(self.points, forKey: .points)
                        try container.encode(self.isPinned, forKey: .isPinned)
                        try container.encodeIfPresent(self.owner, forKey: .owner)
                    }

                    static func == (lhs: HandCard, rhs: HandCard) -> Swift.Bool {
                        lhs.__state == rhs.__state
                            && Tandem.__same(lhs.shop, rhs.shop)
                            && Tandem.__same(lhs.barcode, rhs.barcode)
                            && Tandem.__same(lhs.points, rhs.points)
                            && Tandem.__same(lhs.isPinned, rhs.isPinned)
                            && Tandem.__same(lhs.owner, rhs.owner)
                    }

                    func hash(into hasher: inout Swift.Hasher) {
                        self.__state.hash(into: &hasher)
                    }
                }

                nonisolated extension HandCard: Tandem.Model {}
                """)
    }

    @Test func `inverse links have a getter and a column, but no storage`() {
        expect(
            """
            @Model struct HandPerson {
                @Folded var name: String
                @Inverse(\\HandCard.owner) var cards: InverseLinks<HandCard>
            }
            """,
            expandsTo: """
                struct HandPerson {
                    var name: String
                    var cards: InverseLinks<HandCard> {
                        get {
                            Tandem.InverseLinks(to: self.__state.localID, through: \\HandCard.Columns.owner)
                        }
                    }

                    var __state: Tandem.ObjectState

                    init(name: String) {
                        self.name = name
                        self.__state = Tandem.ObjectState()
                    }

                    init(__row row: Tandem.RowDecoder) throws {
                        self.__state = try row.state
                        self.name = try row.value(0, as: String.self)
                    }

                    func __append(to row: Tandem.RowEncoder) {
                        row.append(self.name, as: String.self)
                    }

                    static let __definition = Tandem.ModelDefinition(
                        HandPerson.self,
                        name: "HandPerson",
                        properties: [
                            Tandem.PropertyDefinition("name", codec: Tandem.Codec.of(String.self), folding: .searched),
                        ]
                    )

                    struct Columns: Tandem.ModelColumns {
                        typealias Root = HandPerson
                        init() {}
                        var name: Tandem.FoldedProperty<HandPerson, String> {
                            Tandem.FoldedProperty(HandPerson.__definition, index: 0, \
                codec: Tandem.Codec.of(String.self))
                        }
                        var cards: Tandem.InverseProperty<HandPerson, HandCard> {
                            Tandem.InverseProperty(through: \\HandCard.Columns.owner)
                        }
                    }

                    enum CodingKeys: Swift.String, Swift.CodingKey {
                        case name
                    }

                    init(from decoder: any Swift.Decoder) throws {
                        let container = try decoder.container(keyedBy: CodingKeys.self)
                        self.__state = try Tandem.ObjectState(from: decoder)
                        self.name = try container.decode(String.self, forKey: .name)
                    }

                    func encode(to encoder: any Swift.Encoder) throws {
                        try self.__state.encode(to: encoder)
                        var container = encoder.container(keyedBy: CodingKeys.self)
                        try container.encode(self.name, forKey: .name)
                    }

                    static func == (lhs: HandPerson, rhs: HandPerson) -> Swift.Bool {
                        lhs.__state == rhs.__state
                            && Tandem.__same(lhs.name, rhs.name)
                    }

                    func hash(into hasher: inout Swift.Hasher) {
                        self.__state.hash(into: &hasher)
                    }
                }

                nonisolated extension HandPerson: Tandem.Model {}
                """)
    }

    @Test func `a model without properties is expanded`() {
        expect(
            """
            @Model struct Empty {}
            """,
            expandsTo: """
                struct Empty {

                    var __state: Tandem.ObjectState

                    init() {
                        self.__state = Tandem.ObjectState()
                    }

                    init(__row row: Tandem.RowDecoder) throws {
                        self.__state = try row.state
                    }

                    func __append(to row: Tandem.RowEncoder) {}

                    static let __definition = Tandem.ModelDefinition(
                        Empty.self,
                        name: "Empty",
                        properties: []
                    )

                    struct Columns: Tandem.ModelColumns {
                        typealias Root = Empty
                        init() {}
                    }

                    enum CodingKeys: Swift.CodingKey {}

                    init(from decoder: any Swift.Decoder) throws {
                        self.__state = try Tandem.ObjectState(from: decoder)
                    }

                    func encode(to encoder: any Swift.Encoder) throws {
                        try self.__state.encode(to: encoder)
                    }

                    static func == (lhs: Empty, rhs: Empty) -> Swift.Bool {
                        lhs.__state == rhs.__state
                    }

                    func hash(into hasher: inout Swift.Hasher) {
                        self.__state.hash(into: &hasher)
                    }
                }

                nonisolated extension Empty: Tandem.Model {}
                """)
    }
}
