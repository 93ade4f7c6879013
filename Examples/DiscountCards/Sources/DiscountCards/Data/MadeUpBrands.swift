/// Brands for where no file of real ones is at hand: every shop of a word list, of every kind, in every city.
///
/// The names are invented. The lists hold what real input holds: twelve scripts, names in lower and upper case, accents,
/// punctuation, full-width letters.
enum MadeUpBrands {
    /// Some brands, from all scripts alike, the same in every run.
    static func entries(_ count: Int) -> [BrandEntry] {
        let lists = WordList.all
        return (0..<count).map { lists[$0 % lists.count].entry($0 / lists.count) }
    }
}

/// The words of one script that names are put together from.
struct WordList: Sendable {
    /// How a name is put together from its words.
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
    /// Words for a supermarket, a pharmacy, a café, a bakery, a bookshop and a clothes shop.
    let kinds: [String]
    let cities: [String]

    static let categories = [
        "shop/supermarket", "amenity/pharmacy", "amenity/cafe", "shop/bakery", "shop/books", "shop/clothes",
    ]

    /// How many names there are.
    var count: Int { shops.count * kinds.count * cities.count }

    /// One of the brands, each under one index below ``count``. Those that follow each other differ in all their words.
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
