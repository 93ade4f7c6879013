import HTTPTypes

/// Uploads: `PUT` of a file, whole or in parts.
extension FileRequest {
    /// The upload that a request's head describes.
    private struct Sent {
        let file: ServerFile
        let bytes: Range<Int64>
        /// Whether the request contains the whole file.
        let isWhole: Bool
    }

    func put(_ user: String?, next: () async throws -> [UInt8]?) async throws -> Response {
        let sent = try sent(user)
        let file = sent.file
        let found = try files.storage.find(id)
        switch found {
        // Users that may not send a file do not learn whether it exists.
        case .begun(let other, _), .whole(let other):
            guard allows(.write, file: other, user: user) else { return Self.refusal(.forbidden) }
        case .nothing: break
        }
        guard allows(.write, file: file, user: user) else { return Self.refusal(.forbidden) }
        if let asked = header(.ifMatch) {
            // The bytes of an ID never change. A precondition holds only if the named file exists already.
            guard case .whole(let other) = found, Self.names(asked, etag: other.etag) else {
                return Self.refusal(.preconditionFailed)
            }
        }
        if case .whole(let other) = found { return try await there(other, sent: sent, next: next) }
        guard file.size <= files.limit else {
            return Self.refusal(.contentTooLarge, message: "A file can have at most \(files.limit) bytes.")
        }
        switch try files.storage.write(file, at: sent.bytes.lowerBound, restarting: sent.isWhole) {
        case .whole(let other): return try await there(other, sent: sent, next: next)
        case .wrongOffset(let offset): return begun(file, offset: offset, status: .conflict)
        case .open(let writing): return try await receiveBody(sent, writing: writing, next: next)
        }
    }

    /// Returns the response if the file exists already: success if it is the same file.
    private func there(
        _ other: ServerFile, sent: Sent, next: () async throws -> [UInt8]?
    ) async throws -> Response {
        guard other.isSame(as: sent.file) else { return Self.refusal(.preconditionFailed) }
        // Some clients treat a success as a failure if it arrives before they have sent everything.
        var rest = Int64(sent.bytes.count)
        while rest > 0, let piece = try await next() { rest -= Int64(piece.count) }
        return nameTaken(other, status: .ok)
    }

    private func nameTaken(_ file: ServerFile, status: HTTPResponse.Status) -> Response {
        var response = Self.refusal(status)
        response.head.headerFields[.eTag] = file.etag
        response.head.headerFields[.location] = (http.path ?? "").split(separator: "?").first.map(String.init)
        response.head.headerFields[.reprDigest] = ServerDigest.field(file.sha256)
        return response
    }

    private func receiveBody(
        _ sent: Sent, writing: FileStorage.Writing, next: () async throws -> [UInt8]?
    ) async throws -> Response {
        var count: Int64 = 0
        let total = Int64(sent.bytes.count)
        while count < total {
            await faults.pause()
            guard var piece = try await next() else { throw FileContent.Cut() }
            guard count + Int64(piece.count) <= total else {
                return Self.refusal(.badRequest, message: "The body has more bytes than its Content-Length.")
            }
            if let cut = faults.requestCut, count + Int64(piece.count) >= cut {
                piece = Array(piece.prefix(Int(cut - count)))
                _ = try writing.append(piece)
                throw FileContent.Cut()
            }
            // A later request continues from this request's bytes.
            guard try writing.append(piece) else { return begun(sent.file, offset: writing.offset, status: .conflict) }
            count += Int64(piece.count)
        }
        let wrong = "The bytes do not match the Repr-Digest. They were not stored."
        if faults.wrongsHash {
            try files.storage.remove(id)
            return Self.refusal(.unprocessableContent, message: wrong)
        }
        switch try writing.finish() {
        case .whole: return nameTaken(sent.file, status: .created)
        case .wrongHash: return Self.refusal(.unprocessableContent, message: wrong)
        case nil:
            // Bytes are missing, or another request has completed the upload.
            switch try files.storage.find(id) {
            case .whole(let file):
                return file.isSame(as: sent.file) ? nameTaken(file, status: .ok) : Self.refusal(.preconditionFailed)
            case .begun(let file, let offset): return begun(file, offset: offset)
            case .nothing: return Self.refusal(.unprocessableContent, message: wrong)
            }
        }
    }

    /// Decodes the head: the file, and this request's part of it.
    private func sent(_ user: String?) throws -> Sent {
        guard header(.contentEncoding) == nil else { throw Early(response: Self.refusal(.unsupportedMediaType)) }
        guard let length = header(.contentLength).flatMap(ServerRange.number), header(.transferEncoding) == nil else {
            throw Early(response: Self.refusal(.lengthRequired))
        }
        guard let sha256 = header(.reprDigest).flatMap(ServerDigest.sha256) else {
            throw bad("Repr-Digest must have the file's SHA-256.")
        }
        guard let name = header(.contentDisposition).map(ServerFileName.name) ?? "" else {
            throw bad("Content-Disposition must have a UTF-8 file name of at most \(ServerFileName.greatest) bytes.")
        }
        var (bytes, size, isWhole) = (0..<length, length, true)
        if let text = header(.contentRange) {
            guard let range = ServerRange.sent(text), Int64(range.bytes.count) == length else {
                throw bad("Content-Range is invalid or does not match Content-Length.")
            }
            (bytes, size, isWhole) = (range.bytes, range.size, false)
        } else if header(.ifNoneMatch) != "*" {
            throw Early(
                response: Self.refusal(
                    .preconditionRequired, message: "The upload of a whole file needs If-None-Match: *."))
        }
        let type = header(.contentType) ?? ""
        let file = ServerFile(
            id: id, name: name, contentType: type.isEmpty ? "application/octet-stream" : type, size: size,
            sha256: sha256, owner: user)
        return Sent(file: file, bytes: bytes, isWhole: isWhole)
    }

    private func bad(_ message: String) -> Early { Early(response: Self.refusal(.badRequest, message: message)) }
}
