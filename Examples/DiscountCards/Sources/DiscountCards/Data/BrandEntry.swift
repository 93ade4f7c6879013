/// A brand as a list of brands has it: one line of a file, or one that was made up.
struct BrandEntry: Hashable, Sendable {
    var name: String
    /// What kind of shop it is: `shop/supermarket`.
    var category = ""
    /// Where it is found: country codes; `001` is the world.
    var regions: [String] = []
    /// The brand's entry in Wikidata, where it has one.
    var wikidata: String?
}
