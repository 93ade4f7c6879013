import HTTPTypes
import RemoteHTTP
import Tandem
import TandemSync

/// Files on a Kinto server with the plugin `kinto-attachment`. Each file is the attachment of a record of its own in
/// one collection of the bucket.
///
/// For example:
///
/// ```swift
/// let files = KintoFiles(remote, over: transport)
/// ```
///
/// A file's URL is that of its record. Its ETag is the hash of its bytes, because a record's version also changes with
/// its permissions. The plugin's own URL of the bytes gives anyone access to the file, so rows do not contain it. It is
/// requested from the server for each download, and must be in the folder that the server announces. The user's
/// credentials are not sent there.
///
/// The plugin knows no ranges and no partial uploads. An interrupted upload begins again. An interrupted download
/// fetches the first bytes again and drops them.
public struct KintoFiles: RemoteFiles {
    /// The form's field, and the record's member, of an attachment.
    static let member = "attachment"
    /// The number of attempts of a delete whose record is changed between its look-up and the delete.
    private static let deletionTries = 4

    let remote: KintoRemote
    /// The collection of the files.
    public let collection: RemoteTableName
    let transport: any FileTransport

    /// Creates access to the files of a bucket.
    ///
    /// - Parameters:
    ///   - remote: The bucket. Its credentials are used for files too, and its collection of files is created if
    ///     `creates` is set.
    ///   - collection: The collection of the files. No model may have this name.
    ///   - transport: Carries the bytes.
    public init(_ remote: KintoRemote, collection: RemoteTableName = "files", over transport: any FileTransport) {
        self.remote = remote
        self.collection = collection
        self.transport = transport
    }

    /// Uploads a file, unless the server has it.
    public func upload(
        _ file: OutgoingFile, progress: @escaping @Sendable (Int64) -> Void
    ) async throws(RemoteFailure) -> UploadedFile {
        try file.check()
        let id = ServerID(file.id)
        let url = remote.paths.url(remote.paths.record(id, in: collection))
        if let attachment = try await visibleRecord(id)?.attachment {
            guard attachment.sha256 == file.sha256, attachment.size == file.size else { throw .file(.taken) }
            progress(file.size)
            return UploadedFile(url: url, etag: attachment.sha256, wasThere: true)
        }
        try await file.willBe(at: url)
        let uploaded = try await post(file, id: id, progress: progress)
        guard uploaded.attachment?.sha256 == file.sha256, uploaded.attachment?.size == file.size else {
            // The plugin has stored what it received.
            _ = try? await delete(id, version: uploaded.version)
            throw .file(.hashMismatch)
        }
        progress(file.size)
        return UploadedFile(url: url, etag: file.sha256)
    }

    /// Downloads a file, from an offset on, in pieces.
    public func download(
        _ file: RemoteFile, from offset: Int64, to receive: @escaping @Sendable (FilePiece) async throws -> Void
    ) async throws(RemoteFailure) -> ServedFile {
        let (id, url) = (try id(of: file), file.url)
        guard let record = try await record(id), let attachment = record.attachment else { throw .notFound }
        if let etag = file.etag, !record.matches(etag) { throw .file(.changed) }
        let request = try await request(for: attachment, shownURL: url)
        let exchange = FileExchange(transport, request: request, shownURL: url)
        if let size = file.size, size != attachment.size {
            throw exchange.bad(
                .size, message: "The server's file has \(attachment.size) bytes, but its known size is \(size).",
                status: 200)
        }
        let served = ServedFile(size: attachment.size, etag: attachment.sha256, sha256: attachment.sha256)
        let wanted = RemoteFile(url: url, size: attachment.size)
        let download = FileDownload(exchange, wanted: wanted, from: offset) { piece in
            try await receive(FilePiece(bytes: piece.bytes, offset: piece.offset, file: served))
        }
        let (response, text) = try await exchange.run(receive: { try await download.piece($0, bytes: $1) })
        guard response.status.kind == .successful else {
            throw exchange.failure(response, body: text, onMismatch: .changed)
        }
        _ = try download.end(response)
        return served
    }

    /// Deletes a file: its record, with which the plugin removes the bytes.
    public func delete(_ file: RemoteFile) async throws(RemoteFailure) {
        let id = try id(of: file)
        guard let etag = file.etag else { return try await delete(id, version: nil) }
        for _ in 0..<Self.deletionTries {
            guard let record = try await visibleRecord(id) else { throw .notFound }
            guard record.matches(etag) else { throw .file(.changed) }
            do throws(RemoteFailure) {
                return try await delete(id, version: record.version)
            } catch {
                // A change of the record's permissions changes its version too. The hash shows whether the file was
                // replaced.
                guard case .file(.changed) = error else { throw error }
            }
        }
        throw .later(status: 412, retryAfter: nil)
    }
}

// MARK: - Requests

