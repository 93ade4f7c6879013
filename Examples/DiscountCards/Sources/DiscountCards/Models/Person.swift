import Tandem

/// A person with cards and favourites.
@Model struct Person {
    @Folded var name: String
    /// Whether the store was created for this person, who is signed in by default.
    @LocalOnly var isMe = false
    @Inverse(\Card.owner) var cards: InverseLinks<Card>
    @Inverse(\Star.person) var stars: InverseLinks<Star>
}
