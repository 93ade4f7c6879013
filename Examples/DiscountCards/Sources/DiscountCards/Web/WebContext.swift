import Hummingbird
import NIOCore
import PageServer
import Tandem

/// The context of a request: its connection, and its session once the guard has let it pass.
struct WebContext: WebRequestContext {
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
}
