import AsyncHTTPClient
public import HTTPTypes
import NIOCore
import NIOHTTP1
public import RemoteHTTP

/// Sends requests with AsyncHTTPClient, by HTTP/1.1.
///
/// `DatasyncRemote(url:)` creates its own transport. Create one to share its connections between remotes, or to wait
/// for their end:
///
/// ```swift
/// let transport = try AsyncHTTPTransport()
/// let remote = try DatasyncRemote(url: serverURL, over: transport)
/// // ...
/// await transport.shutdown()
/// ```
///
/// Connections stay open for four seconds after a response. ``shutdown()`` closes them, and so does the release of the
/// last reference to the transport.
public final class AsyncHTTPTransport: HTTPTransport {
    let clients: HTTPClients
    private let exchangeTimeout: TimeAmount

    /// Creates a transport with its own connections, on an event loop that it shares with other transports.
    ///
    /// - Parameter configuration: The time limits, the proxy and the accepted certificates.
    /// - Throws: ``NetworkError`` with the code `invalidCertificates`.
    public init(_ configuration: Configuration = Configuration()) throws(NetworkError) {
        clients = try HTTPClients(configuration)
        exchangeTimeout = .limit(configuration.exchangeTimeout)
    }

    /// Creates a transport for a server whose limits also apply to decompressed bodies.
    ///
    /// Files come uncompressed, so that the limits do not apply to them.
    package convenience init(_ configuration: Configuration, limits: ResponseLimits) throws(NetworkError) {
        var configuration = configuration
        configuration.decompressedLimit = min(configuration.decompressedLimit, limits.bytes)
        try self.init(configuration)
    }

    /// Closes all connections. Current and later exchanges fail. A second call has no effect.
    public func shutdown() async {
        await clients.shutdown()
    }

    /// Sends a request and waits for the complete response.
    ///
    /// - Parameters:
    ///   - request: The request without its body.
    ///   - body: The bytes of the request's body.
    ///   - limit: The maximum size of the response's body, in bytes.
    /// - Throws: `TransportFailure`, which tells whether the server may have received the request.
    public func send(
        _ request: HTTPRequest, body: [UInt8], limit: Int
    ) async throws(TransportFailure) -> (HTTPResponse, [UInt8]) {
        if Task.isCancelled { throw .notSent(CancellationError()) }
        let server = "\(request.scheme ?? "")://\(request.authority ?? "")"
        let collector = ResponseCollector(limit: limit)
        do {
            let request = try Self.written(request, body: body, to: server)
            guard let client = clients.client(for: request) else { throw HTTPClientError.alreadyShutdown }
            let exchange = client.execute(request: request, delegate: collector, deadline: .now() + exchangeTimeout)
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
        try written(request, body: body.isEmpty ? nil : .byteBuffer(ByteBuffer(bytes: body)), to: server)
    }

    static func written(
        _ request: HTTPRequest, body: HTTPClient.Body?, to server: String
    ) throws -> HTTPClient.Request {
        guard request.scheme == "https" || request.scheme == "http", let host = request.authority, !host.isEmpty else {
            throw NetworkError(.invalidAddress, message: "The address is not a valid HTTP URL.", server: server)
        }
        // NB: The header that AsyncHTTPClient adds lacks the brackets of an IPv6 address.
        var headers: HTTPHeaders = ["Host": host]
        for field in request.headerFields { headers.add(name: field.name.rawName, value: field.value) }
        if !headers.contains(name: "Accept-Encoding") { headers.add(name: "Accept-Encoding", value: "gzip, deflate") }
        return try HTTPClient.Request(
            url: server + (request.path ?? "/"), method: HTTPMethod(rawValue: request.method.rawValue),
            headers: headers, body: body)
    }
}
