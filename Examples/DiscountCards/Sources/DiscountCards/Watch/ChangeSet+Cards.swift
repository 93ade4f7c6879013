import Tandem

extension ChangeSet<Card> {
    /// The cards removed from the list, without those that only moved.
    var gone: [Card] {
        let moved = Set(moves.map(\.from))
        return deletions.filter { !moved.contains($0) }.map { previous[$0] }
    }

    /// The indices of new cards in the list.
    private var new: [Int] {
        let moved = Set(moves.map(\.to))
        return insertions.filter { !moved.contains($0) }
    }

    /// The old and new indices of changed cards.
    private var changed: [(old: Int, new: Int)] {
        (modifications.map { ($0.old, $0.new) } + moves.map { ($0.from, $0.to) }).sorted { $0.1 < $1.1 }
    }

    /// Returns the change in one line: `2 cards: + Лента (Ada), ~ Пятёрочка: 250 points more, − Магнит`.
    ///
    /// - Parameter owner: Returns the name of a card's owner, if known.
    func line(owner: (Card) -> String?) -> String {
        func title(_ card: Card) -> String {
            card.shop.printable + (owner(card).map { " (\($0.printable))" } ?? "")
        }
        var parts: [String]
        if isInitial {
            parts = results.prefix(4).map(title) + (results.count > 4 ? ["…"] : [])
        } else {
            parts = new.map { "+ \(title(results[$0]))" }
            parts += changed.map { old, new in
                let words = results[new].differences(from: previous[old], owner: owner)
                return "~ \(results[new].shop.printable)" + (words.isEmpty ? "" : ": " + words.joined(separator: ", "))
            }
            parts += gone.map { "− \($0.shop.printable)" }
        }
        return ([results.count.of("card")] + (parts.isEmpty ? [] : [parts.joined(separator: ", ")]))
            .joined(separator: ": ")
    }

    /// Prints the list, with marks on new and changed cards.
    func printTable(of wallet: Wallet, on screen: Screen) throws {
        guard !results.isEmpty else { return screen.print("  " + screen.paint("No cards.", in: .faint)) }
        var marks: [Int: Table.Cell] = [:]
        if !isInitial {
            for index in new { marks[index] = .init("+", colour: .good) }
            for (_, index) in changed { marks[index] = .init("~", colour: .waiting) }
        }
        var table = Table(
            .init(title: ""), .init(title: "Shop", isFlexible: true), .init(title: "Number"),
            .init(title: "Points", isNumber: true), .init(title: "Owner", isFlexible: true), .init(title: "State"))
        for (index, card) in results.enumerated() {
            table.append(
                marks[index] ?? " ", .init(card.shop, colour: card.isPinned ? .strong : nil), .init(card.barcode),
                .init(card.points.grouped), .init(try wallet.ownerName(of: card)), try wallet.stateCell(of: card))
        }
        table.print(on: screen)
    }
}

extension Card {
    /// Returns the differences to an older version, in a few words each.
    func differences(from old: Card, owner name: (Card) -> String?) -> [String] {
        var words: [String] = []
        if shop != old.shop { words.append("was \(old.shop.printable)") }
        if barcode != old.barcode { words.append("number \(barcode.printable)") }
        if points > old.points { words.append("\((points - old.points).of("point")) more") }
        if points < old.points { words.append("\((old.points - points).of("point")) less") }
        if isPinned != old.isPinned { words.append(isPinned ? "pinned" : "no longer pinned") }
        if owner != old.owner { words.append(name(self).map { "now of \($0.printable)" } ?? "another owner") }
        if isSynced != old.isSynced { words.append(isSynced ? "sent" : "to be sent") }
        return words
    }
}
