import BigInt
import Foundation
import Tandem
import TandemTesting

extension DemoStory {
    func editOffline(_ wallet: Wallet) throws {
        try chapter(
            "Edit and delete offline",
            words:
                "Local objects have a local ID and no server ID yet. Each object has at most one operation. Changing "
                + "an object that was never sent changes its insert, and deleting it removes the insert.")
        let store = wallet.store
        let queued = try store.operations.count()
        var cards = try store.objects(Card.self).sorted(by: \.shop).offset(100).limit(3).all()
        cards[0] = try store.write { tx in try tx.update(Card.self, localID: cards[0].localID) { $0.points += 250 } }
        cards[1] = try store.write { tx in try tx.update(Card.self, localID: cards[1].localID) { $0.isPinned = true } }
        try store.write { try $0.delete(cards[2]) }
        printEdits([
            (cards[0], "250 points more"), (cards[1], "pinned, on this device only"),
            (cards[2], "deleted; the server never knew it, so nothing remains"),
        ])
        printStates(cards.prefix(2))
        try check(
            try store.operations.count() == queued - 1,
            sentence: "the queue is one shorter: the deleted card's operation is "
                + "removed.")
        try check(
            try store.object(ofType: Card.self, forPrimaryKey: cards[2].localID) == nil,
            sentence: "the deleted card is not found.")
    }

    func editWhatTheServerKnows(_ wallet: Wallet) throws {
        try chapter(
            "Edit and delete what a server has stored",
            words: "Three cards as a pull brings them (the second act uses a server): they queue nothing and take the "
                + "server's ID as their local ID. Later changes are queued.")
        let store = wallet.store
        let owner = wallet.person.reference
        let time = Date(timeIntervalSince1970: 1_767_225_600)
        var cards = try ["Kept", "Edited", "Deleted"].enumerated().map { index, name in
            let number = EAN13(payload: 299_999_999_990 + UInt64(index))
            return try store.applyServerObject(
                Card(shop: "Server & Sons (\(name))", barcode: number.digits, points: 10, owner: owner),
                serverID: ServerID("srv-\(index + 1)"), version: "\"1\"", createdAt: time, updatedAt: time)
        }
        cards[1] = try store.write { tx in try tx.update(Card.self, localID: cards[1].localID) { $0.points = 20 } }
        try store.write { try $0.delete(cards[2]) }
        let all = store.objects(Card.self).includingDeleted()
        let states = try all.where { $0.shop.matches("server sons") }.sorted(by: \.barcode).all()
        printEdits(Array(zip(states, ["as it came", "10 points more", "deleted, and the server must be told"])))
        printStates(states)
        try check(
            states.map(\.isSynced) == [true, false, false], sentence: "only the untouched card counts as synced.")
        try check(
            try store.operations.operation(of: cards[1])?.changedProperties == ["points"],
            sentence: "the update names the changed property.")
        try check(states[2].isDeleted, sentence: "the deleted one stays as a tombstone, hidden from all other queries.")
    }

    func showQueue(_ wallet: Wallet) throws {
        try chapter("The operation queue", words: "The pending changes, in the order of each object's first change.")
        let operations = try wallet.store.operations.all()
        operations.printCounts(on: screen)
        screen.print()
        try (Array(operations.prefix(4)) + operations.suffix(4)).printTable(of: wallet, on: screen)
    }

    private func printEdits(_ edits: [(card: Card, what: String)]) {
        for (card, what) in edits { screen.print("  \(card.shop.printable): \(what)") }
        screen.print()
    }

    /// Prints the stored state of objects besides their properties.
    private func printStates(_ cards: some Collection<Card>) {
        var table = Table(
            .init(title: "Shop", isFlexible: true), .init(title: "Local ID"), .init(title: "Server ID"),
            .init(title: "Synced"), .init(title: "Deleted"))
        for card in cards {
            table.append(
                .init(card.shop), .init("\(card.localID)"), .init(card.serverID.map { "\($0)" } ?? "–"),
                card.isSynced ? .init("yes", colour: .good) : .init("no", colour: .waiting),
                card.isDeleted ? .init("yes", colour: .bad) : .init("no"))
        }
        table.print(on: screen)
        screen.print()
    }
}
