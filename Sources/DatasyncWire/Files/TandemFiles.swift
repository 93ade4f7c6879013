import HTTPTypes
import RemoteHTTP
import Tandem
import TandemSync

/// Files on a server that speaks Tandem's file protocol, over any transport. `TandemServer` implements the protocol,
/// and its article "The file protocol" specifies it.
///
/// For example:
///
/// ```swift
/// let files = TandemFiles(address, over: transport) { reason in
///     .bearer(try await session.token(isFresh: reason != .first))
/// }
/// ```
///
/// A file of up to one mebibyte is sent in one request. For a larger file, the client first asks how much the server
/// has, and sends the rest.
///
/// Credentials go only to the server at the address, and URLs of other servers are refused: URLs come from rows, which
/// any user may have written. A URL with a former address of the server is requested at its present address.
public final class TandemFiles: RemoteFiles {
    /// The maximum size, in bytes, of a file that is sent without asking for the server's state.
    private static let small: Int64 = 1 << 20

    private let server: ServerAddress
    private let formerAddresses: [ServerAddress]
    private let transport: any FileTransport
    private let credentials: Credentials?

    /// Creates access to the files of a server.
    ///
    /// - Parameters:
    ///   - formerAddresses: The addresses that the server had before. Rows keep URLs with these addresses. Files at
    ///     them are requested at the present address, but not deleted: another row may have the present URL.
    ///   - authentication: Returns the header fields that identify the user. They are cached until the server refuses
    ///     them. The closure is then called once for all current requests, and each of these is retried once.
    public init(
        _ address: ServerAddress, formerAddresses: [ServerAddress] = [], over transport: any FileTransport,
        authentication: Authentication? = nil
    ) {
        server = address
        self.formerAddresses = formerAddresses
        self.transport = transport
        credentials = authentication.map(Credentials.init)
    }

    /// The server's address: scheme, host and path.
    public var address: String { server.description }

    /// Uploads a file, and continues an interrupted upload.
    ///
    /// - Parameters:
    ///   - file: The file.
    ///   - progress: Receives the number of bytes that were passed to the network or were already on the server.
    /// - Throws: `RemoteFailure`, as `RemoteFiles` requires.
    public func upload(
        _ file: OutgoingFile, progress: @escaping @Sendable (Int64) -> Void
    ) async throws(RemoteFailure) -> UploadedFile {
        try file.check()
        var start: Int64?
        if file.size > Self.small {
            switch try await uploadProgress(of: file) {
            case .there(let uploaded):
                progress(file.size)
                return uploaded
            case .missing(let found): start = found
            }
        }
        return try await send(file, from: start, progress: progress)
    }

    /// Downloads a file, from an offset on, in pieces.
    ///
    /// - Parameters:
    ///   - file: The file's URL, and its ETag if it is known.
    ///   - offset: The first byte to fetch, less than the file's size.
    ///   - receive: Receives the pieces in order.
    /// - Throws: `RemoteFailure`, as `RemoteFiles` requires.
    public func download(
        _ file: RemoteFile, from offset: Int64, to receive: @escaping @Sendable (FilePiece) async throws -> Void
    ) async throws(RemoteFailure) -> ServedFile {
        let fields = FileDownload.fields(file, from: offset)
        let path = try path(of: file, at: [server] + formerAddresses)
        let exchange = FileExchange(transport, request: request(.get, path: path, fields: fields))
        let download = FileDownload(exchange, wanted: file, from: offset, to: receive)
        let (response, text) = try await exchange.run(
            with: credentials, receive: { try await download.piece($0, bytes: $1) })
        guard response.status.kind == .successful else {
            throw exchange.failure(response, body: text, onMismatch: .changed)
        }
        return try download.end(response)
    }

    /// Deletes a file.
    ///
    /// A URL with a former address is refused: a row that uses the same file may have the present URL.
    ///
    /// - Parameter file: The file's URL, and the ETag that it must still have.
    /// - Throws: `RemoteFailure`, as `RemoteFiles` requires.
    public func delete(_ file: RemoteFile) async throws(RemoteFailure) {
        let fields: HTTPFields = file.etag.map { [.ifMatch: "\"\($0)\""] } ?? [:]
        let path = try path(of: file, at: [server])
        let exchange = FileExchange(transport, request: request(.delete, path: path, fields: fields))
        let (response, text) = try await exchange.run(with: credentials)
        guard [200, 204].contains(response.status.code) else {
            throw exchange.failure(response, body: text, onMismatch: .changed)
        }
    }

    /// Creates access to files that shares its credentials.
    init(
        _ address: ServerAddress, formerAddresses: [ServerAddress], over transport: any FileTransport,
        credentials: Credentials?
    ) {
        server = address
        self.formerAddresses = formerAddresses
        self.transport = transport
        self.credentials = credentials
    }
}

// MARK: - Uploads

extension TandemFiles {
    private enum UploadProgress {
        case there(UploadedFile)
        /// The offset of the first missing byte, or `nil` if the whole file is to be sent. The server then drops the
        /// bytes that it has.
        case missing(from: Int64?)
    }

