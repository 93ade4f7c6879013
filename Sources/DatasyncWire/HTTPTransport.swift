import HTTPTypes

/// What carries requests to a server and brings its answers back.
///
/// Whoever implements it keeps these laws:
///
/// 1. A call is one exchange: nothing is repeated, no redirect is followed, no credentials and no cookies are added.
/// 2. The answer is whole. What ends before its `Content-Length`, or before its last chunk, is
///    ``TransportFailure/lost(_:)``.
/// 3. A body is decompressed, and never grows past `limit`: what is larger is ``TransportFailure/tooLarge``, found
///    before it is in memory.
/// 4. A cancelled call ends within a second, with a `CancellationError` inside the failure that is true.
/// 5. `Host` and `Content-Length` are written by the transport, for a POST and a PUT without a body as well.
/// 6. It has time-outs of its own, and ends with them.
public protocol HTTPTransport: Sendable {
    /// Sends a request and waits for the whole answer.
    ///
    /// - Parameter limit: The most bytes that the body of the answer may have.
    func send(
        _ request: HTTPRequest, body: [UInt8], limit: Int
    ) async throws(TransportFailure) -> (HTTPResponse, [UInt8])
}

/// Why there is no answer.
public enum TransportFailure: Error, Sendable {
    /// Not a byte of the request reached the server.
    case notSent(any Error)
    /// The request left, or may have.
    case lost(any Error)
    /// The answer is larger than it may be. The request was sent.
    case tooLarge
}
