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
    @LocalOnly var isPinned = false
    var owner: Reference<Person>?
    var badges: [Reference<Badge>] = []
    @Transient var isSelected = false
}