    /// Requests the server's state of a file.
    private func uploadProgress(of file: OutgoingFile) async throws(RemoteFailure) -> UploadProgress {
        let exchange = FileExchange(transport, request: request(.head, path: path(of: file.id), fields: [:]))
        let (response, text) = try await exchange.run(with: credentials)
        let fields = FileFields(response)
        switch response.status.code {
        case 200:
            guard let sha256 = fields.sha256 else {
                throw exchange.bad(.wrongType, message: "The response has no Repr-Digest.", status: 200)
            }
            guard sha256 == file.sha256 else { throw .file(.taken) }
            return .there(try uploaded(file, response: response, exchange: exchange, wasThere: true))
        case 204:
            guard let offset = fields.uploadOffset, let length = fields.uploadLength, offset <= length else {
                throw exchange.bad(
                    .size, message: "The response does not state how many bytes the server has.", status: 204)
            }
            // The partial upload is of another file, or is complete but not finished by the server.
            guard length == file.size, fields.sha256 == file.sha256, offset < length else { return .missing(from: nil) }
            return .missing(from: offset)
        case 404, 410: return .missing(from: nil)
        default: throw exchange.failure(response, body: text, onMismatch: .taken)
        }
    }

    private func send(
        _ file: OutgoingFile, from start: Int64?, progress: @escaping @Sendable (Int64) -> Void
    ) async throws(RemoteFailure) -> UploadedFile {
        var fields: HTTPFields = [
            .contentType: file.contentType.isEmpty ? "application/octet-stream" : file.contentType,
            .contentDisposition: FileName.disposition(file.name),
        ]
        fields[.reprDigest] = FileFields.digest(file.sha256)
        if let start {
            fields[.contentRange] = "bytes \(start)-\(file.size - 1)/\(file.size)"
        } else {
            fields[.ifNoneMatch] = "*"
        }
        try await file.willBe(at: origin + path(of: file.id))
        let exchange = FileExchange(transport, request: request(.put, path: path(of: file.id), fields: fields))
        let body = FileExchange.body(of: file, from: start ?? 0, progress: progress)
        let (response, text) = try await exchange.run(with: credentials, body: body)
        guard [200, 201].contains(response.status.code) else {
            throw exchange.failure(response, body: text, onMismatch: .taken)
        }
        let uploaded = try uploaded(file, response: response, exchange: exchange, wasThere: response.status.code == 200)
        progress(file.size)
        return uploaded
    }

    /// Returns the file's URL by the server's response.
    private func uploaded(
        _ file: OutgoingFile, response: HTTPResponse, exchange: FileExchange, wasThere: Bool
    ) throws(RemoteFailure) -> UploadedFile {
        guard let etag = FileFields(response).etag else {
            throw exchange.bad(.noETag, message: "The response has no ETag.", status: response.status.code)
        }
        var url = origin + path(of: file.id)
        if let location = response.headerFields[.location] {
            url = location.hasPrefix("/") && !location.hasPrefix("//") ? origin + location : location
            // A later request for this URL would be refused.
            guard Self.name(of: url, at: server) != nil else {
                throw exchange.bad(
                    .foreignLink, message: "The Location header names a file outside this server's files.",
                    status: response.status.code)
            }
        }
        return UploadedFile(url: url, etag: etag, wasThere: wasThere)
    }
}

// MARK: - Addresses

extension TandemFiles {
    private var origin: String { "\(server.scheme)://\(server.authority)" }

    private func path(of id: String) -> String { "\(server.path)/files/\(id)" }

    private func path(of file: RemoteFile, at addresses: [ServerAddress]) throws(RemoteFailure) -> String {
        guard let name = addresses.lazy.compactMap({ Self.name(of: file.url, at: $0) }).first else {
            throw .notEncodable(
                RequestEncodingError(
                    .invalidID, message: "The file's URL is not in the server's folder of files.", table: "files"))
        }
        if let etag = file.etag, !etag.utf8.allSatisfy({ $0 == 0x21 || (0x23...0x7E).contains($0) }) {
            throw .notEncodable(
                RequestEncodingError(
                    .invalidVersion, message: "The file's ETag has characters that a header can't carry.",
                    table: "files")
            )
        }
        return path(of: name)
    }

    /// Returns the name of a file by its URL at an address: one path segment below `files`.
    private static func name(of url: String, at address: ServerAddress) -> String? {
        let folder = "\(address.description)/files/"
        guard url.hasPrefix(folder), url.utf8.count <= 4096 else { return nil }
        let name = url.dropFirst(folder.count)
        let isName =
            !name.isEmpty && name != "." && name != ".."
            && name.utf8.allSatisfy { $0.isAlphanumeric || "-._~".utf8.contains($0) }
        return isName ? String(name) : nil
    }

    private func request(_ method: HTTPRequest.Method, path: String, fields: HTTPFields) -> HTTPRequest {
        var request = HTTPRequest(
            method: method, scheme: server.scheme, authority: server.authority, path: path, headerFields: fields)
        request.headerFields[.userAgent] = "Tandem"
        return request
    }
}
