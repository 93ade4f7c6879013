/// A brand in a list: a line of a file, or a generated one.
struct BrandEntry: Hashable, Sendable {
    var name: String
    /// The kind of shop: `shop/supermarket`.
    var category = ""
    /// The country codes of its regions; `001` is the world.
    var regions: [String] = []
    /// The ID of the brand in Wikidata, if it has one.
    var wikidata: String?
}
