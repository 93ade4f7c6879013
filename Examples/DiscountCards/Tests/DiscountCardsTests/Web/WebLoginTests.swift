import Foundation
import HTTPTypes
import HummingbirdTesting
import Tandem
import Testing

@testable import DiscountCards

@Suite(.serialized, .timeLimit(.minutes(2))) struct WebLoginTests {
    private struct Problem: Decodable {
        let fields: [String: String]
    }

    private var manual: WebOptions {
        var options = WebOptions()
        options.syncsAutomatically = false
        return options
    }

    private func logIn(
        _ browser: WebBrowser, as name: String, server: String, token: String = "", data: String = ""
    ) async throws -> TestResponse {
        let values = ["name": name, "server": server, "token": token, "data": data]
        return try await browser.send(
            .post, to: "/login", body: String(decoding: try JSONEncoder().encode(values), as: UTF8.self))
    }

    private func fields(_ response: TestResponse) throws -> [String] {
        try WebBrowser.value(Problem.self, of: response).fields.keys.sorted()
    }

    private func sync(_ browser: WebBrowser) async throws {
        let wallet = try browser.state.wallet()
        while wallet.sync.context == nil { try await Task.sleep(for: .milliseconds(5)) }
        #expect(try await browser.send(.post, to: "/sync", bytes: nil).status == .accepted)
        while try wallet.store.operations.count() > 0 { try await Task.sleep(for: .milliseconds(5)) }
    }

    @Test func `each field of a login that is not valid has a message`() async throws {
        try await withWeb(options: manual) { browser in
            try await browser.open()
            let empty = try await logIn(browser, as: " ", server: "")
            #expect(try empty.status == .unprocessableContent && fields(empty) == ["name", "server"])
            let wrong = try await logIn(browser, as: "Ada", server: "ftp://a.b", token: "a b")
            #expect(try fields(wrong) == ["server", "token"])
            let kinto = try await logIn(browser, as: "Ada", server: "http://a.b/v1/buckets/cards", token: "secret")
            #expect(try fields(kinto) == ["token"])
            #expect(try await logIn(browser, as: "Ada", server: "http://a.b", data: "burn").status == .badRequest)
            #expect(try await browser.send(.post, to: "/login", body: "{}").status == .badRequest)
            #expect(try Session.current(in: browser.state.wallet().store) == nil)
        }
    }

    @Test func `a login is stored, changes the person, and lets the page exchange cards`() async throws {
        try await withServer { server in
            try await withWeb(options: manual) { browser in
                try await browser.open()
                let form = String(buffer: try await browser.send(.get, to: "/parts/login").body)
                #expect(form.contains("id=\"login-form\"") && form.contains("value=\"Ada\""))
                let response = try await logIn(browser, as: "Мария", server: server.url, token: "maria")
                #expect(response.status == .noContent)
                let wallet = try browser.state.wallet()
                #expect(wallet.wallet.person.name == "Мария")
                #expect(try await wallet.sync.line().person == "Мария")
                let card = #"{"shop": "Лента", "number": "4006381333931", "points": "7"}"#
                #expect(try await browser.send(.post, to: "/cards", body: card).status == .created)
                try await sync(browser)
                #expect(try server.cards().map(\.owner) == ["Мария"])
                for path in ["/", "/parts/login", "/parts/sync"] {
                    let html = String(buffer: try await browser.send(.get, to: path, headers: WebBrowser.html).body)
                    #expect(!html.contains("maria"), "the token is on \(path)")
                }
                // An empty token keeps the present one.
                #expect(try await logIn(browser, as: "Мария", server: server.url).status == .noContent)
                #expect(try Session.current(in: wallet.store)?.token == "maria")
            }
        }
    }

    @Test func `another person's cards stay until the user decides`() async throws {
        try await withServer { server in
            try await withWeb(options: manual) { browser in
                try await browser.open()
                #expect(try await logIn(browser, as: "Ada", server: server.url, token: "ada").status == .noContent)
                let card = #"{"shop": "Лента", "number": "4006381333931", "points": "7"}"#
                #expect(try await browser.send(.post, to: "/cards", body: card).status == .created)
                let wallet = try browser.state.wallet()
                let refused = try await logIn(browser, as: "Мария", server: server.url, token: "maria")
                #expect(try refused.status == .unprocessableContent && fields(refused) == ["data"])
                #expect(wallet.wallet.person.name == "Ada")
                #expect(try await wallet.store.objects(Card.self).count() == 1)
                let dropped = try await logIn(browser, as: "Мария", server: server.url, token: "maria", data: "purge")
                #expect(dropped.status == .noContent)
                #expect(wallet.wallet.person.name == "Мария")
                #expect(try await wallet.store.objects(Card.self).count() == 0)
            }
        }
    }

    @Test func `a server that was started for a person keeps that person`() async throws {
        let store = try Store(inMemoryModels: Wallet.models)
        let wallet = WebWallet(try Wallet(store, as: "Ada"), syncsAutomatically: false, followsLogin: false)
        try await CardLogin(name: "Мария", server: "http://127.0.0.1:1", token: nil, choice: nil).run(in: store)
        try wallet.sync.signIn(Wallet(store, as: nil))
        #expect(wallet.wallet.person.name == "Ada")
    }

    @Test func `a session with an address that is not valid ends the connection of the earlier session`() async throws {
        try await withServer { server in
            try await withWeb(options: manual) { browser in
                try await browser.open()
                #expect(try await logIn(browser, as: "Ada", server: server.url, token: "ada").status == .noContent)
                let sync = try browser.state.wallet().sync
                while sync.context == nil { try await Task.sleep(for: .milliseconds(5)) }
                try Session(name: "Ada", server: "ftp://a.b", token: "").save(in: browser.state.wallet().store)
                while sync.context != nil { try await Task.sleep(for: .milliseconds(5)) }
                while try await sync.line().problem == nil { try await Task.sleep(for: .milliseconds(5)) }
                #expect(try await sync.line().problem?.contains("is not a valid server URL") == true)
                #expect(try await browser.send(.post, to: "/sync", bytes: nil).status == .conflict)
            }
        }
    }
}
