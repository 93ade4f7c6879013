import Foundation
import Tandem

/// The owner of a card.
@Model struct Person {
    @Folded var name: String
    var friend: Reference<Person>?
    var pets: [Reference<Pet>] = []
}

@Model struct Card {
    @Folded var shop: String
    @Unique var barcode: String
    var points: Int = 0
    var nickname: String?
    var expires: Date?
    var owner: Reference<Person>?
    @LocalOnly var note: String = ""
}

/// A model with its own names on the wire.
@Model(wireName: "animals") struct Pet {
    @Named(wire: "petName") var name: String
    var keeper: Reference<Person>?
}
