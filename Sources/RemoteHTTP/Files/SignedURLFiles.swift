import HTTPTypes
import Tandem
import TandemSync

/// Files in a storage that accepts signed addresses, such as S3 and compatible services. The app's server signs, and
/// never sees the bytes.
///
/// For example:
///
/// ```swift
/// let files = SignedURLFiles(over: transport) { file in
///     let signed = try await api.signUpload(of: file.id, checksum: file.sha256Base64)
///     let fields: HTTPFields = [HTTPField.Name("x-amz-checksum-sha256")!: file.sha256Base64]
///     return SignedUpload(SignedRequest(url: signed.url, fields: fields))
/// } download: { file in
///     SignedRequest(url: try await api.signDownload(of: file.url).url)
/// } delete: { file in
///     SignedRequest(url: try await api.signDelete(of: file.url).url)
/// }
/// ```
///
/// An interrupted upload restarts from the beginning: a signed `PUT` has no parts. Sign the same address for the same
/// file. An interrupted upload may leave a file there, which is deleted when no object needs it.
///
/// The storage verifies the bytes only if the signature includes a checksum. Without a checksum it stores the bytes
/// that arrive.
///
/// Addresses are signed for each call. URLs come from rows, so the app's closures must refuse files outside the app's
/// storage. Each host that the transport connects to receives the signature.
public struct SignedURLFiles: RemoteFiles {
    /// Signs the upload of a file.
    public typealias SignUpload = @Sendable (OutgoingFile) async throws -> SignedUpload
    /// Signs the download of a file.
    public typealias SignDownload = @Sendable (RemoteFile) async throws -> SignedRequest
    /// Signs the deletion of a file. Returns `nil` to leave the file in the storage.
    public typealias SignDelete = @Sendable (RemoteFile) async throws -> SignedRequest?

    private let transport: any FileTransport
    private let signUpload: SignUpload
    private let signDownload: SignDownload
    private let signDelete: SignDelete

    /// Creates access to files whose addresses closures sign.
    ///
    /// Errors of a closure other than `RemoteFailure` become `RemoteFailure.notSent`: nothing reached the storage.
    ///
    /// - Parameters:
    ///   - transport: The transport to the storage.
    ///   - upload: Signs the address of an upload.
    ///   - download: Signs the address of a download.
    ///   - delete: Signs the address of a delete, or returns `nil` to leave the file in the storage.
    public init(
        over transport: any FileTransport, upload: @escaping SignUpload, download: @escaping SignDownload,
        delete: @escaping SignDelete
    ) {
        self.transport = transport
        signUpload = upload
        signDownload = download
        signDelete = delete
    }

    /// Uploads a file to the address that the app signs for it.
    ///
    /// - Parameters:
    ///   - file: The file.
    ///   - progress: Receives the number of bytes that were passed to the network so far.
    /// - Throws: `RemoteFailure`, as `RemoteFiles` requires, and the failures of the app's closure.
    public func upload(
        _ file: OutgoingFile, progress: @escaping @Sendable (Int64) -> Void
    ) async throws(RemoteFailure) -> UploadedFile {
        try file.check()
        let signed = try await calling(onError: RemoteFailure.notSent) { try await signUpload(file) }
        let type = file.contentType.isEmpty ? "application/octet-stream" : file.contentType
        let exchange = try exchange(.put, signed: signed.request, fields: [.contentType: type])
        try await file.willBe(at: signed.fileURL)
        let (response, text) = try await exchange.run(
            body: FileExchange.body(of: file, from: 0, progress: progress))
        guard [200, 201, 204].contains(response.status.code) else {
            throw failure(exchange, response: response, text: text, isUpload: true)
        }
        progress(file.size)
        return UploadedFile(url: signed.fileURL, etag: FileFields(response).etag)
    }

    /// Downloads a file, from an offset on, in pieces.
    ///
    /// - Parameters:
    ///   - file: The file's URL, and its ETag if it is known.
    ///   - offset: The first byte to fetch, less than the file's size.
    ///   - receive: Receives the pieces in order.
    /// - Throws: `RemoteFailure`, as `RemoteFiles` requires, and the failures of the app's closure.
    public func download(
        _ file: RemoteFile, from offset: Int64, to receive: @escaping @Sendable (FilePiece) async throws -> Void
    ) async throws(RemoteFailure) -> ServedFile {
        let signed = try await calling(onError: RemoteFailure.notSent) { try await signDownload(file) }
        let exchange = try exchange(.get, signed: signed, fields: FileDownload.fields(file, from: offset))
        let download = FileDownload(exchange, wanted: file, from: offset, to: receive)
        let (response, text) = try await exchange.run(receive: { try await download.piece($0, bytes: $1) })
        guard response.status.kind == .successful else {
            throw failure(exchange, response: response, text: text, isUpload: false)
        }
        return try download.end(response)
    }

    /// Deletes a file, unless the app leaves it in the storage.
    ///
    /// - Parameter file: The file's URL, and the ETag that it must still have.
    /// - Throws: `RemoteFailure`, as `RemoteFiles` requires, and the failures of the app's closure.
    public func delete(_ file: RemoteFile) async throws(RemoteFailure) {
        let signed = try await calling(onError: RemoteFailure.notSent) { try await signDelete(file) }
        guard let signed else { return }
        let fields: HTTPFields = file.etag.map { [.ifMatch: "\"\($0)\""] } ?? [:]
        let exchange = try exchange(.delete, signed: signed, fields: fields)
        let (response, text) = try await exchange.run()
        guard [200, 204].contains(response.status.code) else {
            throw failure(exchange, response: response, text: text, isUpload: false)
        }
    }
}

extension SignedURLFiles {
    private func exchange(
        _ method: HTTPRequest.Method, signed: SignedRequest, fields: HTTPFields
    ) throws(RemoteFailure) -> FileExchange {
        guard let request = signed.request(method, fields: fields) else {
            throw .notEncodable(
                RequestEncodingError(.invalidID, message: "The signed address is not a valid HTTP URL.", table: "files")
            )
        }
        return FileExchange(transport, request: request)
    }

    /// Returns the meaning of a storage's error response. S3 puts the code into the body: `<Code>BadDigest</Code>`.
    private func failure(
        _ exchange: FileExchange, response: HTTPResponse, text: [UInt8], isUpload: Bool
    ) -> RemoteFailure {
        let status = response.status.code
        let code = Self.code(String(decoding: text, as: UTF8.self))
        switch code {
        case "BadDigest", "InvalidDigest", "XAmzContentSHA256Mismatch", "XAmzContentChecksumMismatch":
            return .file(.hashMismatch)
        case "EntityTooLarge": return .file(.tooLarge)
        case "RequestTimeout", "SlowDown", "OperationAborted": return .later(status: status, retryAfter: nil)
        default: break
        }
        // A missing download is a missing file. A missing upload address concerns the storage.
        if isUpload, status == 404 || status == 410 { return .refused(status: status, message: code ?? "") }
        // The signature has expired or is for another request. Signing in again would not help.
        if status == 401 || status == 403 { return .refused(status: status, message: code ?? "") }
        return exchange.failure(response, body: text, onMismatch: isUpload ? .taken : .changed)
    }

    /// Returns the text in `<Code>`, if it is a word.
    private static func code(_ text: String) -> String? {
        guard let start = text.range(of: "<Code>")?.upperBound else { return nil }
        let word = text[start...].prefix { $0.isLetter || $0.isNumber }
        return word.isEmpty || word.utf8.count > 64 ? nil : String(word)
    }
}
