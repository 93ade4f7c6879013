/// Generated brands, if no file of real ones exists: each shop of a word list, of each kind, in each city.
///
/// The names are invented, but as varied as real input: twelve scripts, lower and upper case, accents, punctuation,
/// full-width letters.
enum MadeUpBrands {
    /// Returns brands from all scripts in turn, the same in each run.
    static func entries(_ count: Int) -> [BrandEntry] {
        let lists = WordList.all
        return (0..<count).map { lists[$0 % lists.count].entry($0 / lists.count) }
    }
}

/// The words of one script for generated names.
struct WordList: Sendable {
    /// The order of the words in a name.
    enum Order: Sendable {
        /// Books Zellmann Lisboa.
        case kindShopCity
        /// Zellmann Books Lisboa.
        case shopKindCity
        /// 星見堂書店 京都: shop and kind are one word.
        case shopKindTogetherCity
    }

    let script: String
    let order: Order
    let region: String
    let shops: [String]
    /// The words for a supermarket, a pharmacy, a café, a bakery, a bookshop and a clothes shop.
    let kinds: [String]
    let cities: [String]

    static let categories = [
        "shop/supermarket", "amenity/pharmacy", "amenity/cafe", "shop/bakery", "shop/books", "shop/clothes",
    ]

    /// The number of different names.
    var count: Int { shops.count * kinds.count * cities.count }

    /// Returns the brand with an index below ``count``. Consecutive brands differ in all words.
    func entry(_ index: Int) -> BrandEntry {
        let (round, shop) = index.quotientAndRemainder(dividingBy: shops.count)
        let kind = (round + shop) % kinds.count
        let city = cities[(round / kinds.count + shop) % cities.count]
        let name =
            switch order {
            case .kindShopCity: "\(kinds[kind]) \(shops[shop]) \(city)"
            case .shopKindCity: "\(shops[shop]) \(kinds[kind]) \(city)"
            case .shopKindTogetherCity: "\(shops[shop])\(kinds[kind]) \(city)"
            }
        return BrandEntry(name: name, category: Self.categories[kind], regions: [region])
    }
}
