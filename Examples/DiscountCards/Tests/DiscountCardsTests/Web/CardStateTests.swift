import Foundation
import Tandem
import TandemSync
import Testing

@testable import DiscountCards

@Suite(.timeLimit(.minutes(2))) struct CardStateTests {
    private static let states: [(SyncState, String)] = [
        (.synced, "synced"), (.pending(.insert), "unsent"), (.sending(.update), "sending"), (.held(.update), "held"),
        (.waitingForFiles(1, reason: nil), "file"), (.waiting(.update, for: LocalID("x"), model: "Brand"), "unsent"),
    ]

    @Test(arguments: states) func `each state of the sync has a badge and words`(state: SyncState, name: String) {
        let badge = CardState(state)
        #expect(badge.name == name && !badge.words.isEmpty)
    }

    @Test func `the list and the card show the same state, with a photo and without`() async throws {
        try await withServer { server in
            let phone = try await Gadget("Ada", token: "ada", at: server)
            try phone.add("Лента", number: 1)
            try phone.add("Магнит", number: 2)
            let photo = try phone.store.attachments.add(
                Data(CardPicture.png(of: EAN13(payload: 1))), name: "card.png", contentType: "image/png")
            try phone.edit("лента") { $0.photo = photo }
            let wallet = WebWallet(try phone.wallet, syncsAutomatically: false)
            wallet.sync.start()
            while wallet.sync.context == nil { try await Task.sleep(for: .milliseconds(5)) }

            func expectBoth(_ words: [String]) async throws {
                let cards = try await phone.store.objects(Card.self).sorted(by: \.shop).all()
                let rows = try await wallet.sync.states(of: cards).map(\.words)
                var pages: [String] = []
                for card in cards { pages.append(try await CardView(card, in: wallet).stateWords) }
                #expect(rows == words && pages == words)
            }
            try await expectBoth(["not sent", "not sent"])
            try await phone.sync()
            try await expectBoth(["on the server", "on the server"])
            try phone.edit("магнит") { $0.points = 9 }
            let id = try #require(try phone.firstOperation()).id
            try await CardSync(phone.store).context.hold(id)
            try await expectBoth(["on the server", "held back"])
            await wallet.sync.stop()
        }
    }
}
