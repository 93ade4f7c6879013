import Tandem

/// A model with each kind of index that queries use.
@Model(indexes: [.index("isSpent", "shop")]) struct Voucher {
    @Folded var shop: String
    @Folded(.sorted) var city: String?
    @Unique var number: String
    @Indexed var code: String = ""
    var points: Int = 0
    var price: Int = 0
    var isSpent = false
    var isPinned = false
    var holder: Reference<Holder>?
}

@Model struct Holder {
    @Folded var name: String
}
