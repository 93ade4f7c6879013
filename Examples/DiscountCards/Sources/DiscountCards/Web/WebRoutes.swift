import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import PageServer
import Tandem

/// The addresses of a page server.
struct WebRoutes: Sendable {
    let state: WebState

    /// Returns a router with the guard in front of all handlers.
    func makeRouter() -> Router<WebContext> {
        let router = Router(context: WebContext.self)
        router.middlewares.add(WebGuard(state))
        addPages(to: router)
        addParts(to: router)
        addStreams(to: router)
        addCards(to: router)
        addPhotos(to: router)
        addSync(to: router)
        return router
    }

    // MARK: Pages

    private func addPages(to router: Router<WebContext>) {
        for path in ["/", "/new", "/sync", "/login", "/cards/:id", "/cards/:id/edit"] {
            router.get(RouterPath(path)) { _, context in try page(context) }
        }
        router.get("/assets/:name") { request, context in try asset(context.parameters.require("name"), for: request) }
        router.post("/enter") { request, context in try await enter(request, context) }
        router.get("/enter") { _, _ in Response.redirect(to: "/") }
        router.post("/leave") { _, context in
            let session = try context.requireSession()
            state.sessions.end(session)
            return Response(status: .noContent)
        }
    }

    private func page(_ context: WebContext) throws -> Response {
        struct Page {
            let token: String
            let person: String
            let store: String
            let canLock: Bool
        }
        let wallet = try state.wallet()
        let session = try context.requireSession()
        return state.html(
            try state.templates.render(
                "page",
                Page(
                    token: session.token.text, person: wallet.wallet.person.name, store: state.storeName,
                    canLock: state.isLockable || state.options.password != nil)))
    }

    private func asset(_ name: String, for request: Request) throws -> Response {
        guard let asset = state.assets[name] else { throw WebFailure(.notFound, "There is no such file.") }
        let headers: HTTPFields = [
            .contentType: asset.contentType, .eTag: asset.tag, .cacheControl: "no-cache",
        ]
        if request.headers[.ifNoneMatch] == asset.tag { return Response(status: .notModified, headers: headers) }
        return Response(status: .ok, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(bytes: asset.bytes)))
    }

    /// Checks the password or the passphrase of a form, and begins another session.
    private func enter(_ request: Request, _ context: WebContext) async throws -> Response {
        struct Form: Decodable {
            let token: String
            let secret: String
        }
        let session = try context.requireSession()
        let body = try await request.body.collect(upTo: state.options.limits.form)
        let form = try URLEncodedFormDecoder().decode(Form.self, from: String(buffer: body))
        guard session.token.matches(form.token) else {
            throw WebFailure(.forbidden, "The request does not come from this page. Load the page again.")
        }
        guard state.attempts.beginAttempt() else {
            return try state.gatePage(
                session, message: "There were too many attempts. Wait a minute.", status: .tooManyRequests)
        }
        var passed = session.passed
        if !passed.contains(.password) {
            if let password = state.options.password, SecretText.isEqual(form.secret, password) {
                passed.insert(.password)
            }
        } else if !passed.contains(.passphrase), try await state.unlock(form.secret) {
            passed.insert(.passphrase)
        }
        guard passed != session.passed || passed == [.password, .passphrase] else {
            return try state.gatePage(session, message: "That is not right.", status: .unauthorized)
        }
        state.attempts.recordSuccess()
        let next = state.beginSession(passed: passed, replacing: session)
        return Response.redirect(to: "/").setting(next, cookie: state.cookieName)
    }
}

extension WebRoutes {
    /// Reads a JSON body.
    func body<Value: Decodable>(_ type: Value.Type, of request: Request) async throws -> Value {
        let bytes = try await request.body.collect(upTo: state.options.limits.form)
        return try JSONDecoder().decode(Value.self, from: Data(bytes.readableBytesView))
    }
}
