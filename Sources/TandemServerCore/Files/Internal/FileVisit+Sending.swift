import HTTPTypes

/// How a file comes: `PUT`, whole or in parts.
extension FileVisit {
    /// What a request says that it sends.
    private struct Sent {
        let file: ServerFile
        let bytes: Range<Int64>
        /// Whether it is the whole file, and not a part of one.
        let isWhole: Bool
    }

    func put(_ user: String?, _ next: () async throws -> [UInt8]?) async throws -> Answer {
        let sent = try sent(user)
        let file = sent.file
        let found = try files.shelf.find(id)
        switch found {
        // Whether there is one is not told to those who may not send it.
        case .begun(let other, _), .whole(let other):
            guard allows(.write, other, user) else { return Self.refusal(.forbidden) }
        case .nothing: break
        }
        guard allows(.write, file, user) else { return Self.refusal(.forbidden) }
        if let asked = header(.ifMatch) {
            // Bytes under an ID never change: what is named is there already, or nothing is put in its place.
            guard case .whole(let other) = found, Self.names(asked, other.etag) else {
                return Self.refusal(.preconditionFailed)
            }
        }
        if case .whole(let other) = found { return try await there(other, sent, next) }
        guard file.size <= files.limit else {
            return Self.refusal(.contentTooLarge, "A file has \(files.limit) bytes at most.")
        }
        switch try files.shelf.write(file, at: sent.bytes.lowerBound, anew: sent.isWhole) {
        case .whole(let other): return try await there(other, sent, next)
        case .wrongOffset(let offset): return begun(file, offset, .conflict)
        case .open(let writing): return try await take(sent, writing, next)
        }
    }

    /// There is a file already: that is what was wanted, or another.
    private func there(
        _ other: ServerFile, _ sent: Sent, _ next: () async throws -> [UInt8]?
    ) async throws -> Answer {
        guard other.isSame(as: sent.file) else { return Self.refusal(.preconditionFailed) }
        // A client that is told of success before it has sent everything may take that for a failure.
        var rest = Int64(sent.bytes.count)
        while rest > 0, let piece = try await next() { rest -= Int64(piece.count) }
        return taken(other, .ok)
    }

    private func taken(_ file: ServerFile, _ status: HTTPResponse.Status) -> Answer {
        var answer = Self.refusal(status)
        answer.response.headerFields[.eTag] = file.etag
        answer.response.headerFields[.location] = (http.path ?? "").split(separator: "?").first.map(String.init)
        answer.response.headerFields[.reprDigest] = ServerDigest.field(file.sha256)
        return answer
    }

    private func take(
        _ sent: Sent, _ writing: FileShelf.Writing, _ next: () async throws -> [UInt8]?
    ) async throws -> Answer {
        var count: Int64 = 0
        let total = Int64(sent.bytes.count)
        while count < total {
            await faults.pause()
            guard var piece = try await next() else { throw FileContent.Cut() }
            guard count + Int64(piece.count) <= total else {
                return Self.refusal(.badRequest, "There are more bytes than Content-Length says.")
            }
            if let cut = faults.requestCut, count + Int64(piece.count) >= cut {
                piece = Array(piece.prefix(Int(cut - count)))
                _ = try writing.append(piece)
                throw FileContent.Cut()
            }
            // A later request goes on where this one was.
            guard try writing.append(piece) else { return begun(sent.file, writing.offset, .conflict) }
            count += Int64(piece.count)
        }
        let wrong = "The bytes don't have the digest that was said. Nothing of them is kept."
        if faults.wrongsHash {
            try files.shelf.remove(id)
            return Self.refusal(.unprocessableContent, wrong)
        }
        switch try writing.finish() {
        case .whole: return taken(sent.file, .created)
        case .wrongHash: return Self.refusal(.unprocessableContent, wrong)
        case nil:
            // Some are missing, or whoever asked for it meanwhile has seen to it.
            switch try files.shelf.find(id) {
            case .whole(let file):
                return file.isSame(as: sent.file) ? taken(file, .ok) : Self.refusal(.preconditionFailed)
            case .begun(let file, let offset): return begun(file, offset)
            case .nothing: return Self.refusal(.unprocessableContent, wrong)
            }
        }
    }

    /// What the head says of the file and of this request's part in it.
    private func sent(_ user: String?) throws -> Sent {
        guard header(.contentEncoding) == nil else { throw Early(answer: Self.refusal(.unsupportedMediaType)) }
        guard let length = header(.contentLength).flatMap(ServerRange.number), header(.transferEncoding) == nil else {
            throw Early(answer: Self.refusal(.lengthRequired))
        }
        guard let sha256 = header(.reprDigest).flatMap(ServerDigest.sha256) else {
            throw bad("Repr-Digest must have the file's SHA-256.")
        }
        guard let name = header(.contentDisposition).map(ServerFileName.name) ?? "" else {
            throw bad("Content-Disposition has no file name in UTF-8 of \(ServerFileName.greatest) bytes at most.")
        }
        var (bytes, size, isWhole) = (0..<length, length, true)
        if let text = header(.contentRange) {
            guard let range = ServerRange.sent(text), Int64(range.bytes.count) == length else {
                throw bad("Content-Range does not fit Content-Length, or is none.")
            }
            (bytes, size, isWhole) = (range.bytes, range.size, false)
        } else if header(.ifNoneMatch) != "*" {
            throw Early(
                answer: Self.refusal(.preconditionRequired, "A whole file is sent with If-None-Match: *."))
        }
        let type = header(.contentType) ?? ""
        let file = ServerFile(
            id: id, name: name, contentType: type.isEmpty ? "application/octet-stream" : type, size: size,
            sha256: sha256, owner: user)
        return Sent(file: file, bytes: bytes, isWhole: isWhole)
    }

    private func bad(_ message: String) -> Early { Early(answer: Self.refusal(.badRequest, message)) }
}
