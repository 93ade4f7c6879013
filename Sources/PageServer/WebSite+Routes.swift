import Foundation
import HTTPTypes
import Hummingbird
import NIOCore

/// The addresses that all sites have.
extension WebSite {
    /// Adds the style sheets and scripts, the form of the gate page, and the end of a session.
    ///
    /// - Parameters:
    ///   - router: The router.
    ///   - formLimit: The maximum number of bytes of the form.
    ///   - checkSecret: Receives a secret and the gates that the session has passed. Returns the passed gates, or nil
    ///     if the secret is wrong.
    public func addSharedRoutes(
        to router: Router<WebContext>, formLimit: Int,
        checkSecret: @escaping @Sendable (String, WebSession.Gates) async throws -> WebSession.Gates?
    ) {
        router.get("/assets/:name") { request, context in
            try asset(context.parameters.require("name"), for: request)
        }
        router.post("/enter") { request, context in
            try await enter(request, session: context.requireSession(), formLimit: formLimit, checkSecret: checkSecret)
        }
        router.get("/enter") { _, _ in Response.redirect(to: "/") }
        router.post("/leave") { _, context in
            sessions.end(try context.requireSession())
            return Response(status: .noContent)
        }
    }

    private func asset(_ name: String, for request: Request) throws -> Response {
        guard let asset = assets[name] else { throw WebFailure(.notFound, message: "There is no such file.") }
        let headers: HTTPFields = [.contentType: asset.contentType, .eTag: asset.tag, .cacheControl: "no-cache"]
        if request.headers[.ifNoneMatch] == asset.tag { return Response(status: .notModified, headers: headers) }
        return Response(status: .ok, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(bytes: asset.bytes)))
    }

    /// Checks the secret of a form, and begins another session.
    private func enter(
        _ request: Request, session: WebSession, formLimit: Int,
        checkSecret: (String, WebSession.Gates) async throws -> WebSession.Gates?
    ) async throws -> Response {
        let body = try await request.body.collect(upTo: formLimit)
        let form = try URLEncodedFormDecoder().decode(GateForm.self, from: String(buffer: body))
        guard session.token.matches(form.token) else {
            throw WebFailure(.forbidden, message: "The request does not come from this page. Load the page again.")
        }
        guard attempts.beginAttempt() else {
            return try gatePage(
                session, message: "There were too many attempts. Wait a minute.", status: .tooManyRequests)
        }
        guard let passed = try await checkSecret(form.secret, session.passed) else {
            return try gatePage(session, message: "That is not right.", status: .unauthorized)
        }
        attempts.recordSuccess()
        let next = beginSession(passed: passed, replacing: session)
        return Response.redirect(to: "/").setting(next, cookie: cookieName)
    }

    /// Returns a response with HTML.
    ///
    /// - Parameters:
    ///   - text: The HTML.
    ///   - status: The status of the response.
    public func html(_ text: String, status: HTTPResponse.Status = .ok) -> Response {
        Response(
            status: status, headers: [.contentType: "text/html; charset=utf-8"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
    }
}

/// The form of a gate page.
private struct GateForm: Decodable {
    let token: String
    let secret: String
}
