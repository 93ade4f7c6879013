import Hummingbird
import NIOCore

/// The context of a request behind a ``WebGuard``.
public protocol WebRequestContext: RequestContext {
    /// The connection.
    var channel: any Channel { get }
    /// The session, once the guard has let the request pass.
    var session: WebSession? { get set }
}

extension WebRequestContext {
    /// Returns the session.
    ///
    /// - Throws: ``WebFailure`` if the guard was left out.
    public func requireSession() throws -> WebSession {
        guard let session else { throw WebFailure.endedSession }
        return session
    }
}

extension WebFailure {
    /// The session of a request has ended, or never began.
    static let endedSession = WebFailure(.unauthorized, "The session has ended. Load the page again.")
}
