import Tandem

/// Somebody who has cards, and likes some.
@Model struct Person {
    @Folded var name: String
    @Inverse(\Card.owner) var cards: InverseLinks<Card>
    @Inverse(\Star.person) var stars: InverseLinks<Star>
}
