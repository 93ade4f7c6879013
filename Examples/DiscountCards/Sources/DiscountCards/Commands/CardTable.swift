import Tandem

extension Wallet {
    /// Prints the first cards of a result, and the total count.
    func printCards(_ cards: Results<Card>, limit: Int, on screen: Screen) throws {
        let count = try cards.count()
        guard count > 0 else { return screen.print("No cards.") }
        let rows = try cards.limit(limit).with(\.owner).all()
        try printRows(rows, on: screen)
        let total = rows.count < count ? "\(rows.count.grouped) of \(count.of("card"))" : count.of("card")
        screen.print("\n  " + screen.paint(total, in: .faint))
    }

    /// Prints one card.
    func printCard(_ card: Card, on screen: Screen) throws {
        try printRows([(card, try store.object(card.owner))], on: screen)
    }

    private func printRows(_ rows: [(card: Card, owner: Person?)], on screen: Screen) throws {
        let starred = try starredCards()
        var table = Table(
            .init(title: ""), .init(title: "Shop", isFlexible: true), .init(title: "Number"),
            .init(title: "Points", isNumber: true), .init(title: "Owner", isFlexible: true), .init(title: "State"))
        for (card, owner) in rows {
            let isStarred = starred.contains(card.localID)
            table.append(
                .init(isStarred ? "★" : "", colour: .star),
                .init(card.shop, colour: isStarred ? .strong : nil),
                .init(card.barcode),
                .init(card.points.grouped),
                .init(owner?.name ?? "–"),
                try stateCell(of: card))
        }
        table.print(on: screen)
    }
}
