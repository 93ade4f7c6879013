import Tandem

extension Wallet {
    /// Returns the name of a card's owner for a table.
    func ownerName(of card: Card) throws -> String { try store.object(card.owner)?.name ?? "–" }

    /// Returns a title for an object, deleted or not: “card Лента (2181670952870)”.
    func title(of model: String, id: LocalID) throws -> String {
        switch model {
        case "Card": return try find(Card.self, id: id).map { "card \($0.shop) (\($0.barcode))" } ?? "card \(id)"
        case "Person": return try find(Person.self, id: id).map { "person \($0.name)" } ?? "person \(id)"
        case "Brand": return try find(Brand.self, id: id).map { "brand \($0.name)" } ?? "brand \(id)"
        case "Star":
            guard let star = try find(Star.self, id: id), let card = try store.object(star.card) else {
                return "star \(id)"
            }
            return "star of \(try store.object(star.person)?.name ?? "a person") on \(card.shop)"
        default: return "\(model) \(id)"
        }
    }

    private func find<M: Model>(_ model: M.Type, id: LocalID) throws -> M? {
        try store.objects(M.self).includingDeleted().where { $0.localID == id }.first()
    }
}
