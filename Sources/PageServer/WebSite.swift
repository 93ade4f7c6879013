import HTTPTypes
import Hummingbird

/// The pages and data of a server, behind a ``WebGuard``.
public protocol WebSite: Sendable {
    /// The names by which requests may address the server.
    var hosts: HostRules { get }
    /// The sessions of all browsers.
    var sessions: SessionList { get }
    /// The limit on wrong passwords.
    var attempts: AttemptLimit { get }
    /// The style sheets and scripts.
    var assets: Assets { get }
    /// The IDs of the sessions with an open page.
    var openPages: Set<SecretText> { get }
    /// The name of the session's cookie. Cookies do not distinguish ports.
    var cookieName: String { get }
    /// The gates that a new session has passed.
    var openGates: WebSession.Gates { get }
    /// The name of the header with the session's token.
    var tokenHeader: HTTPField.Name { get }
    /// The beginnings of paths to which no browser navigates: they lead to data, scripts and streams.
    var dataPaths: [String] { get }

    /// Converts an error of a handler.
    ///
    /// - Parameter error: The error.
    func failure(of error: any Error) -> WebFailure

    /// Returns the response for an error.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - failure: The error.
    func response(to request: Request, failure: WebFailure) throws -> Response

    /// Returns the page that asks for the secret of the next gate.
    ///
    /// - Parameters:
    ///   - session: The session.
    ///   - message: A sentence about the last attempt, or nil.
    ///   - status: The status of the response.
    func gatePage(_ session: WebSession, message: String?, status: HTTPResponse.Status) throws -> Response

    /// Returns a page that loads the address of a request again, from this site.
    ///
    /// - Parameter request: The request.
    func reloadPage(_ request: Request) throws -> Response
}

extension WebSite {
    /// Begins a session. A flood of new ones ends no session with an open page.
    ///
    /// - Parameters:
    ///   - passed: The gates that the session has passed.
    ///   - previous: The session that the new one replaces.
    /// - Returns: The new session.
    public func beginSession(passed: WebSession.Gates, replacing previous: WebSession? = nil) -> WebSession {
        sessions.begin(passed: passed, replacing: previous, keeping: openPages)
    }

    /// Returns whether a browser navigates to the address of a request, and does not fetch data from it.
    ///
    /// - Parameter request: The request.
    public func isPage(_ request: Request) -> Bool {
        guard request.method == .get, request.headers[.accept]?.contains("text/html") ?? false else { return false }
        return !dataPaths.contains { request.uri.path.hasPrefix($0) }
    }
}
