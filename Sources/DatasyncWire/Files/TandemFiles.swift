import HTTPTypes
import Tandem
import TandemSync

/// Files on a server that speaks Tandem's own file protocol, over any transport. `TandemServer` speaks it; its article
/// "The file protocol" says how another one does.
///
/// For example:
///
/// ```swift
/// let files = TandemFiles(address, over: transport) { reason in
///     .bearer(try await session.token(isFresh: reason != .first))
/// }
/// ```
///
/// A file of up to a mebibyte is sent whole at once. Of a larger one the server is asked first what it has, and the
/// rest is sent. Credentials go to the server at the address, and URLs elsewhere are refused: rows name them, and rows
/// may be anybody's.
public final class TandemFiles: RemoteFiles {
    /// Up to which size a file is sent without asking what the server has, in bytes.
    private static let small: Int64 = 1 << 20

    private let server: ServerAddress
    private let transport: any FileTransport
    private let credentials: Credentials?

    /// - Parameter authentication: Gives the header fields that say who is calling. They are kept until the server asks
    ///   for others; then it is called once for all requests under way, and each of them is repeated once.
    public init(
        _ address: ServerAddress, over transport: any FileTransport, authentication: Authentication? = nil
    ) {
        server = address
        self.transport = transport
        credentials = authentication.map(Credentials.init)
    }

    /// Where the server is: its scheme, host and path.
    public var address: String { server.description }

    public func upload(
        _ file: OutgoingFile, progress: @escaping @Sendable (Int64) -> Void
    ) async throws(RemoteFailure) -> UploadedFile {
        try file.check()
        var start = Start.anew
        if file.size > Self.small {
            switch try await standing(of: file) {
            case .there(let uploaded):
                progress(file.size)
                return uploaded
            case .start(let found): start = found
            }
        }
        return try await send(file, start, progress)
    }

    public func download(
        _ file: RemoteFile, from offset: Int64, to take: @escaping @Sendable (FilePiece) async throws -> Void
    ) async throws(RemoteFailure) -> ServedFile {
        let fields = FileDownload.fields(file, from: offset)
        let exchange = FileExchange(transport, request(.get, try path(of: file), fields))
        let download = FileDownload(exchange, file, from: offset, to: take)
        let (response, text) = try await authenticated(exchange) { exchange throws(RemoteFailure) in
            try await exchange.run(take: { try await download.piece($0, $1) })
        }
        guard response.status.kind == .successful else {
            throw exchange.failure(response, text, onMismatch: .changed)
        }
        return try download.end(response)
    }

    public func delete(_ file: RemoteFile) async throws(RemoteFailure) {
        let fields: HTTPFields = file.etag.map { [.ifMatch: "\"\($0)\""] } ?? [:]
        let exchange = FileExchange(transport, request(.delete, try path(of: file), fields))
        let (response, text) = try await authenticated(exchange) { exchange throws(RemoteFailure) in
            try await exchange.run()
        }
        guard [200, 204].contains(response.status.code) else {
            throw exchange.failure(response, text, onMismatch: .changed)
        }
    }

    /// Creates access to files that shares its credentials.
    init(_ address: ServerAddress, over transport: any FileTransport, credentials: Credentials?) {
        server = address
        self.transport = transport
        self.credentials = credentials
    }
}

// MARK: - Uploads

extension TandemFiles {
    /// From where a file is sent.
    private enum Start {
        /// The whole of it: what the server has is dropped.
        case anew
        case part(from: Int64)
    }

    private enum Standing {
        case there(UploadedFile)
        case start(Start)
    }

    /// Asks what the server has of a file.
    private func standing(of file: OutgoingFile) async throws(RemoteFailure) -> Standing {
        let exchange = FileExchange(transport, request(.head, path(of: file.id), [:]))
        let (response, text) = try await authenticated(exchange) { exchange throws(RemoteFailure) in
            try await exchange.run()
        }
        let fields = FileFields(response)
        switch response.status.code {
        case 200:
            guard let sha256 = fields.sha256 else {
                throw exchange.bad(.wrongType, "The answer does not say which file it is.", 200)
            }
            guard sha256 == file.sha256 else { throw .file(.taken) }
            return .there(try uploaded(file, response, exchange, wasThere: true))
        case 204:
            guard let offset = fields.uploadOffset, let length = fields.uploadLength, offset <= length else {
                throw exchange.bad(.size, "The answer does not say how much the server has.", 204)
            }
            // Of another file, or of one that the server should be done with.
            guard length == file.size, fields.sha256 == file.sha256, offset < length else { return .start(.anew) }
            return .start(.part(from: offset))
        case 404, 410: return .start(.anew)
        default: throw exchange.failure(response, text, onMismatch: .taken)
        }
    }

