import Foundation
import Tandem
import Testing

@testable import DiscountCards

@Suite(.serialized, .timeLimit(.minutes(2))) struct WebConflictTests {
    /// Runs a body with the page of a tablet. Its card had 40 points. It has 1500 here, and 1200 on the server, with
    /// another name.
    private func withConflict(
        _ body: @escaping @Sendable (WebBrowser, InProcessServer, Store) async throws -> Void
    ) async throws {
        try await withServer { server in
            let phone = try await Gadget("Ada", token: "ada", at: server)
            let tablet = try await Gadget("Ada", token: "ada", at: server)
            try phone.add("Лента", number: 1)
            try phone.edit("лента") { $0.points = 40 }
            try await phone.sync()
            try await tablet.sync()
            try phone.edit("лента") { card in
                card.points = 1200
                card.shop = "Лента 24"
            }
            try tablet.edit("лента") { $0.points = 1500 }
            try await phone.sync()
            _ = try await tablet.failingSync()
            try await withPage(of: tablet.store) { [store = tablet.store] browser in
                try await body(browser, server, store)
            }
        }
    }

    /// Runs a body with a page that has found the login in its store.
    private func withPage(of store: Store, _ body: @escaping @Sendable (WebBrowser) async throws -> Void) async throws {
        var options = WebOptions()
        options.syncsAutomatically = false
        try await withWeb(options: options, store: store) { browser in
            try await browser.open()
            let sync = try browser.state.wallet().sync
            while sync.context == nil { try await Task.sleep(for: .milliseconds(5)) }
            try await body(browser)
        }
    }

    /// Returns the part about the sync, and the version of its change.
    private func part(_ browser: WebBrowser) async throws -> (html: String, version: String) {
        let html = String(buffer: try await browser.send(.get, to: "/parts/sync").body)
        let match = try #require(html.firstMatch(of: /data-version="([^"]+)"/))
        return (html, String(match.1))
    }

    private func decide(
        _ browser: WebBrowser, choice: String, version: String, choices: [String: String] = [:]
    ) async throws -> Int {
        struct Decision: Encodable {
            let version: String
            let choices: [String: String]
        }
        let body = try JSONEncoder().encode(Decision(version: version, choices: choices))
        let response = try await browser.send(
            .post, to: "/decisions/\(choice)", body: String(decoding: body, as: UTF8.self))
        return response.status.code
    }

    @Test func `a property that both sides changed has three choices, and another one has two`() async throws {
        try await withConflict { browser, _, _ in
            let (html, _) = try await part(browser)
            for side in ["base", "local", "server"] {
                #expect(html.contains("name=\"points\" value=\"\(side)\" required data-key"), "\(side)")
            }
            #expect(html.contains("name=\"shop\" value=\"server\" required checked"))
            #expect(html.contains("name=\"shop\" value=\"local\"") && !html.contains("name=\"shop\" value=\"base\""))
            #expect(!html.contains("name=\"barcode\""))
            for label in [
                "Points, before: 40", "Points, mine: 1,500", "Points, theirs: 1,200", "Shop, theirs: Лента 24",
            ] {
                #expect(html.contains("aria-label=\"\(label)\""), "\(label)")
            }
        }
    }

    @Test(arguments: [("local", "1500"), ("server", "1200"), ("base", "40")], ["local", "server"])
    func `the chosen values are sent`(points: (String, String), shop: String) async throws {
        try await withConflict { browser, server, store in
            let (_, version) = try await part(browser)
            let choices = ["points": points.0, "shop": shop]
            #expect(try await decide(browser, choice: "choose", version: version, choices: choices) == 204)
            while try store.operations.count() > 0 { try await Task.sleep(for: .milliseconds(5)) }
            let expected = shop == "local" ? "Лента" : "Лента 24"
            #expect(try server.cards().map(\.points) == [points.1] && server.cards().map(\.shop) == [expected])
            let card = try #require(try await store.objects(Card.self).first())
            #expect("\(card.points)" == points.1 && card.shop == expected && card.isSynced)
        }
    }

    @Test func `a decision that is not valid, or about an outdated version, changes nothing`() async throws {
        try await withConflict { browser, _, store in
            let (_, version) = try await part(browser)
            for choices in [["price": "local"], ["points": "mine"], ["localID": "server"]] {
                #expect(try await decide(browser, choice: "choose", version: version, choices: choices) == 400)
            }
            #expect(try await decide(browser, choice: "choose", version: "1-2-3") == 400)
            #expect(try await decide(browser, choice: "forget", version: version) == 404)
            try await store.write { tx in
                let card = try tx.objects(Card.self).first()
                guard let card else { return }
                _ = try tx.update(Card.self, localID: card.localID) { $0.points = 1501 }
            }
            #expect(try await decide(browser, choice: "choose", version: version, choices: ["points": "server"]) == 409)
            #expect(try await store.objects(Card.self).first()?.points == 1501)
        }
    }

    @Test func `a change that a terminal holds back can be sent from the page`() async throws {
        try await withServer { server in
            let phone = try await Gadget("Ada", token: "ada", at: server)
            try phone.add("Лента", number: 1)
            try await phone.sync()
            try phone.edit("лента") { $0.points = 7 }
            let id = try #require(try phone.firstOperation()).id
            try await CardSync(phone.store).context.hold(id)
            try await withPage(of: phone.store) { [store = phone.store] browser in
                let (html, version) = try await part(browser)
                #expect(html.contains("This change is held back") && !html.contains("type=\"radio\""))
                #expect(try await decide(browser, choice: "retry", version: version) == 204)
                while try store.operations.count() > 0 { try await Task.sleep(for: .milliseconds(5)) }
                #expect(try server.cards().map(\.points) == ["7"])
            }
        }
    }
}
