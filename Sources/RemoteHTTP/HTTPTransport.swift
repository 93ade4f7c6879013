import HTTPTypes

/// Sends requests to a server and returns its responses.
///
/// Requirements for an implementation:
///
/// 1. A call is one exchange. The transport retries nothing, follows no redirect, and adds no credentials and no
///    cookies.
/// 2. The response is complete. A response that ends before its `Content-Length` or its last chunk throws
///    ``TransportFailure/lost(_:)``.
/// 3. The transport decompresses the body, and never lets it exceed `limit`. It throws ``TransportFailure/tooLarge``
///    before a larger body is in memory.
/// 4. A cancelled call ends within a second. It throws `notSent` or `lost`, whichever is true, with a
///    `CancellationError` inside.
/// 5. The transport writes `Host` and `Content-Length`, also for a POST and a PUT without a body.
/// 6. The transport has time-outs of its own, and ends with them.
public protocol HTTPTransport: Sendable {
    /// Sends a request and waits for the complete response.
    ///
    /// - Parameter limit: The maximum size of the response's body, in bytes.
    /// - Throws: ``TransportFailure``, which tells whether the server may have received the request.
    func send(
        _ request: HTTPRequest, body: [UInt8], limit: Int
    ) async throws(TransportFailure) -> (HTTPResponse, [UInt8])
}

/// The reason for a missing response.
public enum TransportFailure: Error, Sendable {
    /// No byte of the request reached the server.
    case notSent(any Error)
    /// The request was sent, or may have been.
    case lost(any Error)
    /// The response exceeds its limit. The request was sent.
    case tooLarge
}
