import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import PageServer
import Tandem
import TandemInspector

/// The addresses of the pages.
struct BrowserRoutes: Sendable {
    let site: BrowserSite

    /// Returns a router with the guard in front of all handlers.
    func makeRouter() -> Router<BrowserContext> {
        let router = Router(context: BrowserContext.self)
        router.middlewares.add(WebGuard(site))
        addPages(to: router)
        addData(to: router)
        addFiles(to: router)
        addStreams(to: router)
        addEdits(to: router)
        return router
    }

    // MARK: Pages

    private func addPages(to router: Router<BrowserContext>) {
        router.get("/") { _, context in try page(context) }
        router.get("/assets/:name") { request, context in try asset(context.parameters.require("name"), for: request) }
        router.post("/enter") { request, context in try await enter(request, context) }
        router.get("/enter") { _, _ in Response.redirect(to: "/") }
        router.post("/leave") { _, context in
            site.sessions.end(try context.requireSession())
            return Response(status: .noContent)
        }
    }

    private func page(_ context: BrowserContext) throws -> Response {
        struct Page {
            let token: String
            let store: String
            let isWritable: Bool
            let canLeave: Bool
        }
        let page = Page(
            token: try context.requireSession().token.text, store: site.storeName,
            isWritable: site.request.isWritable, canLeave: site.request.password != nil)
        return site.html(try site.templates.render("page", page))
    }

    private func asset(_ name: String, for request: Request) throws -> Response {
        guard let asset = site.assets[name] else { throw WebFailure(.notFound, "There is no such file.") }
        let headers: HTTPFields = [.contentType: asset.contentType, .eTag: asset.tag, .cacheControl: "no-cache"]
        if request.headers[.ifNoneMatch] == asset.tag { return Response(status: .notModified, headers: headers) }
        return Response(status: .ok, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(bytes: asset.bytes)))
    }

    /// Checks the password of a form, and begins another session.
    private func enter(_ request: Request, _ context: BrowserContext) async throws -> Response {
        struct Form: Decodable {
            let token: String
            let secret: String
        }
        let session = try context.requireSession()
        let body = try await request.body.collect(upTo: site.limits.body)
        let form = try URLEncodedFormDecoder().decode(Form.self, from: String(buffer: body))
        guard session.token.matches(form.token) else {
            throw WebFailure(.forbidden, "The request does not come from this page. Load the page again.")
        }
        guard site.attempts.beginAttempt() else {
            return try site.gatePage(
                session, message: "There were too many attempts. Wait a minute.", status: .tooManyRequests)
        }
        if let password = site.request.password, !SecretText.isEqual(form.secret, password) {
            return try site.gatePage(session, message: "That is not right.", status: .unauthorized)
        }
        site.attempts.recordSuccess()
        let next = site.beginSession(passed: [.password, .passphrase], replacing: session)
        return Response.redirect(to: "/").setting(next, cookie: site.cookieName)
    }
}
