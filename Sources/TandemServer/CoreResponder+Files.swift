import HTTPTypes
import HummingbirdCore
import NIOCore
import TandemServerCore

extension CoreResponder {
    /// Passes a file request to the core and the response back, both bodies in pieces.
    func respondWithFile(to request: Request, head: HTTPRequest, by writer: consuming ResponseWriter) async throws {
        var parts = request.body.makeAsyncIterator()
        let isAwaited = (head.headerFields[.contentLength] ?? "0") != "0"
        var isWhole = !isAwaited
        let outcome = await core.exchangeFile(head) {
            guard !isWhole else { return nil }
            guard let part = try await parts.next() else {
                isWhole = true
                return nil
            }
            return Array(buffer: part)
        }
        guard case .response(var response, let content) = outcome else { throw Close.noResponse }
        // If all bytes were read, the next part is the end of the body and is available at once.
        if !isWhole, response.status.kind == .successful, try await parts.next() == nil { isWhole = true }
        if !isWhole { response.headerFields[.connection] = "close" }
        guard let content, head.method != .head else {
            try await writer.write(response: response, body: ResponseBody())
            if !isWhole { try await drain(&parts) }
            return
        }
        let body = ResponseBody(contentLength: Int(content.count)) { writer in
            var sent: Int64 = 0
            while let piece = try await content.piece(after: sent) {
                sent += Int64(piece.count)
                try await writer.write(ByteBuffer(bytes: piece))
            }
            try await writer.finish(nil)
        }
        try await writer.write(response: response, body: body)
        if !isWhole { try await drain(&parts) }
    }
}
