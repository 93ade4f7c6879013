import Hummingbird
import NIOCore

/// The context of a request behind a ``WebGuard``: its connection, and its session once the guard has let it pass.
public struct WebContext: RequestContext {
    /// The data of the router.
    public var coreContext: CoreRequestContextStorage
    /// The connection.
    public let channel: any Channel
    /// The session, once the guard has let the request pass.
    public var session: WebSession?

    /// Creates the context of a request.
    ///
    /// - Parameter source: The connection.
    public init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        channel = source.channel
    }

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
    static let endedSession = WebFailure(.unauthorized, message: "The session has ended. Load the page again.")
}
