import AsyncHTTPClient
public import DatasyncWire
public import HTTPTypes
import NIOCore
import NIOHTTP1

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
    let clients: HTTPClients
    private let exchangeTimeout: TimeAmount

    /// A transport with connections of its own, on a thread that it shares with others.
    ///
    /// - Throws: ``NetworkError`` with the code `invalidCertificates`.
    public init(_ configuration: Configuration = Configuration()) throws(NetworkError) {
        clients = try HTTPClients(configuration)
        exchangeTimeout = .limit(configuration.exchangeTimeout)
    }

    /// Closes all connections. Exchanges under way fail, and so do later ones; to call it twice is no error.
    public func shutdown() async {
        await clients.shutdown()
    }

    public func send(
        _ request: HTTPRequest, body: [UInt8], limit: Int
    ) async throws(TransportFailure) -> (HTTPResponse, [UInt8]) {
        if Task.isCancelled { throw .notSent(CancellationError()) }
        let server = "\(request.scheme ?? "")://\(request.authority ?? "")"
        let collector = AnswerCollector(limit: limit)
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
            throw NetworkError(.invalidAddress, "The address is none of HTTP.", server: server)
        }
        // NB: AsyncHTTPClient's own leaves out the brackets of an IPv6 address.
        var headers: HTTPHeaders = ["Host": host]
        for field in request.headerFields { headers.add(name: field.name.rawName, value: field.value) }
        if !headers.contains(name: "Accept-Encoding") { headers.add(name: "Accept-Encoding", value: "gzip, deflate") }
        return try HTTPClient.Request(
            url: server + (request.path ?? "/"), method: HTTPMethod(rawValue: request.method.rawValue),
            headers: headers, body: body)
    }
}
