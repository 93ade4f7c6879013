import Testing

/// The diagnostics of a property's declaration and type.
@Suite struct PropertyDiagnosticTests {
    @Test func `a property without a visible type needs one`() {
        expect(
            """
            @Model struct Card {
                var shop = name()
                var opened = Date()
                var status = Status.active
                var tags = [String]()
                var list = [1, 2]
            }
            """,
            reports: """
                2:9 error: write the type of 'shop': a macro sees only the text
                    fix-it: insert ': <#Type#>'
                3:9 error: write the type of 'opened': a macro sees only the text
                    fix-it: insert ': Date'
                4:9 error: write the type of 'status': a macro sees only the text
                    fix-it: insert ': Status'
                5:9 error: write the type of 'tags': a macro sees only the text
                    fix-it: insert ': [String]'
                6:9 error: write the type of 'list': a macro sees only the text
                    fix-it: insert ': <#Type#>'
                """,
            id: "needsType",
            fixed: """
                @Model struct Card {
                    var shop: <#Type#> = name()
                    var opened: Date = Date()
                    var status: Status = Status.active
                    var tags: [String] = [String]()
                    var list: <#Type#> = [1, 2]
                }
                """)
    }

    @Test func `an implicitly unwrapped optional becomes an optional`() {
        expect(
            "@Model struct Card { var shop: String! }",
            reports: """
                1:32 error: 'shop' can be nil in the store: make its type optional, with '?'
                    fix-it: replace '!' with '?'
                """,
            id: "implicitlyUnwrapped",
            fixed: "@Model struct Card { var shop: String? }")
    }

    @Test func `an optional of an optional becomes an optional`() {
        expect(
            "@Model struct Card { var shop: String?? }",
            reports: """
                1:32 error: 'shop' has two kinds of nil, but a column has only one
                    fix-it: make it 'String?'
                """,
            id: "nestedOptional",
            fixed: "@Model struct Card { var shop: String? }")
    }

    @Test func `a constant with a value becomes a variable`() {
        expect(
            "@Model struct Card { let limit = 5 }",
            reports: """
                1:22 error: a stored constant with a value can't be read back: make it `var` or `static`
                    fix-it: make it 'var'
                """,
            id: "fixedValue",
            fixed: "@Model struct Card { var limit = 5 }")
    }

    @Test func `a lazy property gets a fix-it`() {
        expect(
            "@Model struct Card { lazy var shop = \"x\" }",
            reports: """
                1:22 error: 'shop' can't be lazy: its value is stored with the object
                    fix-it: remove 'lazy'
                """,
            id: "lazy",
            fixed: "@Model struct Card { var shop = \"x\" }")
    }

    @Test func `a lazy property may be transient`() {
        expect("@Model struct Card { @Transient lazy var sum = total(); var a = 1 }", toContain: ["init(a: Int = 1)"])
    }

    @Test func `properties in a tuple are refused`() {
        expect(
            "@Model struct Card { var (a, b) = (1, 2) }",
            reports: "1:26 error: declare a model's properties one by one, not as a tuple",
            id: "tuplePattern")
    }

    // MARK: References

    @Test func `a reference becomes optional`() {
        expect(
            "@Model struct Card { var owner: Reference<Person> }",
            reports: """
                1:33 error: a reference must be optional: its object may be missing or deleted
                    fix-it: append '?'
                """,
            id: "requiredReference",
            fixed: "@Model struct Card { var owner: Reference<Person>? }")
    }

    @Test func `an optional list of references becomes a list`() {
        expect(
            "@Model struct Card { var tags: [Reference<Tag>]? }",
            reports: """
                1:32 error: a list of references can't be optional: an empty list has the same meaning
                    fix-it: make it '[Reference<Tag>]'
                """,
            id: "optionalReferences",
            fixed: "@Model struct Card { var tags: [Reference<Tag>] }")
    }

    @Test func `optional elements of a list of references are refused`() {
        expect(
            "@Model struct Card { var tags: [Reference<Tag>?] }",
            reports: """
                1:32 error: a list of references can't contain nil
                    fix-it: make it '[Reference<Tag>]'
                """,
            id: "listOfOptionalReferences",
            fixed: "@Model struct Card { var tags: [Reference<Tag>] }")
    }

    @Test func `a set of references becomes an array`() {
        expect(
            "@Model struct Card { var tags: Set<Reference<Tag>> }",
            reports: """
                1:32 error: references to several objects are ordered: use an array
                    fix-it: make it '[Reference<Tag>]'
                """,
            id: "referenceSet",
            fixed: "@Model struct Card { var tags: [Reference<Tag>] }")
    }

