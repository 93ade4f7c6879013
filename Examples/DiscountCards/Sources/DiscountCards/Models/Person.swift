import Tandem

/// Somebody who has cards, and likes some.
@Model struct Person {
    @Folded var name: String
    /// Whom this store was made for: who is signed in where nobody is logged in.
    @LocalOnly var isMe = false
    @Inverse(\Card.owner) var cards: InverseLinks<Card>
    @Inverse(\Star.person) var stars: InverseLinks<Star>
}
