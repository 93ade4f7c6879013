import Testing

/// The details of the members that `@Model` generates.
@Suite struct MemberTests {
    // MARK: Access

    @Test func `members of a public struct that the protocol needs are public`() {
        expect(
            "@Model public struct Card { public var shop: String }",
            toContain: [
                "public var __state: Tandem.ObjectState",
                "public init(shop: String) {",
                "public init(__row row: Tandem.RowDecoder) throws {",
                "public func __append(to row: Tandem.RowEncoder) {",
                "public static let __definition = ",
                "public struct Columns: Tandem.ModelColumns {",
                "public typealias Root = Card",
                "public init() {}",
                "public var shop: Tandem.Property<Card, String> {",
                "public init(from decoder: any Swift.Decoder) throws {",
                "public func encode(to encoder: any Swift.Encoder) throws {",
                "public static func == (lhs: Card, rhs: Card) -> Swift.Bool {",
                "public func hash(into hasher: inout Swift.Hasher) {",
            ])
    }

    @Test(arguments: [("package", "package"), ("fileprivate", "fileprivate"), ("private", "fileprivate")])
    func `members have the access level of the struct`(written: String, expected: String) {
        expect(
            "@Model \(written) struct Card { var shop: String }",
            toContain: [
                "\(expected) var __state", "\(expected) init(__row ", "\(expected) func __append",
                "\(expected) static let __definition", "\(expected) struct Columns", "\(expected) init(from ",
            ])
    }

    @Test func `a struct in a public extension is public`() {
        expect(
            "public extension Shop { @Model struct Card { var name: String } }",
            toContain: ["public var __state", "public struct Columns", "extension Shop.Card: Tandem.Model {}"])
    }

    @Test func `initializer and columns have the access level of the properties`() {
        expect(
            "@Model public struct Card { public var shop: String; var code: String }",
            toContain: [
                "    init(shop: String, code: String) {",
                "public var shop: Tandem.Property", "        var code: Tandem.Property",
            ],
            butNot: ["public init(shop: String", "public var code"])
    }

    @Test func `a private property with a default is not a parameter of the initializer`() {
        expect(
            "@Model struct Card { var shop: String; private var opened = 0; private(set) var closed = 0 }",
            toContain: ["init(shop: String, closed: Int = 0) {", "fileprivate var opened: Tandem.Property<Card, Int>"])
    }

    // MARK: Initializer

    @Test func `the initializer equals Swift's memberwise one`() {
        expect(
            """
            @Model struct Card {
                let shop: String
                let nickname: String?
                var owner: String?
                var points: Int? = 5
                var note: String? = nil
                @Transient var action: @Sendable () -> Void = {}
                @Transient let limit = 10
                var wide, high: Int
            }
            """,
            toContain: [
                """
                    init(
                        shop: String,
                        nickname: String?,
                        owner: String? = nil,
                        points: Int? = 5,
                        note: String? = nil,
                        action: @escaping @Sendable () -> Void = {},
                        wide: Int,
                        high: Int
                    ) {
                """
            ])
    }

    @Test func `an initializer with the same labels is not generated`() {
        expect(
            """
            @Model struct Card {
                var shop: String
                var code: String
                init(shop: String, code: String) { self.shop = shop; self.code = code }
            }
            """,
            toContain: ["init(__row row"], butNot: ["    init(shop: String, code: String) {\n"])
    }

    @Test func `an initializer with other labels leaves the memberwise one`() {
        expect(
            "@Model struct Card { var shop: String; init(name: String) { self.shop = name } }",
            toContain: ["init(name: String)", "init(shop: String)"])
    }

    @Test func `the state has a default if the struct has initializers`() {
        expect(
            "@Model struct Card { var shop: String; init(name: String) { self.shop = name } }",
            toContain: ["var __state = Tandem.ObjectState()"], butNot: ["self.__state = Tandem.ObjectState()"])
    }

    // MARK: Types

    @Test(arguments: [
        ("true", "Bool"), ("5", "Int"), ("-5", "Int"), ("0xFF", "Int"), ("1.5", "Double"), ("-1e3", "Double"),
        ("\"a\"", "String"), ("\"a\\(1)\"", "String"),
    ])
    func `a literal determines the property's type`(literal: String, type: String) {
        expect(
            "@Model struct Card { var value = \(literal) }",
            toContain: [
                "init(value: \(type) = \(literal))", "Tandem.Codec.of(\(type).self), default: { \(literal) })",
            ])
    }

    @Test(arguments: [
        ("Reference<Person>?", "ReferenceProperty<Card, Person>"),
        ("Optional<Reference<Person>>", "ReferenceProperty<Card, Person>"),
        ("Tandem.Reference<Shop.Person>?", "ReferenceProperty<Card, Shop.Person>"),
        ("(Reference<Person>)?", "ReferenceProperty<Card, Person>"),
        ("[Reference<Person>]", "ReferencesProperty<Card, Person>"),
        ("Array<Reference<Person>>", "ReferencesProperty<Card, Person>"),
        ("[String]", "Property<Card, [String]>"),
        ("Int?", "Property<Card, Int?>"),
        ("Status", "Property<Card, Status>"),
    ])
    func `a column's type follows the property's`(type: String, column: String) {
        expect("@Model struct Card { var value: \(type) }", toContain: ["var value: Tandem.\(column) {"])
    }

