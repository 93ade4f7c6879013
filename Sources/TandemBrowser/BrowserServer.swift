import Foundation
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import PageServer
import ServiceLifecycle
import TandemInspector

/// The server of the pages.
struct BrowserServer {
    private let site: BrowserSite

    init(_ site: BrowserSite) {
        self.site = site
    }

    /// Returns the application.
    ///
    /// - Parameter onListening: Called with the port once the server listens.
    func application(onListening: @escaping @Sendable (Int) -> Void = { _ in }) -> some ApplicationProtocol {
        let request = site.request
        var logger = Logger(label: "tandem browse")
        logger.logLevel = .error
        return Application(
            router: BrowserRoutes(site: site).makeRouter(),
            server: .http1(configuration: .init(idleTimeout: .seconds(60))),
            configuration: ApplicationConfiguration(
                address: .hostname(request.host, port: request.port),
                availableConnectionsDelegate: MaximumAvailableConnections(site.limits.connections, logger: logger)),
            services: [SiteService(site: site)],
            onServerRunning: { channel in onListening(channel.localAddress?.port ?? request.port) },
            logger: logger)
    }

    /// Serves until SIGINT or SIGTERM.
    func run() async throws {
        let request = site.request
        let host = request.host.contains(":") ? "[\(request.host)]" : request.host
        let application = application { port in
            request.report("The store is at http://\(host):\(port)/  Ctrl-C ends the server.")
        }
        do {
            try await application.runService()
        } catch is IOError {
            throw CommandFailure(
                .failure, "Can't listen on \(host), port \(request.port).", advice: "Choose another --port.")
        }
    }
}

/// Ends the event streams with the server.
private struct SiteService: Service {
    let site: BrowserSite

    func run() async throws {
        try? await gracefulShutdown()
        site.stop()
    }
}