    private func send(
        _ file: OutgoingFile, _ start: Start, _ progress: @escaping @Sendable (Int64) -> Void
    ) async throws(RemoteFailure) -> UploadedFile {
        var fields: HTTPFields = [
            .contentType: file.contentType.isEmpty ? "application/octet-stream" : file.contentType,
            .contentDisposition: FileName.disposition(file.name),
        ]
        fields[.reprDigest] = FileFields.digest(file.sha256)
        var offset: Int64 = 0
        switch start {
        case .anew: fields[.ifNoneMatch] = "*"
        case .part(let start):
            offset = start
            fields[.contentRange] = "bytes \(start)-\(file.size - 1)/\(file.size)"
        }
        try await file.willBe(at: origin + path(of: file.id))
        let exchange = FileExchange(transport, request(.put, path(of: file.id), fields))
        let body = FileExchange.body(of: file, from: offset, progress: progress)
        let (response, text) = try await authenticated(exchange) { exchange throws(RemoteFailure) in
            try await exchange.run(body: body)
        }
        guard [200, 201].contains(response.status.code) else {
            throw exchange.failure(response, text, onMismatch: .taken)
        }
        let uploaded = try uploaded(file, response, exchange, wasThere: response.status.code == 200)
        progress(file.size)
        return uploaded
    }

    /// Where the server says that a file is.
    private func uploaded(
        _ file: OutgoingFile, _ response: HTTPResponse, _ exchange: FileExchange, wasThere: Bool
    ) throws(RemoteFailure) -> UploadedFile {
        guard let etag = FileFields(response).etag else {
            throw exchange.bad(.noETag, "The answer does not say which file it is.", response.status.code)
        }
        var url = origin + path(of: file.id)
        if let location = response.headerFields[.location] {
            url = location.hasPrefix("/") && !location.hasPrefix("//") ? origin + location : location
            // What could not be asked for later.
            guard isFile(url) else {
                throw exchange.bad(.foreignLink, "The file is said to be elsewhere.", response.status.code)
            }
        }
        return UploadedFile(url: url, etag: etag, wasThere: wasThere)
    }
}

// MARK: - Addresses

extension TandemFiles {
    private var origin: String { "\(server.scheme)://\(server.authority)" }

    private func path(of id: String) -> String { "\(server.path)/files/\(id)" }

    private func path(of file: RemoteFile) throws(RemoteFailure) -> String {
        guard isFile(file.url) else {
            throw .unsendable(
                Unsendable(.invalidID, "The file's URL is not one of the server's files.", table: "files"))
        }
        if let etag = file.etag, !etag.utf8.allSatisfy({ $0 == 0x21 || (0x23...0x7E).contains($0) }) {
            throw .unsendable(Unsendable(.invalidVersion, "The file's ETag can't stand in a header.", table: "files"))
        }
        return String(file.url.dropFirst(origin.count))
    }

    /// Whether a URL is of one of this server's files: nothing but a name below `files`.
    private func isFile(_ url: String) -> Bool {
        let folder = origin + server.path + "/files/"
        guard url.hasPrefix(folder), url.utf8.count <= 4096 else { return false }
        let name = url.dropFirst(folder.count)
        return !name.isEmpty && name != "." && name != ".."
            && name.utf8.allSatisfy { byte in
                switch byte {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
                default: "-._~".utf8.contains(byte)
                }
            }
    }

    private func request(_ method: HTTPRequest.Method, _ path: String, _ fields: HTTPFields) -> HTTPRequest {
        var request = HTTPRequest(
            method: method, scheme: server.scheme, authority: server.authority, path: path, headerFields: fields)
        request.headerFields[.userAgent] = "Tandem"
        return request
    }
}

// MARK: - Credentials

extension TandemFiles {
    /// One exchange, and one more with new credentials if the server did not take the first ones.
    private func authenticated(
        _ exchange: FileExchange,
        _ run: (FileExchange) async throws(RemoteFailure) -> (HTTPResponse, [UInt8])
    ) async throws(RemoteFailure) -> (HTTPResponse, [UInt8]) {
        guard let credentials else { return try await run(exchange) }
        var refusal: Int?
        while true {
            let issue: Credentials.Issue
            do {
                issue = try await credentials.current()
            } catch {
                throw error is CancellationError && Task.isCancelled
                    ? .notSent(error) : .unauthenticated(status: refusal ?? 401, underlying: error)
            }
            var request = exchange.request
            for field in issue.fields { request.headerFields[field.name] = field.value }
            let answer = try await run(FileExchange(exchange.transport, request))
            let status = answer.0.status.code
            guard status == 401 else { return answer }
            await credentials.refuse(issue.number, status: status)
            // The second refusal is an answer.
            guard refusal == nil else { return answer }
            refusal = status
        }
    }
}