    @Test func `a variable may declare several properties`() {
        expect(
            "@Model struct Card { var a, b: Int, c = 1.5 }",
            toContain: [
                "self.a = try row.value(0, as: Int.self)", "self.b = try row.value(1, as: Int.self)",
                "self.c = try row.value(2, as: Double.self)",
            ])
    }

    @Test func `members that are not stored have no column`() {
        expect(
            """
            @Model struct Card {
                static let limit = 5
                var double: Int { points * 2 }
                var half: Int { get { points / 2 } set { points = newValue * 2 } }
                var points: Int = 0 { didSet { print(oldValue) } }
                enum Status { case open }
                func open() {}
            }
            """,
            toContain: ["PropertyDefinition(\"points\"", "case points\n    }"],
            butNot: ["PropertyDefinition(\"limit\"", "PropertyDefinition(\"double\"", "PropertyDefinition(\"half\""])
    }

    @Test func `a keyword in backticks is a column without backticks`() {
        expect(
            "@Model struct Card { var `default`: Int; var `in` = 1 }",
            toContain: [
                "PropertyDefinition(\"default\", ", "self.`default` = try row.value(0, as: Int.self)", "case `default`",
                "forKey: .`in`", "var `in`: Tandem.Property<Card, Int>",
            ])
    }

    // MARK: Definition

    @Test func `attributes of a property are part of its definition`() {
        expect(
            """
            @Model struct Card {
                @Folded(.sorted) @Unique var shop: String
                @Unique(.folded) @Folded var name: String
                @Renamed(from: "code", "number") var barcode: String?
                @Named(column: "pts", wire: "points_total") var points = 0
                @Named(wire: "tag_ids") @OnDelete(DeleteRule.deny) var tags: [Reference<Tag>] = []
            }
            """,
            toContain: [
                "(\"shop\", codec: Tandem.Codec.of(String.self), folding: .sorted, unique: true),",
                "(\"name\", codec: Tandem.Codec.of(String.self), folding: .searched, unique: true, foldedUnique: true)",
                "var shop: Tandem.SortedTextProperty<Card, String> {",
                "(\"barcode\", codec: Tandem.Codec.of(String?.self), formerNames: [\"code\", \"number\"]),",
                "Codec.of(Int.self), column: \"pts\", wireName: \"points_total\", default: { 0 }),",
                "Codec.of([Reference<Tag>].self), wireName: \"tag_ids\", onDelete: DeleteRule.deny, default: { [] }),",
            ])
    }

    @Test func `arguments of the model are part of its definition`() {
        expect(
            """
            @Model(
                .localOnly, table: "cards", wireName: "Cards", renamedFrom: "Coupon", "Ticket",
                indexes: [.index("shop", "code"), ModelIndex.unique("code")]
            ) struct Card {
                var shop: String
                var code: String
            }
            """,
            toContain: [
                """
                        Card.self,
                        name: "Card",
                        table: "cards",
                        wireName: "Cards",
                        localOnly: true,
                        formerNames: ["Coupon", "Ticket"],
                        indexes: [
                            Tandem.IndexDefinition(["shop", "code"]),
                            Tandem.IndexDefinition(["code"], unique: true),
                        ],
                        properties: [
                """
            ])
    }

    // MARK: Coding and equality

    @Test func `an optional with a default distinguishes nil from a missing value`() {
        expect(
            "@Model struct Card { var note: String? = \"new\" }",
            toContain: [
                "container.contains(.note) ? try container.decodeIfPresent(String.self, forKey: .note) : \"new\"",
                "try container.encode(self.note, forKey: .note)",
            ])
    }

    @Test func `members declared in the struct are not generated`() {
        expect(
            """
            @Model struct Card {
                var shop: String
                var note = ""
                enum CodingKeys: String, CodingKey { case shop = "name" }
                init(from decoder: any Decoder) throws { fatalError() }
                func encode(to encoder: any Encoder) throws {}
                static func == (a: Card, b: Card) -> Bool { true }
                func hash(into hasher: inout Hasher) {}
            }
            """,
            butNot: ["Swift.CodingKey", "Swift.Decoder", "Swift.Encoder", "Swift.Bool", "Swift.Hasher"])
    }

    @Test func `a property without a case in the struct's own coding keys is not coded`() {
        expect(
            """
            @Model struct Card {
                var shop: String
                var note = ""
                enum CodingKeys: String, CodingKey { case shop = "name" }
            }
            """,
            toContain: ["forKey: .shop"], butNot: ["forKey: .note"])
    }

    @Test func `a comparison with another type does not replace equality`() {
        expect(
            "@Model struct Card { var a = 1; static func == (l: Card, r: Int) -> Bool { l.a == r } }",
            toContain: ["static func == (lhs: Card, rhs: Card)"])
    }

    // MARK: Extension

    @Test func `a struct that already conforms is not extended`() {
        let expansion = Expansion(of: "@Model struct Card: Model { var shop: String }", isConforming: true)
        #expect(!expansion.source.contains("extension"))
    }

    @Test func `the extension has the struct's availability`() {
        expect(
            "@available(macOS 15, *) @Model struct Card { var shop: String }",
            toContain: ["@available(macOS 15, *)\nnonisolated extension Card: Tandem.Model {}"])
    }

    @Test func `a struct with an error gets no members`() {
        let expansion = Expansion(of: "@Model struct Card { var shop = name() }")
        #expect(!expansion.source.contains("__"))
        #expect(!expansion.source.contains("extension"))
    }
}
