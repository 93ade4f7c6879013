import Testing

/// The getter and the diagnostics of `@Inverse`.
@Suite struct InverseDiagnosticTests {
    @Test func `the model may be nested in another type`() {
        expect(
            "@Model struct Person { @Inverse(\\Shop.Card.owner) var cards: InverseLinks<Shop.Card> }",
            toContain: [
                "Tandem.InverseLinks(to: self.__state.localID, through: \\Shop.Card.Columns.owner)",
                "var cards: Tandem.InverseProperty<Person, Shop.Card> {",
            ])
    }

    @Test func `the reference may be a keyword in backticks`() {
        expect(
            "@Model struct Person { @Inverse(\\Card.`in`) var cards: Tandem.InverseLinks<Card> }",
            toContain: ["through: \\Card.Columns.`in`)"])
    }

    @Test func `an inverse outside a model is refused`() {
        expect(
            "struct Person { @Inverse(\\Card.owner) var cards: InverseLinks<Card> }",
            reports: """
                1:17 error: @Inverse is only valid in a struct marked @Model
                    fix-it: remove '@Inverse'
                """,
            id: "outsideModel",
            fixed: "struct Person { var cards: InverseLinks<Card> }")
    }

    @Test func `a constant inverse becomes a variable`() {
        expect(
            "@Model struct Person { @Inverse(\\Card.owner) let cards: InverseLinks<Card> }",
            reports: """
                1:46 error: @Inverse belongs to a 'var'
                    fix-it: make it 'var'
                """,
            id: "inverseNeedsVariable",
            fixed: "@Model struct Person { @Inverse(\\Card.owner) var cards: InverseLinks<Card> }")
    }

    @Test func `a path without a model gets it from the type`() {
        expect(
            "@Model struct Person { @Inverse(\\.owner) var cards: InverseLinks<Card> }",
            reports: """
                1:33 error: @Inverse needs a model's reference: '\\Card.owner'
                    fix-it: replace with '\\Card.owner'
                """,
            id: "inverseNeedsReference",
            fixed: "@Model struct Person { @Inverse(\\Card.owner) var cards: InverseLinks<Card> }")
    }

    @Test(arguments: ["\\Card.owner?.name", "\\Card.[0]", "path", "\\Card"])
    func `an argument that is not a path to a reference is refused`(argument: String) {
        expect(
            "@Model struct Person { @Inverse(\(argument)) var cards: InverseLinks<Card> }",
            reports: "1:33 error: @Inverse needs a model's reference: '\\Card.owner'",
            id: "inverseNeedsReference")
    }

    @Test func `the type must contain the model of the path`() {
        expect(
            """
            @Model struct Person {
                @Inverse(\\Card.owner) var cards: [Card]
                @Inverse(\\Card.owner) var others: InverseLinks<Brand>
                @Inverse(\\Card.owner) var rest
            }
            """,
            reports: """
                2:38 error: the type of these inverse links must be 'InverseLinks<Card>'
                    fix-it: make it 'InverseLinks<Card>'
                3:39 error: the type of these inverse links must be 'InverseLinks<Card>'
                    fix-it: make it 'InverseLinks<Card>'
                4:31 error: the type of these inverse links must be 'InverseLinks<Card>'
                    fix-it: make it 'InverseLinks<Card>'
                """,
            id: "inverseNeedsType",
            fixed: """
                @Model struct Person {
                    @Inverse(\\Card.owner) var cards: InverseLinks<Card>
                    @Inverse(\\Card.owner) var others: InverseLinks<Card>
                    @Inverse(\\Card.owner) var rest: InverseLinks<Card>
                }
                """)
    }

    @Test func `a value of inverse links is refused`() {
        expect(
            "@Model struct Person { @Inverse(\\Card.owner) var cards: InverseLinks<Card> = none }",
            reports: """
                1:50 error: inverse links can't have a value: the store queries them
                    fix-it: remove the value
                """,
            id: "inverseHasValue",
            fixed: "@Model struct Person { @Inverse(\\Card.owner) var cards: InverseLinks<Card> }")
    }
}
