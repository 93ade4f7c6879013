import BigInt
import Foundation
import Tandem

/// A discount card: the object of the benchmarks.
@Model struct Card {
    @Folded var shop: String
    var name: String
    @Indexed var barcode: String
    var points: BigInt = 0
    var isPinned = false
    var createdOn: Date
    var payload: Data
    var note: String?
    var owner: Reference<Person>?
}

@Model struct Person {
    @Folded var name: String
}

/// An object with a file.
@Model struct Film {
    var title: String
    var file: Attachment?
}
