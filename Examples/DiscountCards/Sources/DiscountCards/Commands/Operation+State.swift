import Tandem

extension Tandem.Operation {
    /// How far it is on its way to the server, in words.
    var stateInWords: (String, Colour) {
        switch state {
        case .failed: error?.serverItem == nil ? ("refused", .bad) : ("in conflict", .bad)
        case .held: ("held back", .waiting)
        case .attempted: ("no answer yet", .waiting)
        case .pending: ("not sent", .waiting)
        }
    }
}

extension Wallet {
    /// How far a card is on its way to the server, and whether it is kept at hand, in a table's cell.
    func stateCell(of card: Card) throws -> Table.Cell {
        let (words, colour) =
            card.isSynced
            ? ("on the server", .good)
            : try store.operations.operation(of: card)?.stateInWords ?? ("not sent", .waiting)
        return .init(words + (card.isPinned ? ", pinned" : ""), colour)
    }
}
