import AsyncHTTPClient
import NIOCore
import NIOHTTPCompression
import NIOPosix
import NIOSSL
import Synchronization

/// A client for each server: its connections know whose certificate they must see.
final class HTTPClients: Sendable {
    private let configuration: HTTPClient.Configuration
    /// One event loop for all: what `AnswerCollector` is told then comes in the order in which it happened.
    let eventLoop: any EventLoop
    /// By scheme and host; nil once they are shut down.
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
        // What the tests drive. A stream that HTTP/2 refuses was not acted on, and this could not tell.
        http.httpVersion = .http1Only
        // As many as a push has in flight at most. Fewer would count a wait for one of them as a wait for the network.
        http.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 64
        // Node closes a connection that it has not heard of for five seconds, and Azure Mobile Apps runs on Node. A
        // request that meets the closing is lost, and need not have been.
        http.connectionPool.idleTimeout = .seconds(4)
        // One try a call: when to try again is for those to say who know what the request was.
        http.connectionPool.retryConnectionEstablishment = false
        self.configuration = http
        eventLoop = MultiThreadedEventLoopGroup.singleton.next()
    }

    deinit {
        for client in clients.withLock({ $0?.values.map { $0 } ?? [] }) { client.shutdown { _ in } }
    }

    /// The client for a request's server; nil once all are shut down.
    func client(for request: HTTPClient.Request) -> HTTPClient? {
        clients.withLock { clients in
            if clients == nil { return nil }
            let server = "\(request.scheme)://\(request.host)"
            if let client = clients?[server] { return client }
            var configuration = configuration
            if request.scheme == "https" {
                // Before a connection's first request.
                configuration.http1_1ConnectionDebugInitializer = { [host = request.host] channel in
                    ServerIdentity.check(channel, is: host)
                }
            }
            let client = HTTPClient(eventLoopGroup: eventLoop, configuration: configuration)
            clients?[server] = client
            return client
        }
    }

    /// Closes all connections, and makes no more.
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
            // None at all would mean the system's.
            guard !certificates.isEmpty else { throw NIOSSLError.failedToLoadCertificate }
            tls.trustRoots = .certificates(certificates)
            return tls
        } catch {
            throw NetworkError(
                .invalidCertificates, "The certificates to trust can't be read: they must be PEM.", underlying: error)
        }
    }
}

extension TimeAmount {
    /// A time limit of at least a nanosecond, and of at most some years.
    static func limit(_ duration: Duration) -> TimeAmount {
        let (seconds, attoseconds) = duration.components
        guard seconds >= 0 else { return .nanoseconds(1) }
        guard seconds < 1 << 30 else { return .seconds(1 << 30) }
        return .nanoseconds(max(1, seconds * 1_000_000_000 + attoseconds / 1_000_000_000))
    }
}
