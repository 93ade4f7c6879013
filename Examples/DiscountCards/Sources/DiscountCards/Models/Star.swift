import Tandem

/// A person's star on a card.
///
/// A star is an object, not a flag of the card, because favourites differ between people. If two people star the same
/// card offline, neither change overwrites the other.
@Model(indexes: [.unique("person", "card")]) struct Star {
    @OnDelete(.cascade) var person: Reference<Person>?
    @OnDelete(.cascade) var card: Reference<Card>?
}
