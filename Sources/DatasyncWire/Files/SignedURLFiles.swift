import HTTPTypes
import Tandem
import TandemSync

/// Files in a storage that takes them by signed addresses, as S3 and what is compatible with it does. The app's server
/// signs; it never sees the bytes.
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
/// An upload that was cut begins anew: a signed `PUT` has no parts. Sign the same address for the same file: what a cut one
/// has left is deleted there if nobody needs it any more. Whether the storage holds the bytes against a hash is
/// up to the checksum that is signed along; without one it keeps what came. Addresses are signed for each call, and the
/// app's closures say no for files that are none of its storage: what they are asked for comes out of rows. Where the
/// transport's connections go, the signatures do.
public struct SignedURLFiles: RemoteFiles {
    /// Says where a file is sent to.
    public typealias SignUpload = @Sendable (OutgoingFile) async throws -> SignedUpload
    /// Says where a file can be read.
    public typealias SignDownload = @Sendable (RemoteFile) async throws -> SignedRequest
    /// Says how a file is deleted; `nil` to leave it where it is.
    public typealias SignDelete = @Sendable (RemoteFile) async throws -> SignedRequest?

    private let transport: any FileTransport
    private let signUpload: SignUpload
    private let signDownload: SignDownload
    private let signDelete: SignDelete

    /// Files by addresses that closures sign. What a closure throws that is no `RemoteFailure` is taken for
    /// `RemoteFailure.notSent`: nothing has gone to the storage.
    public init(
        over transport: any FileTransport, upload: @escaping SignUpload, download: @escaping SignDownload,
        delete: @escaping SignDelete
    ) {
        self.transport = transport
        signUpload = upload
        signDownload = download
        signDelete = delete
    }

    public func upload(
        _ file: OutgoingFile, progress: @escaping @Sendable (Int64) -> Void
    ) async throws(RemoteFailure) -> UploadedFile {
        try file.check()
        let signed = try await signing { try await signUpload(file) }
        let type = file.contentType.isEmpty ? "application/octet-stream" : file.contentType
        let exchange = try exchange(.put, signed.request, [.contentType: type])
        try await file.willBe(at: signed.fileURL)
        let (response, text) = try await exchange.run(
            body: FileExchange.body(of: file, from: 0, progress: progress))
        guard [200, 201, 204].contains(response.status.code) else {
            throw failure(exchange, response, text, isUpload: true)
        }
        progress(file.size)
        return UploadedFile(url: signed.fileURL, etag: FileFields(response).etag)
    }

    public func download(
        _ file: RemoteFile, from offset: Int64, to take: @escaping @Sendable (FilePiece) async throws -> Void
    ) async throws(RemoteFailure) -> ServedFile {
        let signed = try await signing { try await signDownload(file) }
        let exchange = try exchange(.get, signed, FileDownload.fields(file, from: offset))
        let download = FileDownload(exchange, file, from: offset, to: take)
        let (response, text) = try await exchange.run(take: { try await download.piece($0, $1) })
        guard response.status.kind == .successful else {
            throw failure(exchange, response, text, isUpload: false)
        }
        return try download.end(response)
    }

    public func delete(_ file: RemoteFile) async throws(RemoteFailure) {
        guard let signed = try await signing({ try await signDelete(file) }) else { return }
        let fields: HTTPFields = file.etag.map { [.ifMatch: "\"\($0)\""] } ?? [:]
        let exchange = try exchange(.delete, signed, fields)
        let (response, text) = try await exchange.run()
        guard [200, 204].contains(response.status.code) else {
            throw failure(exchange, response, text, isUpload: false)
        }
    }
}

extension SignedURLFiles {
    private func signing<T>(_ body: () async throws -> T) async throws(RemoteFailure) -> T {
        if Task.isCancelled { throw .notSent(CancellationError()) }
        do {
            return try await body()
        } catch let failure as RemoteFailure {
            throw failure
        } catch {
            throw .notSent(Task.isCancelled ? CancellationError() : error)
        }
    }

    private func exchange(
        _ method: HTTPRequest.Method, _ signed: SignedRequest, _ fields: HTTPFields
    ) throws(RemoteFailure) -> FileExchange {
        guard let request = signed.request(method, fields) else {
            throw .unsendable(Unsendable(.invalidID, "The signed address is none of HTTP.", table: "files"))
        }
        return FileExchange(transport, request)
    }

    /// What a storage's refusal means. S3 says in its body which one it is: `<Code>BadDigest</Code>`.
    private func failure(
        _ exchange: FileExchange, _ response: HTTPResponse, _ text: [UInt8], isUpload: Bool
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
        // What a download may be asked for and is not there is the file. What an upload is sent to is the storage.
        if isUpload, status == 404 || status == 410 { return .refused(status: status, message: code ?? "") }
        // A signature that is over, or for something else: no user has to sign in.
        if status == 401 || status == 403 { return .refused(status: status, message: code ?? "") }
        return exchange.failure(response, text, onMismatch: isUpload ? .taken : .changed)
    }

    /// What stands in `<Code>`, if it is a word.
    private static func code(_ text: String) -> String? {
        guard let start = text.range(of: "<Code>")?.upperBound else { return nil }
        let word = text[start...].prefix { $0.isLetter || $0.isNumber }
        return word.isEmpty || word.utf8.count > 64 ? nil : String(word)
    }
}
