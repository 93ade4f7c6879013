import Tandem

/// A shop or a chain of shops.
@Model struct Brand {
    @Unique var name: String
    /// The kinds of the brand's shops: `shop/supermarket`, `amenity/fuel`.
    var categories: [String] = []
    /// The country codes of its regions; `001` is the world.
    var regions: Set<String> = []
    /// The ID of the brand in Wikidata.
    var wikidata: String?
    @Inverse(\Card.brand) var cards: InverseLinks<Card>
}
