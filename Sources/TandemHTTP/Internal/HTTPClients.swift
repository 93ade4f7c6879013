import AsyncHTTPClient
import NIOCore
import NIOHTTPCompression
import NIOPosix
import NIOSSL
import Synchronization

/// The HTTP clients, a separate one for each server: a client's connections check the certificate for one host.
final class HTTPClients: Sendable {
    private let configuration: HTTPClient.Configuration
    /// The event loop of all clients. It keeps the calls of `ResponseCollector` in order.
    let eventLoop: any EventLoop
    /// The clients by scheme and host; `nil` after the shutdown.
    private let clients = Mutex<[String: HTTPClient]?>([:])

    init(_ configuration: AsyncHTTPTransport.Configuration) throws(NetworkError) {
        var http = HTTPClient.Configuration(
            tlsConfiguration: try Self.tls(configuration.trust),
            redirectConfiguration: .disallow,
            timeout: .init(
                connect: .limit(configuration.connectTimeout), read: .limit(configuration.idleTimeout),
                write: .limit(configuration.idleTimeout)),
            proxy: configuration.proxy.map { proxy in
                .server(
                    host: proxy.host, port: proxy.port,
                    authorization: proxy.credentials.map { .basic(username: $0.user, password: $0.password) })
            },
            decompression: .enabled(limit: .size(configuration.decompressedLimit)))
        // The tests cover HTTP/1.1 only. If HTTP/2 refuses a stream, the request had no effect, which this code could
        // not detect.
        http.httpVersion = .http1Only
        // The maximum number of requests that a push has in flight. A lower limit would count the wait for a connection
        // as network time.
        http.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 64
        // Node closes a connection after five idle seconds, and Azure Mobile Apps runs on Node. A request sent at that
        // moment would be lost.
        http.connectionPool.idleTimeout = .seconds(4)
        // Each call is a single attempt. The caller decides about retries, because it knows the request.
        http.connectionPool.retryConnectionEstablishment = false
        self.configuration = http
        eventLoop = MultiThreadedEventLoopGroup.singleton.next()
    }

    deinit {
        for client in clients.withLock({ $0?.values.map { $0 } ?? [] }) { client.shutdown { _ in } }
    }

    /// Returns the client for a request's server, or `nil` after the shutdown.
    func client(for request: HTTPClient.Request) -> HTTPClient? {
        clients.withLock { clients in
            if clients == nil { return nil }
            let server = "\(request.scheme)://\(request.host)"
            if let client = clients?[server] { return client }
            var configuration = configuration
            if request.scheme == "https" {
                // Runs before a connection's first request.
                configuration.http1_1ConnectionDebugInitializer = { [host = request.host] channel in
                    ServerIdentity.check(channel, is: host)
                }
            }
            let client = HTTPClient(eventLoopGroup: eventLoop, configuration: configuration)
            clients?[server] = client
            return client
        }
    }

    /// Closes all connections, and prevents new ones.
    func shutdown() async {
        let ended = clients.withLock { clients in
            defer { clients = nil }
            return clients?.values.map { $0 } ?? []
        }
        for client in ended { try? await client.shutdown() }
    }

    private static func tls(_ trust: AsyncHTTPTransport.Trust) throws(NetworkError) -> TLSConfiguration {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.minimumTLSVersion = .tlsv12
        guard case .certificates(let pem) = trust else { return tls }
        do {
            let certificates = try NIOSSLCertificate.fromPEMBytes(Array(pem.utf8))
            // An empty list would mean the system's roots.
            guard !certificates.isEmpty else { throw NIOSSLError.failedToLoadCertificate }
            tls.trustRoots = .certificates(certificates)
            return tls
        } catch {
            throw NetworkError(
                .invalidCertificates, message: "The certificates in `trust` can't be read: they must be PEM.",
                underlying: error)
        }
    }
}

extension TimeAmount {
    /// Converts a time limit, and clamps it to between one nanosecond and some years.
    static func limit(_ duration: Duration) -> TimeAmount {
        let (seconds, attoseconds) = duration.components
        guard seconds >= 0 else { return .nanoseconds(1) }
        guard seconds < 1 << 30 else { return .seconds(1 << 30) }
        return .nanoseconds(max(1, seconds * 1_000_000_000 + attoseconds / 1_000_000_000))
    }
}
