import Testing

/// The diagnostics of a property's attributes.
@Suite struct AttributeDiagnosticTests {
    static let attributes = [
        "@Indexed", "@Unique", "@Folded", "@Transient", "@LocalOnly", "@Renamed(from: \"a\")", "@Named(wire: \"a\")",
        "@OnDelete(.deny)",
    ]

    private static func bare(_ attribute: String) -> String { String(attribute.prefix { $0 != "(" }) }

    @Test(arguments: attributes)
    func `an attribute outside a model is refused`(attribute: String) {
        let name = Self.bare(attribute)
        expect(
            "struct Card { \(attribute) var shop: String? }",
            reports: """
                1:15 error: \(name) is only valid in a struct marked @Model
                    fix-it: remove '\(name)'
                """,
            id: "outsideModel",
            fixed: "struct Card { var shop: String? }")
    }

    @Test(arguments: [
        "\(attributes[0]) var shop: String?", "extension Card { @Indexed var shop: String { \"\" } }",
        "func open() { @Indexed var shop: String? }",
    ])
    func `files, extensions and functions are not models`(source: String) {
        let expansion = Expansion(of: source)
        #expect(expansion.diagnosticIDs == ["outsideModel"])
    }

    @Test func `a struct inside a model is not a model`() {
        let expansion = Expansion(of: "@Model struct Card { struct Part { @Indexed var shop: String } }")
        #expect(expansion.diagnosticIDs == ["outsideModel"])
    }

    @Test(arguments: attributes)
    func `an attribute of a property that is not stored is refused`(attribute: String) {
        let name = Self.bare(attribute)
        expect(
            """
            @Model struct Card {
                \(attribute) var double: String { "" }
                \(attribute) static var limit = ""
                \(attribute) func open() {}
            }
            """,
            reports: """
                2:5 error: \(name) belongs to a stored property: 'double' is computed
                    fix-it: remove '\(name)'
                3:5 error: \(name) belongs to a stored property: 'limit' belongs to the type
                    fix-it: remove '\(name)'
                4:5 error: \(name) belongs to a stored property
                    fix-it: remove '\(name)'
                """,
            ids: ["notStored", "notStored", "notAProperty"],
            fixed: """
                @Model struct Card {
                    var double: String { "" }
                    static var limit = ""
                    func open() {}
                }
                """)
    }

    @Test(arguments: attributes.filter { $0 != "@Transient" })
    func `other attributes of a transient property are refused`(attribute: String) {
        let name = Self.bare(attribute)
        expect(
            "@Model struct Card { \(attribute) @Transient var shop: String? }",
            reports: """
                1:22 error: \(name) belongs to a stored property: 'shop' is @Transient
                    fix-it: remove '\(name)'
                """,
            id: "notStored",
            fixed: "@Model struct Card { @Transient var shop: String? }")
    }

    @Test func `other attributes of inverse links are refused`() {
        expect(
            "@Model struct Person { @Indexed @Inverse(\\Card.owner) var cards: InverseLinks<Card> }",
            reports: """
                1:24 error: @Indexed belongs to a stored property: 'cards' is found by @Inverse
                    fix-it: remove '@Indexed'
                """,
            id: "notStored",
            fixed: "@Model struct Person { @Inverse(\\Card.owner) var cards: InverseLinks<Card> }")
    }

    @Test func `a repeated attribute is refused`() {
        expect(
            """
            @Model struct Card {
                @Indexed
                @Indexed
                var shop: String
                @Transient @Transient var count = 0
            }
            """,
            reports: """
                3:5 error: @Indexed is repeated
                    fix-it: remove '@Indexed'
                5:16 error: @Transient is repeated
                    fix-it: remove '@Transient'
                """,
            id: "repeated",
            fixed: """
                @Model struct Card {
                    @Indexed
                    var shop: String
                    @Transient var count = 0
                }
                """)
    }

    @Test func `an attribute may include its module`() {
        expect("@Model struct Card { @Tandem.Indexed var shop: String }", toContain: ["indexed: true"])
    }

    // MARK: Single attributes

