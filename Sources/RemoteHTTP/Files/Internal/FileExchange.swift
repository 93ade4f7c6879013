import HTTPTypes
import Synchronization
import Tandem
import TandemSync

/// An exchange with a file server, and the meaning of its responses in any protocol.
package struct FileExchange: Sendable {
    package typealias ChunkHandler = @Sendable (HTTPResponse, [UInt8]) async throws -> Void

    /// The number of bytes kept of a response that is not a file. They may contain an error message.
    private static let kept = 16 << 10
    /// The maximum size of a response that is not a file.
    private static let greatest = 1 << 20

    /// The response exceeds its maximum size.
    private struct Endless: Error {}

    private let transport: any FileTransport
    private let request: HTTPRequest
    /// The address without its query, which errors may show.
    package let url: String

    /// Creates an exchange.
    ///
    /// - Parameter shownURL: The address for errors if the requested one is a secret.
    package init(_ transport: any FileTransport, request: HTTPRequest, shownURL: String? = nil) {
        self.transport = transport
        self.request = request
        if let shownURL {
            url = shownURL
            return
        }
        let path = (request.path ?? "").prefix { $0 != "?" }
        url = "\(request.scheme ?? "")://\(request.authority ?? "")\(path)"
    }

    /// Sends the request, and keeps the first bytes of the response's body.
    ///
    /// - Parameter receive: Receives the body of a success. The body is then not kept.
    package func run(
        body: FileBody? = nil, receive: ChunkHandler? = nil
    ) async throws(RemoteFailure) -> (HTTPResponse, [UInt8]) {
        if Task.isCancelled { throw .notSent(CancellationError()) }
        let text = Mutex<(kept: [UInt8], count: Int)>(([], 0))
        do {
            let response = try await transport.exchange(request, body: body) { response, bytes in
                if let receive, response.status.kind == .successful { return try await receive(response, bytes) }
                let isTooMuch = text.withLock { text in
                    text.count += bytes.count
                    text.kept += bytes.prefix(max(0, Self.kept - text.kept.count))
                    return text.count > Self.greatest
                }
                if isTooMuch { throw Endless() }
            }
            return (response, text.withLock { $0.kept })
        } catch {
            switch error {
            case .notSent(let cause): throw cause as? RemoteFailure ?? .notSent(cause)
            case .lost(let cause as RemoteFailure): throw cause
            case .lost(is Endless), .tooLarge: throw bad(.tooLarge, message: "The response is too large.", status: 0)
            case .lost(let cause): throw .lost(cause)
            }
        }
    }

    /// Sends the request with credentials, and once more with new ones if the server refused the first ones.
    ///
    /// - Parameter credentials: The user's credentials, or `nil` to send the request as it is.
    package func run(
        with credentials: Credentials?, body: FileBody? = nil, receive: ChunkHandler? = nil
    ) async throws(RemoteFailure) -> (HTTPResponse, [UInt8]) {
        guard let credentials else { return try await run(body: body, receive: receive) }
        return try await credentials.authorize(request) { request throws(RemoteFailure) in
            let exchange = FileExchange(transport, request: request, shownURL: url)
            let response = try await exchange.run(body: body, receive: receive)
            return (response, response.0.status.code == 401)
        }
    }

    package func bad(_ code: InvalidResponse.Code, message: String, status: Int) -> RemoteFailure {
        .invalidResponse(InvalidResponse(code, message: message, table: "files", url: url, status: status))
    }

    /// Returns the failure that an unsuccessful status stands for.
    package func failure(_ response: HTTPResponse, body: [UInt8], onMismatch mismatch: FileProblem) -> RemoteFailure {
        switch response.status.code {
        case 200..<300:
            return bad(.status, message: "The status is not valid for this response.", status: response.status.code)
        case 401: return .unauthenticated(status: 401, underlying: nil)
        case 404: return .notFound
        case 410: return .gone
        case 412: return .file(mismatch)
        case 413: return .file(.tooLarge)
        case 416: return .file(.changed)
        case 422: return .file(.hashMismatch)
        case 507: return .file(.outOfSpace)
        // Another upload of this file is running or has ended. The next attempt asks for its state.
        case 408, 409, 423, 425, 429:
            return .later(status: response.status.code, retryAfter: response.retryAfter)
        case let status where (400..<500).contains(status):
            return .refused(
                status: status, message: ServerMessage.text(of: response, body: body, limit: ResponseLimits().message))
        case let status: return .later(status: status, retryAfter: response.retryAfter)
        }
    }
}

// MARK: - Bodies

extension FileExchange {
    /// Returns a file's bytes from an offset on, as a body. Read errors are a ``RemoteFailure`` inside the transport's
    /// failure.
    package static func body(
        of file: OutgoingFile, from offset: Int64, progress: @escaping @Sendable (Int64) -> Void
    ) -> FileBody {
        // A retry after a 401 restarts the body. The reported progress must not decrease.
        let reported = Mutex<Int64>(-1)
        return FileBody(count: file.size - offset) { sent in
            let place = offset + sent
            let isMore = reported.withLock { reported in
                defer { reported = max(reported, place) }
                return place > reported
            }
            if isMore { progress(place) }
            let count = Int(min(Self.piece, file.size - place))
            let bytes: [UInt8]
            do {
                bytes = try await file.bytes.read(at: place, count: count)
            } catch is CancellationError where Task.isCancelled {
                throw CancellationError()
            } catch {
                throw RemoteFailure.file(.unreadable(error))
            }
            guard bytes.count == count else {
                throw RemoteFailure.file(.unreadable(ShortFile(end: place + Int64(bytes.count), size: file.size)))
            }
            return bytes
        }
    }

    /// The number of bytes read from a file at a time.
    private static let piece: Int64 = 256 << 10
}
