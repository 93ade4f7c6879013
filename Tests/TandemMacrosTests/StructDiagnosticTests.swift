import Testing

/// The diagnostics of the struct as a whole.
@Suite struct StructDiagnosticTests {
    @Test func `a class gets a fix-it to become a struct`() {
        expect(
            "@Model final class Card { var shop: String }",
            reports: """
                1:14 error: @Model needs a struct, not 'class': \
                the values of structs are copies, safe on each thread
                    fix-it: make it a struct
                """,
            id: "notAStruct",
            fixed: "@Model struct Card { var shop: String }")
    }

    @Test(arguments: [
        "class Card: Base { var shop: String }", "class Card { deinit {} }", "enum Card { case a }",
        "actor Card { var shop: String }",
    ])
    func `a declaration that is not a struct is refused`(declaration: String) {
        let keyword = declaration.prefix { $0 != " " }
        expect(
            "@Model \(declaration)",
            reports:
                "1:8 error: @Model needs a struct, not '\(keyword)': "
                + "the values of structs are copies, safe on each thread",
            id: "notAStruct")
    }

    @Test func `a protocol is refused`() {
        expect(
            "@Model protocol Card { var shop: String { get } }",
            reports: "1:8 error: @Model needs a struct, not 'protocol': "
                + "the values of structs are copies, safe on each thread",
            id: "notAStruct")
    }

    @Test func `a generic struct is refused`() {
        expect(
            "@Model struct Card<T> { var shop: String }",
            reports: "1:19 error: a model can't be generic: it has one table and one set of columns",
            id: "generic")
    }

    @Test func `a struct inside a generic type is refused`() {
        expect(
            "enum Shop<T> { @Model struct Card { var shop: String } }",
            reports: "1:30 error: a model can't be inside a generic type: "
                + "it has one table and one set of columns",
            id: "insideGeneric")
    }

    @Test func `a private struct inside a type gets a fix-it`() {
        expect(
            "enum Shop { @Model private struct Card { var shop: String } }",
            reports: """
                1:20 error: a model inside a type or an extension can't be 'private': \
                its conformance would not see it; make it 'fileprivate'
                    fix-it: make it 'fileprivate'
                """,
            id: "privateInside",
            fixed: "enum Shop { @Model fileprivate struct Card { var shop: String } }")
    }

    @Test func `stored properties in a compiler condition are refused`() {
        expect(
            """
            @Model struct Card {
                #if DEBUG
                var shop: String
                #endif
                #if DEBUG
                var double: Int { 2 }
                static let limit = 5
                func open() {}
                #endif
            }
            """,
            reports: "2:5 error: a model's stored properties can't be inside #if: "
                + "the table would differ between builds",
            id: "conditionalProperties")
    }

    @Test(arguments: ["struct Columns {}", "enum Columns {}", "typealias Columns = Int"])
    func `a type named Columns is refused`(declaration: String) {
        let column = 22 + declaration.prefix { $0 != " " }.count + 1
        expect(
            "@Model struct Card { \(declaration) }",
            reports: "1:\(column) error: 'Columns' is the name of a type that @Model generates",
            id: "reservedType")
    }

    @Test func `table names reserved by Tandem or SQLite are refused`() {
        expect(
            """
            @Model(table: "SQLite_cards") struct Card {}
            @Model(table: "__cards") struct Coupon {}
            @Model struct __Ticket {}
            """,
            reports: """
                1:15 error: 'SQLite_cards' can't be a table's name: those that begin with 'sqlite_' are SQLite's
                2:15 error: '__cards' can't be a table's name: those that begin with '__' are Tandem's
                3:15 error: '__Ticket' can't be a table's name: those that begin with '__' are Tandem's
                """,
            id: "reservedTable")
    }

    @Test func `names that are not string literals are refused`() {
        expect(
            """
            @Model(table: name, renamedFrom: "a\\(b)", indexes: [.index(first)]) struct Card {
                @Named(column: column) @Renamed(from: old) var shop: String
            }
            """,
            reports: """
                1:15 error: write the name as a string literal: a macro sees only the text
                1:34 error: write the name as a string literal: a macro sees only the text
                1:60 error: write the name as a string literal: a macro sees only the text
                2:20 error: write the name as a string literal: a macro sees only the text
                2:43 error: write the name as a string literal: a macro sees only the text
                """,
            id: "notALiteral")
    }

    @Test func `empty names are refused`() {
        expect(
            "@Model(table: \"\") struct Card { @Named(wire: \"\") var shop: String }",
            reports: """
                1:15 error: a name can't be empty
                1:46 error: a name can't be empty
                """,
            id: "emptyName")
    }

    @Test func `an option that is not literal is refused`() {
        expect(
            "@Model(option) struct Card {}",
            reports: "1:8 error: write the option '.localOnly' literally: a macro sees only the text",
            id: "unknownOption")
    }

    // MARK: Indexes

    @Test func `a misspelled property in an index is corrected`() {
        expect(
            "@Model(indexes: [.unique(\"shop\", \"barcdoe\")]) struct Card { var shop = \"\"; var barcode = \"\" }",
            reports: """
                1:34 error: 'Card' has no stored property 'barcdoe'; did you mean 'barcode'?
                    fix-it: replace with 'barcode'
                """,
            id: "unknownProperty",
            fixed:
                "@Model(indexes: [.unique(\"shop\", \"barcode\")]) struct Card { var shop = \"\"; var barcode = \"\" }")
    }

    @Test func `an index on properties that are not stored is refused`() {
        expect(
            """
            @Model(indexes: [.index("zzz", "selected", "double")]) struct Card {
                @Transient var selected = false
                var double: Int { 2 }
            }
            """,
            reports: """
                1:25 error: 'Card' has no stored property 'zzz'
                1:32 error: 'Card' has no stored property 'selected'
                1:44 error: 'Card' has no stored property 'double'
                """,
            id: "unknownProperty")
    }

    @Test func `a property with an unreadable type is reported once`() {
        let expansion = Expansion(of: "@Model(indexes: [.index(\"made\")]) struct Card { var made = now() }")
        #expect(expansion.diagnosticIDs == ["needsType"])
    }

    @Test func `an index on properties with several values is refused`() {
        expect(
            "@Model(indexes: [.index(\"tags\")]) struct Card { var tags: [String] }",
            reports: "1:25 error: an index needs one value for each object: 'tags' has many",
            id: "manyValues")
    }

    @Test func `a repeated property in an index is refused`() {
        expect(
            "@Model(indexes: [.index(\"shop\", \"shop\")]) struct Card { var shop: String }",
            reports: "1:33 error: 'shop' is in this index already",
            id: "repeatedInIndex")
    }

    @Test func `an index without properties is refused`() {
        expect(
            "@Model(indexes: [.index()]) struct Card { var shop: String }",
            reports: "1:18 error: an index needs the name of at least one property",
            id: "emptyIndex")
    }

    @Test func `indexes that are not literal are refused`() {
        expect(
            "@Model(indexes: all) struct Card {}\n@Model(indexes: [first]) struct Person {}",
            reports: """
                1:17 error: write the indexes literally, as in '[.index("a", "b"), .unique("c", "d")]': \
                a macro sees only the text
                2:18 error: write the indexes literally, as in '[.index("a", "b"), .unique("c", "d")]': \
                a macro sees only the text
                """,
            id: "unknownIndex")
    }
}
