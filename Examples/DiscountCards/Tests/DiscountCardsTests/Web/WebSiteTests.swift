import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import NIOCore
import PageServer
import Tandem
import Testing

@testable import DiscountCards

@Suite(.timeLimit(.minutes(2))) struct WebSiteTests {
    private struct Saved: Decodable { let id: String }
    private struct Deleted: Decodable { let undo: String }
    private struct Problem: Decodable {
        let message: String
        let fields: [String: String]
    }

    private static let card = #"{"shop": "Лента", "number": "4006381333931", "points": "7"}"#

    private func add(_ browser: WebBrowser, body: String = card) async throws -> String {
        let response = try await browser.send(.post, to: "/cards", body: body)
        #expect(response.status == .created)
        return try WebBrowser.value(Saved.self, of: response).id
    }

    @Test func `each response has the security headers, and the session's cookie is strict`() async throws {
        try await withWeb { browser in
            let page = try await browser.open()
            #expect(page.status == .ok)
            let cookie = try #require(page.headers[.setCookie])
            #expect(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict") && cookie.contains("Path=/"))
            for path in ["/", "/assets/app.js", "/nothing", "/parts/cards/x"] {
                let response = try await browser.send(.get, to: path)
                let policy = try #require(response.headers[.contentSecurityPolicy])
                #expect(policy.contains("default-src 'none'") && policy.contains("script-src 'self';"))
                #expect(!policy.contains("unsafe"))
                #expect(response.headers[.xContentTypeOptions] == "nosniff")
            }
        }
    }

    @Test func `a request without a session or a token changes nothing`() async throws {
        try await withWeb { browser in
            let stranger = try await browser.client.execute(
                uri: "/cards", method: .post, body: ByteBuffer(string: Self.card))
            #expect(stranger.status == .unauthorized)
            try await browser.open()
            let forged = try await browser.send(.post, to: "/cards", body: Self.card, withToken: false)
            #expect(forged.status == .forbidden)
            let wrong = try await browser.send(
                .post, to: "/cards", headers: [browser.state.tokenHeader: SecretText().text], body: Self.card,
                withToken: false)
            #expect(wrong.status == .forbidden)
            #expect(try await browser.state.wallet().store.objects(Card.self).count() == 0)
            _ = try await add(browser)
            #expect(try await browser.state.wallet().store.objects(Card.self).count() == 1)
        }
    }

    @Test func `a request from another site is rejected, with the right token too`() async throws {
        try await withWeb { browser in
            try await browser.open()
            let site = try #require(HTTPField.Name("Sec-Fetch-Site"))
            for headers in [
                [.origin: "http://evil.example"], [.origin: "null"], [.origin: "http://localhost:9"],
                [site: "cross-site"], [site: "same-site"],
            ] as [HTTPFields] {
                let response = try await browser.send(.post, to: "/cards", headers: headers, body: Self.card)
                #expect(response.status == .forbidden)
                for path in ["/rows?stream=x&from=0&to=9", "/parts/sync", "/assets/app.js"] {
                    #expect(try await browser.send(.get, to: path, headers: headers).status == .forbidden)
                }
            }
            let own = try await browser.send(
                .post, to: "/cards", headers: [.origin: "http://localhost", site: "same-origin"], body: Self.card)
            #expect(own.status == .created)
        }
    }

    @Test func `a link from another site loads the page again instead of replacing the session`() async throws {
        try await withWeb { browser in
            let site = try #require(HTTPField.Name("Sec-Fetch-Site"))
            let response = try await browser.client.execute(
                uri: "/", method: .get, headers: [.accept: "text/html", site: "cross-site"])
            #expect(response.status == .ok && response.headers[.setCookie] == nil)
            #expect(String(buffer: response.body).contains("http-equiv=\"refresh\""))
        }
    }

    @Test func `a server with a password shows nothing without it, and accepts few attempts`() async throws {
        var options = WebOptions()
        options.password = "correct horse"
        try await withWeb(options: options) { browser in
            let gate = try await browser.open()
            #expect(String(buffer: gate.body).contains("Password of this server"))
            for path in ["/events", "/parts/sync", "/rows?stream=x&from=0&to=1"] {
                #expect(try await browser.send(.get, to: path).status == .unauthorized)
            }
            #expect(try await browser.send(.post, to: "/cards", body: Self.card).status == .unauthorized)
            let forged = try await browser.send(.post, to: "/enter", body: "token=x&secret=correct+horse")
            #expect(forged.status == .forbidden)
            let before = browser.token
            for _ in 0..<AttemptLimit.count - 1 {
                let wrong = try await browser.send(.post, to: "/enter", body: "token=\(browser.token)&secret=wrong")
                #expect(wrong.status == .unauthorized)
            }
            let right = try await browser.send(.post, to: "/enter", body: "token=\(browser.token)&secret=correct+horse")
            #expect(right.status == .seeOther && right.headers[.setCookie] != nil)
            try await browser.open()
            #expect(browser.token != before)
            _ = try await add(browser)

            let other = WebBrowser(browser.client, state: browser.state)
            try await other.open()
            for _ in 0..<2 { try await other.send(.post, to: "/enter", body: "token=\(other.token)&secret=wrong") }
            let late = try await other.send(.post, to: "/enter", body: "token=\(other.token)&secret=correct+horse")
            #expect(late.status == .tooManyRequests)
        }
    }

    @Test func `an encrypted store asks each browser for the passphrase`() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("cards-web-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appendingPathComponent("secret.tandem").path
        do {
            let store = try Wallet.openStore(at: path, passphrase: "open sesame")
            _ = try Wallet(store, as: "Ada")
            store.close()
        }
        #expect(WebState.isEncrypted(path) && !WebState.isEncrypted(path + "-none"))
        let state = try WebState(
            .init(path: path, name: nil), wallet: nil, options: WebOptions(), resources: webResources)
        let router = WebRoutes(state: state).makeRouter()
        try await Application(router: router).test(.router) { client in
            for _ in 0..<2 {
                let browser = WebBrowser(client, state: state)
                let gate = try await browser.open()
                #expect(String(buffer: gate.body).contains("Passphrase of secret.tandem"))
                #expect(try await browser.send(.get, to: "/parts/sync").status == .unauthorized)
                let wrong = try await browser.send(.post, to: "/enter", body: "token=\(browser.token)&secret=sesame")
                #expect(wrong.status == .unauthorized)
                let right = try await browser.send(
                    .post, to: "/enter", body: "token=\(browser.token)&secret=open+sesame")
                #expect(right.status == .seeOther)
                #expect(String(buffer: try await browser.open().body).contains("id=\"list\""))
            }
        }
        await state.stop()
        try state.wallet().store.close()
    }

    @Test(arguments: TemplateTests.hostile) func `markup in a field is text on each part`(text: String) async throws {
        try await withWeb { browser in
            try await browser.open()
            let values = ["shop": text, "number": "4006381333931", "points": "7"]
            let body = String(decoding: try JSONEncoder().encode(values), as: UTF8.self)
            let response = try await browser.send(.post, to: "/cards", body: body)
            // U+0000 and white space may be refused. All other texts are stored as they are.
            guard response.status == .created else {
                #expect(response.status.code >= 400 && response.status.code < 500 && text.contains("\0"))
                return
            }
            let id = try WebBrowser.value(Saved.self, of: response).id
            for path in ["/parts/cards/\(id)", "/parts/cards/\(id)/edit", "/parts/sync"] {
                let html = String(buffer: try await browser.send(.get, to: path).body)
                #expect(html.contains(ScalarEscaping().escapeText(text)), "\(path)")
                #expect(!html.contains("<script") && !html.contains("<img") && !html.contains("<b>"))
            }
        }
    }

    @Test func `a form's problems have messages, and hostile bodies are refused`() async throws {
        try await withWeb { browser in
            try await browser.open()
            let bad = try await browser.send(
                .post, to: "/cards", body: #"{"shop": "", "number": "1", "points": "-"}"#)
            #expect(bad.status == .unprocessableContent)
            #expect(try WebBrowser.value(Problem.self, of: bad).fields.keys.sorted() == ["number", "points", "shop"])
            for body in ["", "{", "[]", #"{"shop": 7}"#, "null"] {
                #expect(try await browser.send(.post, to: "/cards", body: body).status == .badRequest)
            }
            let long = String(repeating: "x", count: 1 << 20)
            #expect(try await browser.send(.post, to: "/cards", body: long).status == .contentTooLarge)
            #expect(try await browser.send(.get, to: "/events?q=\(long.prefix(1000))").status == .badRequest)
            for path in [
                "/cards/../../etc/passwd", "/assets/..%2f..%2fPackage.swift", "/assets/page.mustache",
                "/parts/cards/%00", "/rows?stream=x&from=-1&to=5", "/decisions/mine",
            ] {
                let response = try await browser.send(.get, to: path)
                #expect(response.status.code >= 400 && response.status.code < 500, "\(path): \(response.status)")
            }
        }
    }

    @Test func `a card is added, changed, starred, deleted and restored`() async throws {
        try await withWeb { browser in
            try await browser.open()
            let id = try await add(browser)
            let changed = try await browser.send(
                .post, to: "/cards/\(id)", body: #"{"shop": "Лента 24", "number": "4006381333931", "points": "8"}"#)
            #expect(changed.status == .ok)
            try await browser.send(.post, to: "/cards/\(id)/star", bytes: nil)
            let html = String(buffer: try await browser.send(.get, to: "/parts/cards/\(id)").body)
            #expect(html.contains("Лента 24") && html.contains("aria-pressed=\"true\"") && html.contains("<svg"))
            #expect(html.contains(">not sent<"))
            let deleted = try await browser.send(.delete, to: "/cards/\(id)", bytes: nil)
            #expect(try await browser.send(.get, to: "/parts/cards/\(id)").status == .notFound)
            let undo = try WebBrowser.value(Deleted.self, of: deleted).undo
            #expect(try await browser.send(.post, to: "/undo/\(undo)", bytes: nil).status == .ok)
            #expect(try await browser.send(.get, to: "/parts/cards/\(id)").status == .ok)
            #expect(try await browser.send(.post, to: "/undo/\(undo)", bytes: nil).status == .gone)
            #expect(try await browser.send(.delete, to: "/cards/unknown", bytes: nil).status == .notFound)
        }
    }

    @Test func `a photo is stored, served with its own type, and nothing else is accepted`() async throws {
        var options = WebOptions()
        options.limits.photo = 1 << 20
        try await withWeb(options: options) { browser in
            try await browser.open()
            let id = try await add(browser)
            let picture = CardPicture.png(of: EAN13(payload: 1))
            let stored = try await browser.send(.put, to: "/cards/\(id)/photo", bytes: ByteBuffer(bytes: picture))
            #expect(stored.status == .noContent)
            let photo = try await browser.send(.get, to: "/cards/\(id)/photo")
            #expect(photo.status == .ok && Array(photo.body.readableBytesView) == picture)
            #expect(photo.headers[.contentType] == "image/png")
            #expect(photo.headers[.contentSecurityPolicy] == SecurityHeaders.filePolicy)

            let script = try await browser.send(
                .put, to: "/cards/\(id)/photo", headers: [.contentType: "image/png"],
                body: "<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>")
            #expect(script.status == .unsupportedMediaType)
            let huge = ByteBuffer(bytes: picture + [UInt8](repeating: 0, count: 1 << 20))
            #expect(try await browser.send(.put, to: "/cards/\(id)/photo", bytes: huge).status == .contentTooLarge)
            #expect(try await browser.send(.get, to: "/cards/\(id)/photo").body.readableBytes == picture.count)

            // Another device may attach any file.
            let wallet = try browser.state.wallet()
            let page = try wallet.store.attachments.add(
                Data("<html>".utf8), name: "photo.png", contentType: "image/png")
            try await wallet.store.write { tx in
                _ = try tx.update(Card.self, localID: LocalID(id)) { $0.photo = page }
            }
            #expect(try await browser.send(.get, to: "/cards/\(id)/photo").status == .unsupportedMediaType)
            #expect(try await browser.send(.delete, to: "/cards/\(id)/photo", bytes: nil).status == .noContent)
            #expect(try await browser.send(.get, to: "/cards/\(id)/photo").status == .notFound)
        }
    }
}
