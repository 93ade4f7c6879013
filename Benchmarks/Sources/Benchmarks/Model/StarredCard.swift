import BigInt
import Foundation
import Tandem

/// A card that people give stars.
@Model struct StarredCard {
    @Folded var shop: String
    var name: String
    @Indexed var barcode: String
    var points: BigInt = 0
    var isPinned = false
    var createdOn: Date
    var payload: Data
    var note: String?
    var owner: Reference<Person>?
    @Inverse(\Star.card) var stars: InverseLinks<Star>
}

/// A person's star on a card.
@Model struct Star {
    var card: Reference<StarredCard>?
    var person: Reference<Person>?
}

extension StarredCard {
    /// Creates a card with the ID and the values of another one.
    static func copy(of card: Card) -> StarredCard {
        StarredCard(
            shop: card.shop, name: card.name, barcode: card.barcode, points: card.points, isPinned: card.isPinned,
            createdOn: card.createdOn, payload: card.payload, note: card.note, owner: card.owner
        ).identified(by: card.localID)
    }
}
