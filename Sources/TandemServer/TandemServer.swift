public import Foundation
import HummingbirdCore
import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle
@_exported public import TandemServerCore

/// A sync server behind a socket, for development and tests.
///
/// It is not for production: it has one store and no rate limits. In production, run
/// [Datasync](https://github.com/CommunityToolkit/Datasync) on ASP.NET, which speaks the same protocol.
///
/// For example:
///
/// ```swift
/// let server = try await TandemServer.start(ServerCore.inMemory())
/// let remote = try DatasyncRemote(url: server.url)
/// // ...
/// try await server.stop()
/// ```
///
/// The core defines the responses, the users and the faults: see `ServerConfiguration`.
public final class TandemServer: Sendable {
    /// The address, TLS and shutdown options of a server.
    public struct Options: Sendable {
        /// The address to listen on. All but 127.0.0.1 may let other machines connect.
        public var host = "127.0.0.1"
        /// The port; 0 for a free one.
        public var port = 0
        /// The certificate for TLS; `nil` for plain HTTP.
        public var tls: ServerCertificate?
        /// The time limit for current requests once the server stops.
        public var gracePeriod = Duration.seconds(5)
        /// Whether SIGTERM and SIGINT stop the server.
        public var stopsOnSignals = false

        /// Creates options for a free port of this machine, without TLS.
        public init() {}
    }

    /// The core that responds to requests.
    public let core: ServerCore
    /// The port that the server listens on.
    public let port: Int
    /// The server's address for clients on this machine.
    public let url: URL

    private let group: ServiceGroup
    private let running: Task<Void, any Error>

    /// Starts a server, and returns once it listens.
    ///
    /// - Parameters:
    ///   - core: The rows, tables and files to serve.
    ///   - options: The address, the certificate and the limits.
    /// - Throws: ``TandemServerError`` if the address is in use or invalid, or the certificate can't be read.
    public static func start(
        _ core: ServerCore, options: Options = Options()
    ) async throws(TandemServerError) -> TandemServer {
        let connections = OpenConnections()
        let responder = CoreResponder(core, scheme: options.tls == nil ? "http" : "https")
        let channel = HTTP1Channel(
            responder: { request, writer, channel in
                connections.add(channel)
                defer { connections.remove(channel) }
                try await responder.respond(to: request, by: writer)
            }, configuration: .init(idleTimeout: .seconds(120)))
        let (ports, listening) = AsyncStream<Int>.makeStream()
        let server = try serving(channel, options: options) { listening.yield($0.localAddress?.port ?? options.port) }
        let group = ServiceGroup(
            configuration: .init(
                services: [Serving(server: server, connections: connections, gracePeriod: options.gracePeriod)],
                gracefulShutdownSignals: options.stopsOnSignals ? [.sigterm, .sigint] : [], logger: silence))
        let running = Task {
            defer { listening.finish() }
            try await group.run()
        }
        var iterator = ports.makeAsyncIterator()
        guard let port = await iterator.next(), let url = url(options, port: port) else {
            // The server ended before it listened, or the caller was cancelled.
            await group.triggerGracefulShutdown()
            running.cancel()
            throw TandemServerError(listeningOn: options, underlying: await running.result.failure)
        }
        return TandemServer(core: core, port: port, url: url, group: group, running: running)
    }

    private init(
        core: ServerCore, port: Int, url: URL, group: ServiceGroup, running: Task<Void, any Error>
    ) {
        self.core = core
        self.port = port
        self.url = url
        self.group = group
        self.running = running
    }

    deinit {
        // After the last reference, no other code can stop the server.
        Task { [group] in await group.triggerGracefulShutdown() }
    }

    /// Stops listening, waits for current requests up to ``Options/gracePeriod``, and closes all connections. A second
    /// call has no effect.
    ///
    /// - Throws: The error that ended the server, if it did not stop by itself.
    public func stop() async throws {
        await group.triggerGracefulShutdown()
        try await untilStopped()
    }

    /// Waits until the server has stopped: by ``stop()``, or by a signal.
    ///
    /// - Throws: The error that ended the server, if it did not stop by itself.
    public func untilStopped() async throws {
        try await running.value
    }
}

extension TandemServer {
    private static let silence = Logger(label: "TandemServer") { _ in SwiftLogNoOpLogHandler() }

    private static func serving(
        _ channel: HTTP1Channel, options: Options, onListening: @escaping @Sendable (any Channel) -> Void
    ) throws(TandemServerError) -> any Service {
        let configuration = HummingbirdCore.ServerConfiguration(
            address: .hostname(options.host, port: options.port))
        let group = MultiThreadedEventLoopGroup.singleton
        guard let certificate = options.tls else {
            return channel.server(
                configuration: configuration, onServerRunning: onListening, eventLoopGroup: group, logger: silence)
        }
        return try certificate.wrap(channel).server(
            configuration: configuration, onServerRunning: onListening, eventLoopGroup: group, logger: silence)
    }

    /// Returns the address for clients on this machine.
    private static func url(_ options: Options, port: Int) -> URL? {
        let host =
            switch options.host {
            case "0.0.0.0", "::", "": "127.0.0.1"
            case let host where host.contains(":"): "[\(host)]"
            case let host: host
            }
        return URL(string: "\(options.tls == nil ? "http" : "https")://\(host):\(port)")
    }
}

/// The server as a service that ends within its grace period.
private struct Serving: Service {
    let server: any Service
    let connections: OpenConnections
    let gracePeriod: Duration

    func run() async throws {
        try await withGracefulShutdownHandler {
            try await server.run()
        } onGracefulShutdown: {
            // An incomplete or slow request delays the shutdown no longer than this.
            Task {
                try? await Task.sleep(for: gracePeriod)
                connections.closeAll()
            }
        }
    }
}

extension Result {
    fileprivate var failure: Failure? {
        if case .failure(let error) = self { error } else { nil }
    }
}
