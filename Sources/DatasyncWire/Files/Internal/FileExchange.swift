import HTTPTypes
import Synchronization
import Tandem
import TandemSync

/// Exchanges with a server of files, and what their answers mean whatever the protocol is.
struct FileExchange: Sendable {
    typealias Take = @Sendable (HTTPResponse, [UInt8]) async throws -> Void

    /// The most of an answer that is no file which is kept: there may be a sentence in it.
    private static let kept = 16 << 10
    /// The most that it may have.
    private static let greatest = 1 << 20

    /// More bytes than an answer may have.
    private struct Endless: Error {}

    let transport: any FileTransport
    let request: HTTPRequest
    /// The address without its query, as errors may show it.
    let url: String

    init(_ transport: any FileTransport, _ request: HTTPRequest) {
        self.transport = transport
        self.request = request
        let path = (request.path ?? "").prefix { $0 != "?" }
        url = "\(request.scheme ?? "")://\(request.authority ?? "")\(path)"
    }

    /// Sends the request, and keeps a little of the answer's body.
    ///
    /// - Parameter take: Given the body of a success in place of keeping it.
    func run(
        body: FileBody? = nil, take: Take? = nil
    ) async throws(RemoteFailure) -> (HTTPResponse, [UInt8]) {
        if Task.isCancelled { throw .notSent(CancellationError()) }
        let text = Mutex<(kept: [UInt8], count: Int)>(([], 0))
        do {
            let response = try await transport.exchange(request, body: body) { response, bytes in
                if let take, response.status.kind == .successful { return try await take(response, bytes) }
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
            case .lost(is Endless), .tooLarge: throw bad(.tooLarge, "The answer has no end.", 0)
            case .lost(let cause): throw .lost(cause)
            }
        }
    }

    func bad(_ code: BadAnswer.Code, _ message: String, _ status: Int) -> RemoteFailure {
        .badAnswer(BadAnswer(code, message, table: "files", url: url, status: status))
    }

    /// What a status that is no success stands for.
    func failure(_ response: HTTPResponse, _ body: [UInt8], onMismatch mismatch: FileProblem) -> RemoteFailure {
        // The words of an error are the tables'.
        let words = AnswerReader(.datasync, at: .nowhere)
        switch response.status.code {
        case 200..<300: return bad(.status, "The status is not one of this answer.", response.status.code)
        case 401: return .unauthenticated(status: 401, underlying: nil)
        case 404: return .notFound
        case 410: return .gone
        case 412: return .file(mismatch)
        case 413: return .file(.tooLarge)
        case 416: return .file(.changed)
        case 422: return .file(.hashMismatch)
        case 507: return .file(.outOfSpace)
        // Another upload of this file is under way, or has been: what it has is asked the next time.
        case 408, 409, 423, 425, 429:
            return .later(status: response.status.code, retryAfter: words.retryAfter(response))
        case let status where (400..<500).contains(status):
            return .refused(status: status, message: words.message(response, body))
        case let status: return .later(status: status, retryAfter: words.retryAfter(response))
        }
    }
}

// MARK: - Bodies

extension FileExchange {
    /// A file's bytes from an offset on, as a body. What goes wrong with them is a ``RemoteFailure`` inside the
    /// transport's.
    static func body(
        of file: OutgoingFile, from offset: Int64, progress: @escaping @Sendable (Int64) -> Void
    ) -> FileBody {
        // A repeat after a 401 begins anew, and nobody is told that there is less than before.
        let told = Mutex<Int64>(-1)
        return FileBody(count: file.size - offset) { sent in
            let place = offset + sent
            let isMore = told.withLock { told in
                defer { told = max(told, place) }
                return place > told
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

    /// How much is read of a file at a time.
    private static let piece: Int64 = 256 << 10
}

extension ServerAddress {
    /// An address for what has none.
    fileprivate static let nowhere = ServerAddress("https://localhost")!
}
