import BigInt
import Foundation
import Tandem

/// A model with each kind of property that a set-based update treats differently.
@Model(indexes: [.unique("aisle", "rank")]) struct Ware {
    @Folded var name: String
    @Folded(.sorted) var shelf: String?
    @Unique var code: String?
    var aisle: Int?
    var rank: Int?
    var count = 0
    var small: Int8?
    var ratio = 0.0
    var price: Decimal = 0
    var amount: BigInt = 0
    var isNew = false
    @LocalOnly var note = ""
    @LocalOnly var isPinned = false
    var size: WareSize?
    var owner: Reference<Ware>?
    @OnDelete(.cascade) var parent: Reference<Ware>?
    @OnDelete(.deny) var keeper: Reference<Ware>?
    var rivals: [Reference<Ware>] = []
    @Inverse(\Ware.owner) var owned: InverseLinks<Ware>
}

/// A `Codable` value. Its set has several stored forms.
struct WareSize: Codable, Hashable, Sendable {
    var width: Int
    var marks: Set<String>
}
