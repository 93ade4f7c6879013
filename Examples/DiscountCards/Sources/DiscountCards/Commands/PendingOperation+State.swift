import Tandem

extension PendingOperation {
    /// The operation's state in words.
    var stateInWords: (String, Colour) {
        switch state {
        case .failed: error?.serverItem == nil ? ("refused", .bad) : ("in conflict", .bad)
        case .held: ("held back", .waiting)
        case .attempted: ("no response yet", .waiting)
        case .pending: ("not sent", .waiting)
        }
    }
}

extension Wallet {
    /// Returns the table cell with a card's sync state and whether it is pinned.
    func stateCell(of card: Card) throws -> Table.Cell {
        let (words, colour) =
            card.isSynced
            ? ("on the server", .good)
            : try store.operations.operation(of: card)?.stateInWords ?? ("not sent", .waiting)
        return .init(words + (card.isPinned ? ", pinned" : ""), colour: colour)
    }
}
