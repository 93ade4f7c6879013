import Tandem

/// One person's liking for one card.
///
/// It is an object of its own, not a flag of the card: a card that Ada likes is not thereby one that Maria likes, and
/// two people who star the same card offline do not overwrite each other.
@Model(indexes: [.unique("person", "card")]) struct Star {
    @OnDelete(.cascade) var person: Reference<Person>?
    @OnDelete(.cascade) var card: Reference<Card>?
}
