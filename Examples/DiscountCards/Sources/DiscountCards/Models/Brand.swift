import Tandem

/// A shop or a chain of shops.
@Model struct Brand {
    @Unique var name: String
    /// What kinds of shop it has: `shop/supermarket`, `amenity/fuel`.
    var categories: [String] = []
    /// Where it is found: country codes; `001` is the world.
    var regions: Set<String> = []
    /// The brand's entry in Wikidata.
    var wikidata: String?
    @Inverse(\Card.brand) var cards: InverseLinks<Card>
}
