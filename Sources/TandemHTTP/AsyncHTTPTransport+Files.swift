import AsyncHTTPClient
public import HTTPTypes
import NIOCore
import NIOHTTPCompression
public import RemoteHTTP

/// Files use the same connections and the same trust. ``Configuration/idleTimeout`` limits the server's silence. The
/// whole exchange has no time limit.
extension AsyncHTTPTransport: FileTransport {
    /// Sends a request and delivers the response in pieces.
    ///
    /// - Parameters:
    ///   - request: The request without its body.
    ///   - body: The request's body, if any.
    ///   - receive: Called with the response's head and each piece of its body, one after another.
    /// - Throws: `TransportFailure`, which tells whether the server may have received the request.
    public func exchange(
        _ request: HTTPRequest, body: FileBody?,
        receive: @escaping @Sendable (HTTPResponse, [UInt8]) async throws -> Void
    ) async throws(TransportFailure) -> HTTPResponse {
        if Task.isCancelled { throw .notSent(CancellationError()) }
        let server = "\(request.scheme ?? "")://\(request.authority ?? "")"
        let collector = FileCollector(receive: receive)
        let response: HTTPResponse
        do {
            let stream = body.flatMap { body in
                body.count > 0 ? collector.stream(body, on: clients.eventLoop) : nil
            }
            let request = try Self.written(request, body: stream, to: server)
            guard let client = clients.client(for: request) else { throw HTTPClientError.alreadyShutdown }
            let exchange = client.execute(request: request, delegate: collector)
            response = try await withTaskCancellationHandler {
                try await exchange.get()
            } onCancel: {
                exchange.cancel()
                collector.cancel()
            }
        } catch {
            await collector.end(on: clients.eventLoop)
            if let refusal = collector.refusal, !Task.isCancelled, collector.thrown == nil {
                try? await collector.deliver()
                return refusal
            }
            // Delivers the bytes received before the connection broke: they need not be sent again.
            if !Task.isCancelled, collector.thrown == nil { try? await collector.deliver() }
            throw Self.failure(error, collector: collector, server: server)
        }
        await collector.end(on: clients.eventLoop)
        do {
            try await collector.deliver()
        } catch {
            throw .lost(Task.isCancelled ? CancellationError() : error)
        }
        return response
    }

    /// Returns the reason for a missing or incomplete response. Errors of the caller's closures come before their
    /// effects on the exchange.
    private static func failure(
        _ error: any Error, collector: FileCollector, server: String
    ) -> TransportFailure {
        let wasSent = collector.wasSent
        if Task.isCancelled { return wasSent ? .lost(CancellationError()) : .notSent(CancellationError()) }
        if let thrown = collector.thrown { return wasSent ? .lost(thrown) : .notSent(thrown) }
        if case NIOHTTPDecompression.DecompressionError.limit = error { return .tooLarge }
        let cause = error as? NetworkError ?? NetworkError(error, server: server, wasConnected: wasSent)
        return wasSent ? .lost(cause) : .notSent(cause)
    }
}
