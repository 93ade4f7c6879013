public import HTTPTypes

/// Transfers files to a server and back in pieces: the counterpart of ``HTTPTransport`` for bodies that never fit in
/// memory.
///
/// Requirements for an implementation:
///
/// 1. A call is one exchange. The transport retries nothing, follows no redirect, and adds no credentials and no
///    cookies.
/// 2. The call returns when the response is complete. A response that ends before its `Content-Length` or its last
///    chunk throws ``TransportFailure/lost(_:)``.
/// 3. The transport asks for the next piece of a body when it has sent the previous one. It reads the next piece of a
///    response when `receive` has returned.
/// 4. A response may arrive before the request's body is sent. The transport then drops the rest of the body.
/// 5. A cancelled call ends within a second, if the caller's closures return. It throws `notSent` or `lost`, whichever
///    is true, with a `CancellationError` inside. No closure runs or is called after the call has ended.
/// 6. An error that a closure throws ends the exchange, and is inside the failure.
/// 7. The transport writes `Host` and `Content-Length`. Time-outs limit silence, not the whole exchange.
public protocol FileTransport: Sendable {
    /// Sends a request and delivers the response in pieces.
    ///
    /// - Parameters:
    ///   - body: The request's body, if any.
    ///   - receive: Called with the response's head and each piece of its body, one after another. A response without a
    ///     body has one empty piece, or none.
    /// - Returns: The response's head.
    /// - Throws: ``TransportFailure``, which tells whether the server may have received the request.
    func exchange(
        _ request: HTTPRequest, body: FileBody?,
        receive: @escaping @Sendable (HTTPResponse, [UInt8]) async throws -> Void
    ) async throws(TransportFailure) -> HTTPResponse
}

/// A request body of known length.
public struct FileBody: Sendable {
    /// The length of the body, in bytes.
    public let count: Int64
    /// Returns the bytes after the first `sent` bytes, at least one. One task calls it at a time, in order, until the
    /// body is complete.
    public let piece: @Sendable (_ sent: Int64) async throws -> [UInt8]

    /// Creates a body that is read while it is sent.
    ///
    /// - Parameters:
    ///   - count: The number of bytes of the body.
    ///   - piece: Returns the bytes after the first `sent` ones: at least one, and at most the rest.
    public init(count: Int64, piece: @escaping @Sendable (_ sent: Int64) async throws -> [UInt8]) {
        self.count = count
        self.piece = piece
    }
}