    @Test func `a folded property that is not a text is refused`() {
        expect(
            "@Model struct Card { @Folded var points: BigInt; @Folded var names: [String]; @Folded var a: String? }",
            reports: """
                1:22 error: only a String can be folded: 'points' is 'BigInt'
                    fix-it: remove '@Folded'
                1:50 error: only a String can be folded: 'names' is '[String]'
                    fix-it: remove '@Folded'
                """,
            id: "foldedNeedsText",
            fixed: "@Model struct Card { var points: BigInt; var names: [String]; @Folded var a: String? }")
    }

    @Test func `the purpose of a folded text must be literal`() {
        expect(
            "@Model struct Card { @Folded(use) var shop: String }",
            reports: "1:30 error: write '.searched' or '.sorted' literally: a macro sees only the text",
            id: "foldedUse")
    }

    @Test func `folded uniqueness needs a folded text and a literal argument`() {
        expect(
            "@Model struct Card { @Unique(.folded) var shop: String; @Unique(.folded) @Folded var name: String }",
            reports: "1:22 error: @Unique(.folded) compares folded texts: add @Folded to 'shop'",
            id: "uniqueNeedsFolded")
        expect(
            "@Model struct Card { @Unique(use) var shop: String }",
            reports: "1:30 error: write '.exact' or '.folded' literally: a macro sees only the text",
            id: "uniqueUse")
    }

    @Test func `a delete rule of a property that is not a reference is refused`() {
        expect(
            "@Model struct Card { @OnDelete(.deny) var shop: String; @OnDelete(.deny) var tags: [Reference<Tag>] }",
            reports: """
                1:22 error: @OnDelete belongs to a reference: 'shop' is 'String'
                    fix-it: remove '@OnDelete'
                """,
            id: "notAReference",
            fixed: "@Model struct Card { var shop: String; @OnDelete(.deny) var tags: [Reference<Tag>] }")
    }

    @Test func `a transient property needs a default`() {
        expect(
            "@Model struct Card { @Transient var count: Int; @Transient var note: String?; @Transient var a = 5 }",
            reports: """
                1:37 error: 'count' is not stored, so it needs a default value for objects that are read
                    fix-it: insert a default value
                """,
            id: "needsDefault",
            fixed: "@Model struct Card { @Transient var count: Int = <#value#>; @Transient var note: String?; "
                + "@Transient var a = 5 }")
    }

    @Test func `an index beside a unique one is a warning`() {
        let source = "@Model struct Card { @Indexed @Unique var shop: String }"
        expect(
            source,
            reports: """
                1:22 warning: @Unique creates an index itself: @Indexed is redundant
                    fix-it: remove '@Indexed'
                """,
            id: "redundantIndex",
            fixed: "@Model struct Card { @Unique var shop: String }")
        #expect(Expansion(of: source).source.contains("extension Card: Tandem.Model {}"))
    }

    @Test(arguments: ["@Indexed", "@Unique"], ["[String]", "Set<Int>?", "[String: Int]", "[Reference<Tag>]"])
    func `an index on several values is refused`(attribute: String, type: String) {
        expect(
            "@Model struct Card { \(attribute) var tags: \(type) }",
            reports: """
                1:22 error: \(attribute) needs one value for each object: 'tags' has many
                    fix-it: remove '\(attribute)'
                """,
            id: "manyValues",
            fixed: "@Model struct Card { var tags: \(type) }")
    }

    @Test(arguments: [
        ("@Renamed(from: \"shop\") var", "37", "var"),
        ("@Renamed(from: \"shop\", \"store\") var", "37", "@Renamed(from: \"store\") var"),
        ("@Renamed(from: \"store\", \"shop\") var", "46", "@Renamed(from: \"store\") var"),
    ])
    func `a former name equal to the current one is refused`(declaration: String, column: String, fixed: String) {
        expect(
            "@Model struct Card { \(declaration) shop: String }",
            reports: """
                1:\(column) error: 'shop' is the current name: @Renamed needs a former name
                    fix-it: remove it
                """,
            id: "renamedToItself",
            fixed: "@Model struct Card { \(fixed) shop: String }")
    }

    @Test func `an empty former name is refused`() {
        expect(
            "@Model struct Card { @Renamed() var shop: String }",
            reports: """
                1:22 error: @Renamed needs a former name
                    fix-it: remove '@Renamed'
                """,
            id: "renamedFromNothing",
            fixed: "@Model struct Card { var shop: String }")
    }
}