    @Test func `inverse links without their attribute are refused`() {
        expect(
            "@Model struct Person { var cards: InverseLinks<Card> }",
            reports: """
                1:35 error: inverse links are queried, not stored: mark the property with @Inverse
                    fix-it: mark it with @Inverse
                """,
            id: "storedInverse",
            fixed: "@Model struct Person { @Inverse(\\Card.<#reference#>) var cards: InverseLinks<Card> }")
    }

    // MARK: Names

    @Test(arguments: [
        ("id", "id", "cardID"), ("localID", "localID", "cardLocalID"), ("serverID", "serverID", "cardServerID"),
        ("version", "version", "cardVersion"), ("deleted", "deleted", "cardDeleted"),
        ("createdAt", "createdAt", "cardCreatedAt"), ("updatedAt", "updatedAt", "cardUpdatedAt"),
        ("synced", "synced", "cardSynced"), ("isSynced", "isSynced", "cardIsSynced"),
        ("isDeleted", "isDeleted", "cardIsDeleted"), ("reference", "reference", "cardReference"),
    ])
    func `a reserved name is replaced`(name: String, word: String, replacement: String) {
        expect(
            "@Model struct Card { var \(name): String }",
            reports: """
                1:26 error: '\(name)' is reserved: each object has a built-in '\(word)'
                    fix-it: rename it to '\(replacement)'
                """,
            id: "reservedName",
            fixed: "@Model struct Card { var \(replacement): String }")
    }

    @Test func `a reserved name is refused in any case and for each property`() {
        expect(
            """
            @Model struct Card {
                var ID: String
                @Transient var Version = 1
                @Inverse(\\Tag.card) var UPDATEDAT: InverseLinks<Tag>
                var __secret: Int
                var __1: Int
            }
            """,
            reports: """
                2:9 error: 'ID' is reserved: each object has a built-in 'id'; \
                column names are case-insensitive
                    fix-it: rename it to 'cardID'
                3:20 error: 'Version' is reserved: each object has a built-in 'version'; \
                column names are case-insensitive
                    fix-it: rename it to 'cardVersion'
                4:29 error: 'UPDATEDAT' is reserved: each object has a built-in 'updatedAt'; \
                column names are case-insensitive
                    fix-it: rename it to 'cardUPDATEDAT'
                5:9 error: '__secret' is reserved: Tandem uses names that begin with '__'
                    fix-it: rename it to 'secret'
                6:9 error: '__1' is reserved: Tandem uses names that begin with '__'
                    fix-it: rename it to 'card1'
                """,
            id: "reservedName",
            fixed: """
                @Model struct Card {
                    var cardID: String
                    @Transient var cardVersion = 1
                    @Inverse(\\Tag.card) var cardUPDATEDAT: InverseLinks<Tag>
                    var secret: Int
                    var card1: Int
                }
                """)
    }

    @Test func `a reserved column name is refused`() {
        expect(
            "@Model struct Card { @Named(column: \"Deleted\", wire: \"deleted\") var gone: Bool }",
            reports: "1:37 error: 'Deleted' is reserved: each object has a built-in 'deleted'; "
                + "column names are case-insensitive",
            id: "reservedName")
    }

    @Test func `columns that differ only by case are refused`() {
        expect(
            """
            @Model struct Card {
                var shop: String
                var Shop: String
                @Named(column: "SHOP") var name: String
                @Named(column: "code") var barcode: String
                var code: String
            }
            """,
            reports: """
                3:9 error: 'shop' and 'Shop' are the same column: column names are case-insensitive
                4:20 error: 'shop' and 'SHOP' are the same column: column names are case-insensitive
                6:9 error: two properties have the column 'code'
                """,
            id: "sameColumn")
    }

    @Test func `letters beyond ASCII are case-sensitive, as in SQLite`() {
        expectNoDiagnostics("@Model struct Card { var ярлык: String; var Ярлык: String }")
    }

    @Test func `two properties with the same wire name are refused`() {
        expect(
            "@Model struct Card { var shop: String; @Named(wire: \"shop\") var name: String }",
            reports: "1:53 error: two properties have the wire name 'shop'",
            id: "sameWireName")
    }

    @Test func `a property without a case in the coding keys needs a default`() {
        expect(
            "@Model struct Card { var shop: String; var note: String?; enum CodingKeys: String, CodingKey { case a } }",
            reports: "1:26 error: 'shop' has no case in 'CodingKeys', so it needs a default value for decoding",
            id: "notDecodable")
    }
}
