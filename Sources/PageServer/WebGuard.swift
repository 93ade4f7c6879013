import Foundation
import HTTPTypes
import Hummingbird

/// The guard in front of all handlers.
///
/// It accepts only requests that name this server and come from one of its own pages. A request also needs a session
/// that has passed all gates. Changing requests also need the session's token. The guard adds the security headers to
/// each response, and turns errors into responses.
public struct WebGuard<Site: WebSite>: RouterMiddleware {
    /// The context of requests.
    public typealias Context = WebContext

    private let site: Site
    private let fetchSite = HTTPField.Name("Sec-Fetch-Site")!

    /// Creates the guard of a site.
    ///
    /// - Parameter site: The site.
    public init(_ site: Site) {
        self.site = site
    }

    /// Passes an accepted request on, and returns the response with the security headers.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - context: The context of the request.
    ///   - next: The next handler.
    public func handle(
        _ request: Request, context: Context, next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        var response: Response
        do {
            response = try await admit(request, in: context, next: next)
        } catch {
            let failure = failure(of: error)
            response = try site.response(to: request, failure: failure)
            // Do not receive the rest of a body that is too large.
            if failure.status == .contentTooLarge { Self.close(context, after: .milliseconds(500)) }
            // A rejected stream must not occupy a connection.
            if failure.status == .serviceUnavailable { Self.close(context, after: .milliseconds(100)) }
        }
        SecurityHeaders.add(to: &response)
        return response
    }

    private func failure(of error: any Error) -> WebFailure {
        switch error {
        case let failure as WebFailure: failure
        case let error as HTTPError: WebFailure(error.status, message: error.body ?? "Not found.")
        default: site.failure(of: error)
        }
    }

    private func admit(
        _ request: Request, in context: Context, next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        guard site.hosts.accepts(request.head.authority) else {
            throw WebFailure(.misdirectedRequest, message: "This server does not have that name.")
        }
        try checkOrigin(of: request)
        // Style sheets and scripts contain no data.
        if request.uri.path.hasPrefix("/assets/") { return try await next(request, context) }
        var context = context
        let session = request.cookies[cookieName].flatMap { site.sessions.session($0.value) }
        guard let session else {
            guard site.isPage(request) else { throw WebFailure.endedSession }
            // A strict cookie is not sent with a link from another site. Loading the page again sends it.
            if request.headers[fetchSite] == "cross-site" { return try site.reloadPage(request) }
            let session = site.beginSession(passed: site.openGates)
            context.session = session
            return try await passGates(request, in: context, session: session, next: next).setting(
                session, cookie: cookieName)
        }
        context.session = session
        return try await passGates(request, in: context, session: session, next: next)
    }

    private func passGates(
        _ request: Request, in context: Context, session: WebSession,
        next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        let isSafe = request.method == .get || request.method == .head
        // A form without a script has its token in the body, which its handler checks.
        if !isSafe, request.uri.path != "/enter" {
            guard let token = request.headers[site.tokenHeader], session.token.matches(token) else {
                throw WebFailure(.forbidden, message: "The request does not come from this page. Load the page again.")
            }
        }
        guard session.passed == [.password, .passphrase] || request.uri.path == "/enter" else {
            guard isSafe, site.isPage(request) else { throw WebFailure.endedSession }
            return try site.gatePage(session, message: nil, status: .ok)
        }
        return try await next(request, context)
    }

    private func checkOrigin(of request: Request) throws {
        if let origin = request.headers[.origin],
            !HostRules.isSameOrigin(origin, authority: request.head.authority)
        {
            throw WebFailure(.forbidden, message: "The request comes from another site.")
        }
        guard let sender = request.headers[fetchSite], sender != "same-origin", sender != "none" else { return }
        // A link on another site may lead to a page, and to nothing else.
        guard site.isPage(request), request.method == .get else {
            throw WebFailure(.forbidden, message: "The request comes from another site.")
        }
    }

    private var cookieName: String { site.cookieName }

    /// Closes a connection soon: the browser can still read the response.
    private static func close(_ context: Context, after delay: Duration) {
        let channel = context.channel
        Task {
            try? await Task.sleep(for: delay)
            channel.close(promise: nil)
        }
    }
}

extension Response {
    /// Returns the response with the cookie of a session. Only this server's requests carry it, and no script reads it.
    ///
    /// - Parameters:
    ///   - session: The session.
    ///   - name: The name of the cookie.
    public func setting(_ session: WebSession, cookie name: String) -> Response {
        var response = self
        response.setCookie(
            Cookie(name: name, value: session.id.text, path: "/", httpOnly: true, sameSite: .strict))
        return response
    }
}
