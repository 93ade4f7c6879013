import Hummingbird
import NIOCore
import PageServer

/// The context of a request: its connection, and its session once the guard has let it pass.
struct BrowserContext: WebRequestContext {
    var coreContext: CoreRequestContextStorage
    let channel: any Channel
    var session: WebSession?

    init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        channel = source.channel
    }
}
