import Foundation
import HTTPTypes
import HummingbirdTesting
import PageServer
import Tandem
import TestSupport
import Testing

@testable import TandemBrowser

@Suite(.ownThreads, .timeLimit(.minutes(2))) struct BrowserSecurityTests {
    private static let edit = #"{"model": "Tag", "id": "red", "values": {"name": {"text": "blue", "was": "red"}}}"#

    @Test func `each response has the security headers, and the session's cookie is strict`() async throws {
        let fixture = try BrowserFixture()
        try await fixture.browse { browser in
            let page = try await browser.open()
            #expect(page.status == .ok)
            let cookie = try #require(page.headers[.setCookie])
            #expect(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict") && cookie.contains("Path=/"))
            for path in ["/", "/assets/app.js", "/nothing", "/data/summary", "/data/object?model=x&id=y"] {
                let response = try await browser.send(.get, path)
                let policy = try #require(response.headers[.contentSecurityPolicy])
                #expect(policy.contains("default-src 'none'") && policy.contains("script-src 'self';"))
                #expect(!policy.contains("unsafe"))
                #expect(response.headers[.xContentTypeOptions] == "nosniff")
            }
        }
    }

    @Test func `data needs a session, and a change needs the token of the session`() async throws {
        let fixture = try BrowserFixture()
        try fixture.fill()
        try await fixture.browse(isWritable: true) { browser in
            for path in ["/data/summary", "/data/rows?model=Tag", "/events", "/data/file?model=Ticket&id=t1"] {
                #expect(try await browser.send(.get, path).status == .unauthorized)
            }
            #expect(try await browser.send(.post, "/edit/update", body: Self.edit).status == .unauthorized)
            try await browser.open()
            let forged = try await browser.send(.post, "/edit/update", body: Self.edit, withToken: false)
            #expect(forged.status == .forbidden)
            let wrong = try await browser.send(
                .post, "/edit/update", headers: [browser.site.tokenHeader: SecretText().text], body: Self.edit,
                withToken: false)
            #expect(wrong.status == .forbidden)
            #expect(try await browser.send(.post, "/data/check", withToken: false).status == .forbidden)
            #expect(try fixture.tag()?.name == "red")
            #expect(try await browser.send(.post, "/edit/update", body: Self.edit).status == .ok)
            #expect(try fixture.tag()?.name == "blue")
        }
    }

    @Test func `a request from another site is rejected, with the right token too`() async throws {
        let fixture = try BrowserFixture()
        try fixture.fill()
        try await fixture.browse(isWritable: true) { browser in
            try await browser.open()
            let site = try #require(HTTPField.Name("Sec-Fetch-Site"))
            for headers in [
                [.origin: "http://evil.example"], [.origin: "null"], [.origin: "http://localhost:9"],
                [site: "cross-site"], [site: "same-site"],
            ] as [HTTPFields] {
                let response = try await browser.send(.post, "/edit/update", headers: headers, body: Self.edit)
                #expect(response.status == .forbidden)
                for path in ["/data/summary", "/data/rows?model=Tag", "/assets/app.js", "/events"] {
                    #expect(try await browser.send(.get, path, headers: headers).status == .forbidden)
                }
            }
            #expect(try fixture.tag()?.name == "red")
        }
    }

    @Test func `a link on another site leads to its object, and to no other server`() async throws {
        let fixture = try BrowserFixture()
        try await fixture.browse { browser in
            let site = try #require(HTTPField.Name("Sec-Fetch-Site"))
            let headers: HTTPFields = [.accept: "text/html", site: "cross-site"]
            let page = try await browser.send(.get, "/?model=Tag&id=%22%3E", headers: headers)
            #expect(page.status == .ok && page.headers[.setCookie] == nil)
            #expect(String(buffer: page.body).contains("url=/?model=Tag&amp;id=%22%3E\""))
            let foreign = try await browser.send(.get, "//evil.example/?model=Tag", headers: headers)
            #expect(!String(buffer: foreign.body).contains("evil"))
        }
    }

    @Test func `a read-only site refuses all edits`() async throws {
        let fixture = try BrowserFixture()
        try fixture.fill()
        try await fixture.browse { browser in
            let page = String(buffer: try await browser.open().body)
            #expect(page.contains("Read-only"))
            for name in ["update", "insert", "delete", "restore"] {
                let response = try await browser.send(.post, "/edit/\(name)", body: Self.edit)
                #expect(response.status == .forbidden)
            }
            #expect(try await browser.send(.post, "/undo/x").status == .forbidden)
            #expect(try fixture.tag()?.name == "red")
        }
    }

    @Test func `a site with a password shows nothing without it, and accepts few attempts`() async throws {
        let fixture = try BrowserFixture()
        try await fixture.browse(password: "correct horse") { browser in
            let gate = try await browser.open()
            #expect(String(buffer: gate.body).contains("Password of this server"))
            for path in ["/data/summary", "/events", "/data/queue"] {
                #expect(try await browser.send(.get, path).status == .unauthorized)
            }
            let forged = try await browser.send(.post, "/enter", body: "token=x&secret=correct+horse")
            #expect(forged.status == .forbidden)
            for _ in 0..<AttemptLimit.count - 1 {
                let wrong = try await browser.send(.post, "/enter", body: "token=\(browser.token)&secret=wrong")
                #expect(wrong.status == .unauthorized)
            }
            let right = try await browser.send(.post, "/enter", body: "token=\(browser.token)&secret=correct+horse")
            #expect(right.status == .seeOther && right.headers[.setCookie] != nil)
            #expect(try await browser.send(.get, "/data/summary").status == .ok)

            let other = TestBrowser(browser.client, browser.site)
            try await other.open()
            for _ in 0..<2 { try await other.send(.post, "/enter", body: "token=\(other.token)&secret=wrong") }
            let late = try await other.send(.post, "/enter", body: "token=\(other.token)&secret=correct+horse")
            #expect(late.status == .tooManyRequests)
        }
    }

    @Test func `missing files of the pages are an error with their folder`() {
        let error = #expect(throws: ResourceFolder.Missing.self) { try ResourceFolder.find("Tandem_Missing") }
        #expect(error?.localizedDescription.contains("Tandem_Missing.resources") == true)
    }

    @Test func `a flood of new sessions ends none that has an open page`() async throws {
        let fixture = try BrowserFixture()
        try await fixture.browse { browser in
            let site = browser.site
            let mine = site.beginSession(passed: site.openGates)
            let idle = site.beginSession(passed: site.openGates)
            let stream = try #require(site.revisions.listen(mine))
            for _ in 0..<SessionList.limit {
                #expect(try await TestBrowser(browser.client, site).open().status == .ok)
            }
            #expect(site.sessions.count == SessionList.limit)
            #expect(site.sessions.session(mine.id.text) != nil && site.sessions.session(idle.id.text) == nil)
            withExtendedLifetime(stream.revisions) {}
            site.revisions.end(stream.id)
            #expect(site.openPages.isEmpty)
        }
    }

    @Test func `a request that is too large is refused`() async throws {
        let fixture = try BrowserFixture()
        var limits = BrowserLimits()
        limits.body = 1000
        try await fixture.browse(isWritable: true, limits: limits) { browser in
            try await browser.open()
            let text = String(repeating: "x", count: 2000)
            let body = #"{"model": "Tag", "values": {"name": {"text": "\#(text)", "was": null}}}"#
            #expect(try await browser.send(.post, "/edit/insert", body: body).status == .contentTooLarge)
            #expect(try await browser.send(.post, "/edit/insert", body: "[]").status == .badRequest)
            #expect(try fixture.count(Tag.self) == 0)
        }
    }

    @Test func `templates escape the store's name, and data is never HTML`() async throws {
        let hostile = "<img src=x onerror=alert(1)>\"'"
        let fixture = try BrowserFixture()
        try await fixture.store.write { tx in
            _ = try tx.insert(Tag(name: hostile).identified(by: LocalID(hostile)))
        }
        try await fixture.browse { browser in
            try await browser.open()
            let rows = try await browser.send(.get, "/data/rows?model=Tag&to=10")
            #expect(rows.headers[.contentType] == "application/json")
            #expect(try JSONResponse(rows)["rows"][0]["cells"].list.contains { $0.text == hostile })
            let object = try await browser.data("object", ["model": "Tag", "id": hostile])
            #expect(object["title"].text == hostile)
            let missing = try await browser.send(
                .get, "/%3Cimg%20src=x%3E", headers: [.accept: "text/html"])
            #expect(missing.status == .notFound && !String(buffer: missing.body).contains("<img"))
            let page = try browser.site.templates.render(
                "page", with: ["store": hostile, "token": "\"\u{301}><script>"])
            #expect(!page.contains("<img") && !page.contains("\"\u{301}><script>"))
        }
    }
}
