import Foundation
import Tandem

extension SecondAct {
    func introduce(_ server: any DemoServer) async throws {
        try story.chapter(
            "Second act: two devices and a server",
            words:
                "\(server.title), and two devices with a store each. Each command runs in its own process. A family "
                + "sees all of its cards; a card's owner is a reference to a person."
        )
        let list = phone.folder.appendingPathComponent("family.tsv")
        try Data(BrandFile.text(Self.shops.map { BrandEntry(name: $0) }).utf8).write(to: list)
        try await show("login", phone.person, "--server", server.url, on: phone, token: phone.token)
        try await show("import", "family.tsv", "--family", on: phone)
        try await show("sync", on: phone)
        try await show("login", tablet.person, "--server", server.url, on: tablet, token: tablet.token)
        try await show("sync", on: tablet)
        try await show("login", phone.person, on: tablet, ends: .noPermission)
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
            words:
                "The server is offline. The phone adds a card with a new brand and a new owner. Both devices change "
                + "the same two cards.")
        try await server.close()
        let (shop, brand, owner) = Self.offlineCard
        try await show(
            "add", shop, Self.number(1), "--points", "40", "--brand", brand, "--owner", owner, on: phone, isQuiet: true)
        try await show("edit", "лента", "--shop", "Лента 24", on: phone, isQuiet: true)
        try await show("edit", "пятерочка", "--points", "1200", on: phone, isQuiet: true)
        try await show("edit", "лента", "--points", "7777", on: tablet, isQuiet: true)
        try await show("edit", "пятерочка", "--points", "1500", on: tablet, isQuiet: true)
        try await show("star", "ローソン", on: tablet, isQuiet: true)
        try await show("delete", "ringveien", on: tablet, isQuiet: true)
        try await show("sync", on: phone, ends: .tryAgain)
        try await show("pending", on: phone)
        try check(
            (
                try phone.look().waiting.count == 5 && tablet.look().waiting.count == 4,
                "nothing is lost: 5 changes are pending on the phone, 4 on the tablet."
            ))
    }

    /// A card with a new brand and a new owner.
    private static let offlineCard = (shop: "Лавка у моря", brand: "Лавка", owner: "Ольга Приморская")

    func reconnect(_ server: any DemoServer) async throws {
        try story.chapter(
            "Back in the network",
            words:
                "An object is sent after the new objects that it refers to. Changes of different properties are "
                + "merged. The points of one card, which both devices have changed, are a conflict for the tablet's "
                + "owner.")
        try await server.reopen()
        try await show("sync", on: phone)
        try await show("sync", on: tablet, ends: .badData)
        try await show("conflicts", on: tablet)
        let conflicts = try tablet.look().waiting
        guard let conflict = conflicts.first else { throw Failure(.software, message: "There is no conflict.") }
        try await show("conflicts", "\(conflict.id)", "--mine", on: tablet)
        try await show("sync", on: tablet)
        try await show("sync", on: phone)

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
