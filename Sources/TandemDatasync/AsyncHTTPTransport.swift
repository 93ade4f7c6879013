import AsyncHTTPClient
public import DatasyncWire
public import HTTPTypes
import NIOCore
import NIOHTTP1
import NIOHTTPCompression
import NIOPosix
import NIOSSL

/// Carries requests over AsyncHTTPClient, by HTTP/1.1.
///
/// A `DatasyncRemote(url:)` makes one of its own. Make one to share its connections between remotes, or to wait for
/// their end:
///
/// ```swift
/// let transport = try AsyncHTTPTransport()
/// let remote = try DatasyncRemote(url: serverURL, over: transport)
/// // ...
/// await transport.shutdown()
/// ```
///
/// Connections are kept open for four seconds after an answer. They are closed by ``shutdown()``, or when the last
/// reference to the transport goes.
public final class AsyncHTTPTransport: HTTPTransport {
    private let client: HTTPClient
    private let exchangeTimeout: TimeAmount

    /// A transport with connections of its own, on a thread that it shares with others.
    ///
    /// - Throws: ``NetworkError`` with the code `invalidCertificates`.
    public init(_ configuration: Configuration = Configuration()) throws(NetworkError) {
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
        exchangeTimeout = .limit(configuration.exchangeTimeout)
        // One event loop for all: what `AnswerCollector` is told then comes in the order in which it happened.
        client = HTTPClient(eventLoopGroup: MultiThreadedEventLoopGroup.singleton.next(), configuration: http)
    }

    deinit {
        // Once more after `shutdown()` is an error that says so.
        client.shutdown { _ in }
    }

    /// Closes all connections. Exchanges under way fail, and so do later ones; to call it twice is no error.
    public func shutdown() async {
        try? await client.shutdown()
    }

    public func send(
        _ request: HTTPRequest, body: [UInt8], limit: Int
    ) async throws(TransportFailure) -> (HTTPResponse, [UInt8]) {
        if Task.isCancelled { throw .notSent(CancellationError()) }
        let server = "\(request.scheme ?? "")://\(request.authority ?? "")"
        let collector = AnswerCollector(limit: limit)
        do {
            let exchange = client.execute(
                request: try Self.written(request, body: body, to: server), delegate: collector,
                deadline: .now() + exchangeTimeout)
            return try await withTaskCancellationHandler {
                try await exchange.get()
            } onCancel: {
                exchange.cancel()
            }
        } catch {
            throw collector.failure(error, isCancelled: Task.isCancelled, server: server)
        }
    }

    private static func written(_ request: HTTPRequest, body: [UInt8], to server: String) throws -> HTTPClient.Request {
        guard request.scheme == "https" || request.scheme == "http", let host = request.authority, !host.isEmpty else {
            throw NetworkError(.invalidAddress, "The address is none of HTTP.", server: server)
        }
        // NB: AsyncHTTPClient's own leaves out the brackets of an IPv6 address.
        var headers: HTTPHeaders = ["Host": host]
        for field in request.headerFields { headers.add(name: field.name.rawName, value: field.value) }
        if !headers.contains(name: "Accept-Encoding") { headers.add(name: "Accept-Encoding", value: "gzip, deflate") }
        return try HTTPClient.Request(
            url: server + (request.path ?? "/"), method: HTTPMethod(rawValue: request.method.rawValue),
            headers: headers, body: body.isEmpty ? nil : .byteBuffer(ByteBuffer(bytes: body)))
    }

    private static func tls(_ trust: Trust) throws(NetworkError) -> TLSConfiguration {
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
    fileprivate static func limit(_ duration: Duration) -> TimeAmount {
        let (seconds, attoseconds) = duration.components
        guard seconds >= 0 else { return .nanoseconds(1) }
        guard seconds < 1 << 30 else { return .seconds(1 << 30) }
        return .nanoseconds(max(1, seconds * 1_000_000_000 + attoseconds / 1_000_000_000))
    }
}
