import Foundation
import Tandem

extension SecondAct {
    func mend(_ server: any DemoServer) async throws {
        try story.chapter(
            "A refused change",
            words:
                "Card numbers are unique, and the tablet does not know yet that the phone has used this one. The "
                + "server refuses the second card. It stays in the queue with the reason until it is corrected. All "
                + "other changes are exchanged.")
        let (number, other) = (Self.number(2), Self.number(3))
        try await show("add", "Аптека на углу", number, on: phone, isQuiet: true)
        try await show("sync", on: phone)
        try await show("add", "Книги на Невском", number, on: tablet, isQuiet: true)
        try await show("sync", on: tablet, ends: .badData)
        try await show("conflicts", on: tablet)
        let before = try await server.cards().filter { $0.number == number }.map(\.shop)
        try check(
            (
                try before == ["Аптека на углу"] && tablet.look().waiting.map(\.state) == [.failed],
                "the server has one card with this number; the other one is pending on the tablet."
            ))
        story.screen.print()
        try await show("edit", number, "--number", other, on: tablet, isQuiet: true)
        try await show("sync", on: tablet)
        try await show("sync", on: phone)
        let shops = try await Dictionary(grouping: server.cards(), by: \.number).mapValues { $0.map(\.shop) }
        try check(
            (
                shops[number] == ["Аптека на углу"] && shops[other] == ["Книги на Невском"],
                "both cards are on the server, each with a number of its own."
            ))
    }

    func loseResponse(_ server: any DemoServer) async throws {
        try story.chapter(
            "A lost response",
            words:
                "The server stores a new card, but the connection breaks before the phone receives the response. For "
                + "the phone, the request may also be lost: it asks the server again, and must not create a second "
                + "card.")
        let shop = "Кофейня на причале"
        try await show("add", shop, Self.number(4), on: phone, isQuiet: true)
        try await server.loseNextResponse()
        try await show("sync", on: phone, ends: .tryAgain)
        let kept = try await server.cards().count { $0.shop == shop }
        try check(
            (try kept == 1 && phone.look().waiting.count == 1, "the server has the card, and the phone does not know."))
        story.screen.print()
        try await show("sync", on: phone)
        let all = try await server.cards().count { $0.shop == shop }
        try check((try all == 1 && phone.look().waiting.isEmpty, "the server has it once, and the phone knows."))
    }

    func compare(_ server: any DemoServer) async throws {
        try story.chapter(
            "The same cards on both",
            words: "As each person sees them: \(tablet.person) has given ローソン a star, which only that person sees.")
        try await show("sync", on: tablet)
        try await show("list", on: phone)
        try await show("list", on: tablet)
        let (onPhone, onTablet, onServer) = try await (phone.look(), tablet.look(), server.cards())
        try check(
            (
                onPhone.cards == onTablet.cards && onPhone.cards.count == Self.shops.count + 3,
                "both devices show the same \(onPhone.cards.count.of("card"))."
            ),
            (
                onServer == onPhone.cards && Set(onServer.map(\.number)).count == onServer.count,
                "the server has each of them once, and no others."
            ),
            (
                [onPhone, onTablet].allSatisfy { $0.waiting.isEmpty && $0.damage.isEmpty },
                "nothing is left to be sent, and SQLite reports no errors in either file."
            ))
    }
}
