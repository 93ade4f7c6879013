import BigInt
import Foundation
import Tandem

@Model struct Person {
    @Folded var name: String
    @Inverse(\Card.owner) var cards: InverseLinks<Card>
}

@Model struct Badge {
    @Unique var name: String
}

@Model(indexes: [.index("isPinned", "shop")]) struct Card {
    @Folded var shop: String
    @Indexed var barcode: String
    var points: BigInt = 0
    var visits: Int = 0
    var discount: Double?
    @LocalOnly var isPinned = false
    var addedAt: Date?
    var note: String?
    var owner: Reference<Person>?
    @Named(wire: "badgeList") var badges: [Reference<Badge>] = []
    var photo: Attachment?
}