extension KintoFiles {
    /// Returns the record of a file; `nil` if there is none.
    private func record(_ id: ServerID) async throws(RemoteFailure) -> KintoFileRecord? {
        let request = KintoRequest(
            method: .get, path: remote.paths.record(id, in: collection), table: collection,
            purpose: .record)
        let response = try await remote.send(request)
        do throws(RemoteFailure) {
            try remote.decoder.checkStatus(response, request: request)
        } catch {
            if case .notFound = error { return nil }
            throw error
        }
        let data = try remote.decoder.data(response, to: request)
        guard let record = KintoFileRecord(data) else {
            throw remote.decoder.bad(
                .wrongType, message: "The file's record is not valid.", request: request, response: response)
        }
        return record
    }

    /// Returns the record of a file; `nil` if there is none, or if the user may not see it.
    ///
    /// For a missing record, Kinto returns 403 to a user without permission to read the whole collection. A list then
    /// shows whether the record exists.
    private func visibleRecord(_ id: ServerID) async throws(RemoteFailure) -> KintoFileRecord? {
        do throws(RemoteFailure) {
            return try await record(id)
        } catch {
            guard case .refused(403, _) = error else { throw error }
            guard try await remote.isMissing(id, in: collection) else { throw error }
            return nil
        }
    }

    private func post(
        _ file: OutgoingFile, id: ServerID, progress: @escaping @Sendable (Int64) -> Void
    ) async throws(RemoteFailure) -> KintoFileRecord {
        let form = MultipartUpload(file, field: Self.member)
        let api = remote.paths.api
        let path = "\(remote.paths.record(id, in: collection))/attachment"
        let head = HTTPRequest(
            method: .post, scheme: api.scheme, authority: api.authority, path: api.path + path,
            headerFields: [
                .contentType: form.contentType, .accept: "application/json", .userAgent: "Tandem",
            ])
        let exchange = FileExchange(transport, request: head)
        let (response, text) = try await exchange.run(
            with: remote.client.credentials, body: form.body(progress: progress))
        let request = KintoRequest(
            method: .post, path: path, table: collection, purpose: .resource)
        let decoded = remote.decoder.response(response, body: text, to: request)
        switch decoded.status {
        case 200, 201: break
        case 400, 403, 404:
            let message = decoded.message(limit: remote.decoder.limits.message)
            if decoded.status == 400, message.contains("exceeds the limit") { throw .file(.tooLarge) }
            let isMissing = decoded.status == 404 && message.isEmpty
            throw .refused(
                status: decoded.status, message: isMissing ? "The server has no plugin kinto-attachment." : message)
        default: throw exchange.failure(response, body: text, onMismatch: .taken)
        }
        guard let version = decoded.tag.map(String.init) else {
            throw exchange.bad(.noETag, message: "The response has no ETag.", status: decoded.status)
        }
        let node = try remote.decoder.document(decoded, to: request)
        guard let attachment = KintoFileRecord.Attachment(node) else {
            throw exchange.bad(.wrongType, message: "The response does not describe the file.", status: decoded.status)
        }
        return KintoFileRecord(version: version, attachment: attachment)
    }

    private func delete(_ id: ServerID, version: String?) async throws(RemoteFailure) {
        let item = OutgoingItem(table: collection, id: id, version: version)
        do throws(RemoteFailure) {
            _ = try await remote.delete(item)
        } catch {
            if case .conflict = error { throw .file(.changed) }
            throw error
        }
    }

    // MARK: Addresses

    /// Returns the ID of a file from its URL, which must be that of a record in the collection. URLs come from rows,
    /// which other users may have written.
    func id(of file: RemoteFile) throws(RemoteFailure) -> ServerID {
        let folder = "\(remote.paths.url(remote.paths.records(collection)))/"
        let id = file.url.hasPrefix(folder) ? String(file.url.dropFirst(folder.count)) : ""
        guard KintoPaths.isName(id) else {
            throw .notEncodable(
                RequestEncodingError(
                    .invalidID, message: "The file's URL is not in the server's collection of files.",
                    table: collection))
        }
        return ServerID(id)
    }

    /// Returns the request for the bytes of an attachment.
    ///
    /// A user may write a record with any location. The bytes are therefore requested from the announced folder only,
    /// and without credentials.
    private func request(
        for attachment: KintoFileRecord.Attachment, shownURL: String
    ) async throws(RemoteFailure) -> HTTPRequest {
        let folder = try await remote.attachmentFolder()
        let isWhole = ServerAddress.isWhole(attachment.location)
        let url = isWhole ? attachment.location : folder + attachment.location.drop { $0 == "/" }
        guard url.hasPrefix(folder), !url.contains("/../"), !url.hasSuffix("/.."),
            let request = SignedRequest(url: url).request(.get, fields: [.acceptEncoding: "identity"])
        else {
            throw .invalidResponse(
                InvalidResponse(
                    .foreignLink, message: "The file's location is not in the server's folder of files.",
                    table: collection, url: shownURL, status: 200))
        }
        return request
    }
}
