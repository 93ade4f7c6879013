import HTTPTypes
import TandemSync

extension HTTPTransport {
    /// Sends a request for a table, unless the task is cancelled.
    ///
    /// - Parameters:
    ///   - request: The request with all of its header fields.
    ///   - body: The body of the request.
    ///   - limit: The maximum size of the response's body, in bytes.
    ///   - table: The table, for an error.
    ///   - url: The address of the request, for an error.
    package func send(
        _ request: HTTPRequest, body: [UInt8], limit: Int, table: RemoteTableName, url: String
    ) async throws(RemoteFailure) -> (HTTPResponse, [UInt8]) {
        if Task.isCancelled { throw .notSent(CancellationError()) }
        do {
            return try await send(request, body: body, limit: limit)
        } catch {
            switch error {
            case .notSent(let cause): throw .notSent(cause)
            case .lost(let cause): throw .lost(cause)
            case .tooLarge:
                throw .invalidResponse(
                    InvalidResponse(
                        .tooLarge, message: "The response body has more than \(limit) bytes.", table: table, url: url,
                        status: 0))
            }
        }
    }
}
