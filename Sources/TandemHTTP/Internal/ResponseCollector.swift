import AsyncHTTPClient
import HTTPTypes
import NIOCore
import NIOHTTP1
import Synchronization

/// Collects one response, and records whether its request was sent.
///
/// AsyncHTTPClient calls this delegate on the connection's event loop, which is the transport's only one.
/// `didSendRequestHead` therefore runs when the head is written, and before any later failure.
final class ResponseCollector: HTTPClientResponseDelegate {
    /// The response exceeds its limit.
    struct TooLarge: Error {}
    /// The head can't be converted to an `HTTPResponse`.
    struct BadHead: Error {}

    private struct State {
        var wasSent = false
        var response: HTTPResponse?
        var body: [UInt8] = []
    }

    private let limit: Int
    private let state = Mutex(State())

    init(limit: Int) {
        self.limit = limit
    }

    /// Whether a byte of the request may have been sent.
    var wasSent: Bool { state.withLock { $0.wasSent } }

    func didSendRequestHead(task: HTTPClient.Task<(HTTPResponse, [UInt8])>, _ head: HTTPRequestHead) {
        state.withLock { $0.wasSent = true }
    }

    func didReceiveHead(
        task: HTTPClient.Task<(HTTPResponse, [UInt8])>, _ head: HTTPResponseHead
    ) -> EventLoopFuture<Void> {
        guard let response = HTTPResponse(head) else { return task.eventLoop.makeFailedFuture(BadHead()) }
        // The length of a compressed body does not limit its decompressed size.
        let isCompressed = head.headers.contains(name: "Content-Encoding")
        let length = response.headerFields[.contentLength].flatMap { Int($0) } ?? 0
        guard isCompressed || length <= limit else { return task.eventLoop.makeFailedFuture(TooLarge()) }
        state.withLock { state in
            state.response = response
            // The stated length may be false. Reserve at most one mebibyte, and grow as bytes arrive.
            state.body.reserveCapacity(min(max(length, 0), 1 << 20))
        }
        return task.eventLoop.makeSucceededVoidFuture()
    }

    func didReceiveBodyPart(
        task: HTTPClient.Task<(HTTPResponse, [UInt8])>, _ buffer: ByteBuffer
    ) -> EventLoopFuture<Void> {
        let fits = state.withLock { state in
            guard state.body.count + buffer.readableBytes <= limit else {
                state.body = []
                return false
            }
            state.body.append(contentsOf: buffer.readableBytesView)
            return true
        }
        // The failure closes the connection, so nothing more is read.
        return fits ? task.eventLoop.makeSucceededVoidFuture() : task.eventLoop.makeFailedFuture(TooLarge())
    }

    func didFinishRequest(task: HTTPClient.Task<(HTTPResponse, [UInt8])>) throws -> (HTTPResponse, [UInt8]) {
        let result = state.withLock { state in
            defer { state.body = [] }
            return state.response.map { ($0, state.body) }
        }
        guard let result else { throw BadHead() }
        return result
    }
}
