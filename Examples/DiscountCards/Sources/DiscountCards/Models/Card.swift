import BigInt
import Tandem

/// A discount card: it belongs to a person, and a shop takes it.
@Model struct Card {
    /// The shop's name as it stands on the card.
    @Folded var shop: String
    /// The digits under the bar code. No two cards have the same.
    @Unique var barcode: String
    /// Collected with each purchase. Some shops give so many that 64 bits do not hold them.
    var points: BigInt = 0
    /// Kept at hand on this device only: it is never sent.
    @LocalOnly var isPinned = false
    /// The card itself, for when its number can't be read.
    var photo: Attachment?
    var owner: Reference<Person>?
    var brand: Reference<Brand>?
    @Inverse(\Star.card) var stars: InverseLinks<Star>
}
