import Hummingbird
import NIOCore

/// The context of a request: its connection, and its session once the guard has let it pass.
struct WebContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    let channel: any Channel
    var session: WebSession?

    init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        channel = source.channel
    }

    /// Returns the session.
    ///
    /// - Throws: ``WebFailure`` if the guard was left out.
    func requireSession() throws -> WebSession {
        guard let session else { throw WebFailure(.unauthorized, "The session has ended. Load the page again.") }
        return session
    }
}
