import HTTPTypes
import HummingbirdCore
import NIOCore
import TandemServerCore

/// Passes requests to the core, and its responses back.
struct CoreResponder: Sendable {
    /// Thrown to close a connection.
    enum Close: Error { case noResponse, longBody }

    let core: ServerCore
    private let scheme: String
    /// The number of body bytes that the core accepts. Reading stops once there are more, which is enough for the core
    /// to refuse.
    private let limit: Int

    init(_ core: ServerCore, scheme: String) {
        self.core = core
        self.scheme = scheme
        limit = core.configuration.limits.body ?? 1 << 20
    }

    func respond(to request: Request, by writer: consuming ResponseWriter) async throws {
        var head = request.head
        head.scheme = scheme
        if core.isForFile(head) { return try await respondWithFile(to: request, head: head, by: writer) }
        var parts = request.body.makeAsyncIterator()
        var body: [UInt8] = []
        while body.count <= limit, let part = try await parts.next() {
            body.append(contentsOf: part.readableBytesView)
        }
        let isWhole = body.count <= limit
        guard case .response(var response, let bytes) = await core.exchange(head, body: body) else {
            throw Close.noResponse
        }
        if response.status != .noContent, response.status != .notModified {
            response.headerFields[.contentLength] = String(bytes.count)
        }
        if !isWhole { response.headerFields[.connection] = "close" }
        let hasBody = !bytes.isEmpty && head.method != .head
        let content = hasBody ? ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)) : ResponseBody()
        try await writer.write(response: response, body: content)
        if !isWhole { try await drain(&parts) }
    }

    /// Reads a limited rest of the body, then closes the connection. A client that is still sending would otherwise
    /// miss the response.
    func drain(_ parts: inout RequestBody.AsyncIterator) async throws {
        var patience = 4 << 20
        while patience > 0, let part = try await parts.next() { patience -= part.readableBytes }
        throw Close.longBody
    }
}
