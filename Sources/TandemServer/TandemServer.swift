public import Foundation
import HummingbirdCore
import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle
@_exported public import TandemServerCore

/// A sync server behind a socket, for development and tests.
///
/// It is not for production: it has one store and no limits on who may ask how much. There, run
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
/// What it answers, to whom, and when it misbehaves is the core's to say: see `ServerConfiguration`.
public final class TandemServer: Sendable {
    /// Where and how to listen.
    public struct Options: Sendable {
        /// The address to listen on. Others than this machine's own let in whoever can reach it.
        public var host = "127.0.0.1"
        /// The port; 0 for one that is free.
        public var port = 0
        /// The certificate to show; nil to speak plain HTTP.
        public var tls: ServerCertificate?
        /// How long requests under way may take once the server stops.
        public var gracePeriod = Duration.seconds(5)
        /// Whether SIGTERM and SIGINT stop the server.
        public var stopsOnSignals = false

        /// A free port of this machine, without TLS.
        public init() {}
    }

    /// What answers.
    public let core: ServerCore
    /// The port that it listens on.
    public let port: Int
    /// Where it is, for clients on this machine.
    public let url: URL

    private let group: ServiceGroup
    private let running: Task<Void, any Error>

    /// Starts a server, and returns when it listens.
    ///
    /// - Throws: ``TandemServerError``, if the address is taken or is none, or the certificate can't be read.
    public static func start(
        _ core: ServerCore, options: Options = Options()
    ) async throws(TandemServerError) -> TandemServer {
        let connections = OpenConnections()
        let responder = CoreResponder(core, scheme: options.tls == nil ? "http" : "https")
        let channel = HTTP1Channel(
            responder: { request, writer, _ in try await responder.respond(to: request, by: writer) },
            configuration: .init(
                additionalChannelHandlers: [ConnectionWatch(connections)], idleTimeout: .seconds(120)))
        let (ports, listening) = AsyncStream<Int>.makeStream()
        let server = try serving(channel, options) { listening.yield($0.localAddress?.port ?? options.port) }
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
            // It ended before it listened, or whoever waits was cancelled.
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
        // Nobody can stop it any more.
        Task { [group] in await group.triggerGracefulShutdown() }
    }

    /// Stops listening, lets requests under way end for as long as ``Options/gracePeriod`` says, and closes all
    /// connections. To call it twice is no error.
    public func stop() async throws {
        await group.triggerGracefulShutdown()
        try await untilStopped()
    }

    /// Waits until the server has stopped: by ``stop()``, or by a signal.
    public func untilStopped() async throws {
        try await running.value
    }
}

extension TandemServer {
    private static let silence = Logger(label: "TandemServer") { _ in SwiftLogNoOpLogHandler() }

    private static func serving(
        _ channel: HTTP1Channel, _ options: Options, onListening: @escaping @Sendable (any Channel) -> Void
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

    /// Where clients of this machine find it.
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

/// The server as a service, which ends in time.
private struct Serving: Service {
    let server: any Service
    let connections: OpenConnections
    let gracePeriod: Duration

    func run() async throws {
        try await withGracefulShutdownHandler {
            try await server.run()
        } onGracefulShutdown: {
            // A client that sends half a request, or waits for an answer that is long in coming, holds up the end no
            // longer than this.
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
