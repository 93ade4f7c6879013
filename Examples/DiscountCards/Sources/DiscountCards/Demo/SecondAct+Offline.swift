import Foundation
import Tandem

extension SecondAct {
    func introduce(_ server: any DemoServer) async throws {
        try story.chapter(
            "Second act: two devices and a server",
            "\(server.title), and two devices with a store each. Each command runs in its own process. A family sees "
                + "all of its cards; a card's owner is a reference to a person."
        )
        let list = phone.folder.appendingPathComponent("family.tsv")
        try Data(BrandFile.text(Self.shops.map { BrandEntry(name: $0) }).utf8).write(to: list)
        try await show(phone, "login", phone.person, "--server", server.url, token: phone.token)
        try await show(phone, "import", "family.tsv", "--family")
        try await show(phone, "sync")
        try await show(tablet, "login", tablet.person, "--server", server.url, token: tablet.token)
        try await show(tablet, "sync")
        try await show(tablet, "login", phone.person, ends: .noPermission)
        let (onPhone, onTablet) = try (phone.look(), tablet.look())
        let (people, cards) = try await (server.count(of: "person"), server.cards())
        try check(
            (
                people == Family.names.count && onPhone.people == people && onTablet.people == people,
                "\(tablet.person), whom both devices have added, is one person on both, and on the server."
            ),
            (
                onPhone.cards == cards && onTablet.cards == cards && cards.count == Self.shops.count,
                "both devices and the server have the same \(Self.shops.count.of("card"))."
            ))
    }

    func editWithoutSignal(_ server: any DemoServer) async throws {
        try story.chapter(
            "In a shop without a signal",
            "The server is offline. The phone adds a card with a new brand and a new owner. Both devices change the "
                + "same two cards.")
        try await server.close()
        let (shop, brand, owner) = Self.offlineCard
        try await show(
            phone, "add", shop, Self.number(1), "--points", "40", "--brand", brand, "--owner", owner, isQuiet: true)
        try await show(phone, "edit", "лента", "--shop", "Лента 24", isQuiet: true)
        try await show(phone, "edit", "пятерочка", "--points", "1200", isQuiet: true)
        try await show(tablet, "edit", "лента", "--points", "7777", isQuiet: true)
        try await show(tablet, "edit", "пятерочка", "--points", "1500", isQuiet: true)
        try await show(tablet, "star", "ローソン", isQuiet: true)
        try await show(tablet, "delete", "ringveien", isQuiet: true)
        try await show(phone, "sync", ends: .tryAgain)
        try await show(phone, "pending")
        try check(
            (
                try phone.look().waiting.count == 5 && tablet.look().waiting.count == 4,
                "nothing is lost: 5 changes are pending on the phone, 4 on the tablet."
            ))
    }

    /// A card with a new brand and a new owner.
    private static let offlineCard = (shop: "Лавка у моря", brand: "Лавка", owner: "Ольга Приморская")

    func meet(_ server: any DemoServer) async throws {
        try story.chapter(
            "Back in the network",
            "An object is sent after the new objects that it refers to. Changes of different properties are merged. "
                + "The points of one card, which both devices have changed, are a conflict for the tablet's owner.")
        try await server.reopen()
        try await show(phone, "sync")
        try await show(tablet, "sync", ends: .badData)
        try await show(tablet, "conflicts")
        let conflicts = try tablet.look().waiting
        guard let conflict = conflicts.first else { throw Failure(.software, "There is no conflict.") }
        try await show(tablet, "conflicts", "\(conflict.id)", "--mine")
        try await show(tablet, "sync")
        try await show(phone, "sync")

        let (cards, onPhone, onTablet) = try await (server.cards(), phone.look(), tablet.look())
        func card(_ shop: String) -> SharedCard? { cards.first { $0.shop == shop } }
        let new = card(Self.offlineCard.shop)
        try check(
            (
                new?.owner == Self.offlineCard.owner && new?.brand == Self.offlineCard.brand,
                "the card made offline has its owner and its brand on the server, both made offline too."
            ),
            (card("Лента 24")?.points == "7777", "Лента has the phone's new name and the tablet's points."),
            (
                conflicts.count == 1 && card("Пятёрочка")?.points == "1500",
                "one conflict, and Пятёрочка has the chosen points."
            ),
            (
                cards.count == Self.shops.count && card("Ringveien Kiosk") == nil,
                "the card that the tablet deleted is removed everywhere."
            ),
            (onPhone.cards == cards && onTablet.cards == cards, "both devices have the server's cards."))
    }
}
