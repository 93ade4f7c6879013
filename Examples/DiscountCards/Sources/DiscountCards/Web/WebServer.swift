import Foundation
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import ServiceLifecycle

/// The server of the app's pages.
struct WebServer {
    private let state: WebState

    init(_ state: WebState) {
        self.state = state
    }

    /// Returns the application.
    ///
    /// - Parameter onListening: Called with the port once the server listens.
    func application(onListening: @escaping @Sendable (Int) -> Void = { _ in }) -> some ApplicationProtocol {
        let options = state.options
        var logger = Logger(label: "cards web")
        logger.logLevel = .error
        return Application(
            router: WebRoutes(state: state).makeRouter(),
            server: .http1(configuration: .init(idleTimeout: .seconds(60))),
            configuration: ApplicationConfiguration(
                address: .hostname(options.host, port: options.port),
                availableConnectionsDelegate: MaximumAvailableConnections(options.limits.connections, logger: logger)),
            services: [StateService(state: state)],
            onServerRunning: { channel in onListening(channel.localAddress?.port ?? options.port) },
            logger: logger)
    }

    /// Serves until SIGINT or SIGTERM.
    func run() async throws {
        let host = state.options.host.contains(":") ? "[\(state.options.host)]" : state.options.host
        let site = application { port in
            Screen.output.print("The cards are at http://\(host):\(port)/  Ctrl-C ends the server.")
        }
        do {
            try await site.runService()
        } catch is IOError {
            throw Failure(
                .cannotCreate, "Can't listen on \(host), port \(state.options.port).", advice: "Choose another --port.")
        }
    }
}

/// Ends the streams and the sync with the server.
private struct StateService: Service {
    let state: WebState

    func run() async throws {
        try? await gracefulShutdown()
        await state.stop()
    }
}
