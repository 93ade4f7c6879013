import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import ServiceLifecycle

extension WebSite {
    /// Serves the site until SIGINT or SIGTERM.
    ///
    /// - Parameters:
    ///   - router: The handlers behind the guard.
    ///   - label: The label of the log, in which only errors appear.
    ///   - host: The name or the address to listen on.
    ///   - port: The port; 0 for a free one.
    ///   - connections: The maximum number of connections.
    ///   - onListening: Called with the URL once the server listens.
    ///   - onShutdown: Called when the server begins to shut down. It ends the event streams.
    /// - Throws: `IOError` if the address can't be used.
    public func serve(
        _ router: Router<WebContext>, label: String, host: String, port: Int, connections: Int,
        onListening: @escaping @Sendable (String) -> Void, onShutdown: @escaping @Sendable () async -> Void
    ) async throws {
        var logger = Logger(label: label)
        logger.logLevel = .error
        let application = Application(
            router: router,
            server: .http1(configuration: .init(idleTimeout: .seconds(60))),
            configuration: ApplicationConfiguration(
                address: .hostname(host, port: port),
                availableConnectionsDelegate: MaximumAvailableConnections(connections, logger: logger)),
            services: [ShutdownService(onShutdown: onShutdown)],
            onServerRunning: { channel in
                onListening("http://\(HostRules.inURL(host)):\(channel.localAddress?.port ?? port)/")
            },
            logger: logger)
        try await application.runService()
    }
}

/// Calls a function when the server begins to shut down.
private struct ShutdownService: Service {
    let onShutdown: @Sendable () async -> Void

    func run() async throws {
        try? await gracefulShutdown()
        await onShutdown()
    }
}
