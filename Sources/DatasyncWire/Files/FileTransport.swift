public import HTTPTypes

/// What carries files to a server and back, piece by piece: the sibling of ``HTTPTransport`` for bodies that are never
/// in memory.
///
/// Whoever implements it keeps these laws:
///
/// 1. A call is one exchange: nothing is repeated, no redirect is followed, no credentials and no cookies are added.
/// 2. It returns when the answer is whole. What ends before its `Content-Length`, or before its last chunk, is
///    ``TransportFailure/lost(_:)``.
/// 3. The next piece of a body is asked for when the last one is on its way, and the next one of an answer is read when
///    the last one is taken.
/// 4. An answer that comes before the request's body has left is an answer, and the rest of the body is not sent.
/// 5. A cancelled call ends within a second, if the caller's closures do, with a `CancellationError` inside the failure
///    that is true. When a call has ended, none of them is running, and none is called.
/// 6. What a closure throws ends the exchange, and is inside the failure.
/// 7. `Host` and `Content-Length` are written by the transport. Time-outs are for silence, not for the whole.
public protocol FileTransport: Sendable {
    /// Sends a request, and hands over what comes.
    ///
    /// - Parameters:
    ///   - body: What is sent, or nothing.
    ///   - take: Given the answer's head and its body's pieces, one after another. An answer without a body has one
    ///     piece without bytes, or none.
    /// - Returns: The answer's head.
    func exchange(
        _ request: HTTPRequest, body: FileBody?,
        take: @escaping @Sendable (HTTPResponse, [UInt8]) async throws -> Void
    ) async throws(TransportFailure) -> HTTPResponse
}

/// A request's body whose length is known.
public struct FileBody: Sendable {
    /// How many bytes there are.
    public let count: Int64
    /// The bytes that follow so many others, at least one. It is called by one task at a time, in their order, and not
    /// once all are there.
    public let piece: @Sendable (_ sent: Int64) async throws -> [UInt8]

    /// A body, read as it is sent.
    public init(count: Int64, piece: @escaping @Sendable (_ sent: Int64) async throws -> [UInt8]) {
        self.count = count
        self.piece = piece
    }
}
