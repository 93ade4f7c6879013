import BigInt
import Tandem

/// A discount card: it belongs to a person, and a shop accepts it.
@Model struct Card {
    /// The shop's name as printed on the card.
    @Folded var shop: String
    /// The digits under the bar code. They are unique.
    @Unique var barcode: String
    /// The points from purchases. Some shops give more than 64 bits can hold.
    var points: BigInt = 0
    /// Whether the card is pinned on this device. It is never sent.
    @LocalOnly var isPinned = false
    /// A photograph of the card, in case its number can't be scanned.
    var photo: Attachment?
    var owner: Reference<Person>?
    var brand: Reference<Brand>?
    @Inverse(\Star.card) var stars: InverseLinks<Star>
}
