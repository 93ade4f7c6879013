import NIOCore
import PageServer
import TandemInspector

/// The server of the pages.
struct BrowserServer {
    private let site: BrowserSite

    init(_ site: BrowserSite) {
        self.site = site
    }

    /// Serves until SIGINT or SIGTERM.
    func run() async throws {
        let request = site.request
        do {
            try await site.serve(
                BrowserRoutes(site: site).makeRouter(), label: "tandem browse", host: request.host, port: request.port,
                connections: site.limits.connections,
                onListening: { request.report("The store is at \($0)  Ctrl-C ends the server.") },
                onShutdown: { site.stop() })
        } catch is IOError {
            throw CommandFailure(
                .failure, message: "Can't listen on \(HostRules.inURL(request.host)), port \(request.port).",
                advice: "Choose another --port.")
        }
    }
}
