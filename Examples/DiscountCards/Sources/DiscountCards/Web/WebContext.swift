import Hummingbird
import NIOCore
import Tandem

/// The context of a request: its connection, and its session once the guard has let it pass.
struct WebContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    let channel: any Channel
    var session: WebSession?

    init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        channel = source.channel
    }

    /// Returns the card's ID in the path.
    ///
    /// - Throws: ``WebFailure`` if it is missing.
    func requireCardID() throws -> LocalID {
        guard let text = parameters.get("id") else { throw WebFailure.missingCard }
        return CardPath.id(in: text)
    }

    /// Returns the session.
    ///
    /// - Throws: ``WebFailure`` if the guard was left out.
    func requireSession() throws -> WebSession {
        guard let session else { throw WebFailure(.unauthorized, "The session has ended. Load the page again.") }
        return session
    }
}
