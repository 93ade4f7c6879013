import BigInt
import Foundation
import Tandem

/// A card whose flag is not sent. Its table is that of ``Card``.
@Model(table: "Card") struct FlaggedCard {
    @Folded var shop: String
    var name: String
    @Indexed var barcode: String
    var points: BigInt = 0
    @LocalOnly var isPinned = false
    var createdOn: Date
    var payload: Data
    var note: String?
    var owner: Reference<Person>?
}

extension FlaggedCard {
    /// Creates a card with the ID and the values of another one.
    static func copy(of card: Card) -> FlaggedCard {
        FlaggedCard(
            shop: card.shop, name: card.name, barcode: card.barcode, points: card.points, isPinned: card.isPinned,
            createdOn: card.createdOn, payload: card.payload, note: card.note, owner: card.owner
        ).identified(by: card.localID)
    }
}
