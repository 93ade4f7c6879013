import Foundation
import HTTPTypes

/// A file request, from authentication to the response.
struct FileRequest {
    typealias Response = (head: HTTPResponse, content: FileContent?)

    /// A response that ends the request early.
    struct Early: Error {
        let response: Response
    }

    let core: ServerCore
    let files: ServerFiles
    let http: HTTPRequest
    let id: String
    let faults: FileFaults

    /// Returns `nil` if no file can exist at the request's path.
    init?(_ core: ServerCore, http: HTTPRequest, faults: FileFaults) {
        guard let files = core.configuration.files, let request = ServerRequest(http, body: []),
            request.path.count == 2, ServerFile.isID(request.path[1])
        else { return nil }
        self.core = core
        self.files = files
        self.http = http
        id = request.path[1]
        self.faults = faults
    }

    /// Returns the response, or `nil` if the request's body was incomplete.
    func respond(next: () async throws -> [UInt8]?) async -> Response? {
        do {
            let user = try user()
            switch http.method {
            case .head: return try head(user)
            case .get: return try get(user)
            case .put: return try await put(user, next: next)
            case .delete: return try delete(user)
            default:
                var response = Self.refusal(.methodNotAllowed)
                response.head.headerFields[.allow] = "HEAD, GET, PUT, DELETE"
                return response
            }
        } catch let early as Early {
            return early.response
        } catch FileStorageError.Code.outOfSpace {
            return Self.refusal(
                .init(code: 507, reasonPhrase: "Insufficient Storage"),
                message: "The server has no space for this file.")
        } catch is FileStorageError {
            return Self.refusal(.internalServerError, message: "The server's file storage failed.")
        } catch {
            return nil
        }
    }

    /// Returns a response without a file, with an optional error message.
    static func refusal(_ status: HTTPResponse.Status, message: String? = nil) -> Response {
        var response = HTTPResponse(status: status)
        response.headerFields[.cacheControl] = "no-store"
        guard let message else {
            if status != .noContent, status != .notModified { response.headerFields[.contentLength] = "0" }
            return (response, nil)
        }
        // The message is a content in memory, like a file's.
        let json: JSONValue = ["error": .text(message)]
        let bytes = json.bytes
        let content = MemoryBackend().create("")
        try? content.write(bytes, at: 0)
        response.headerFields[.contentType] = "application/json; charset=utf-8"
        response.headerFields[.contentLength] = String(bytes.count)
        let faults = FileFaults([], clock: ServerClock())
        return (response, FileContent(content: content, bytes: 0..<Int64(bytes.count), faults: faults))
    }

    func header(_ name: HTTPField.Name) -> String? { http.headerFields[name] }
}

// MARK: - Access

extension FileRequest {
    /// Authenticates the user, by the same rules as for tables.
    private func user() throws -> String? {
        var user: String?
        if let token = ServerRequest(http, body: [])?.token, let userOf = core.configuration.user {
            user = userOf(token)
            if user == nil { throw unauthorized }
        }
        if files.isPerUser, user == nil { throw unauthorized }
        return user
    }

    private var unauthorized: Early {
        var response = Self.refusal(.unauthorized)
        response.head.headerFields[.wwwAuthenticate] = "Bearer"
        return Early(response: response)
    }

    func allows(_ action: ServerFile.Action, file: ServerFile, user: String?) -> Bool {
        if files.isPerUser, file.owner != user { return false }
        return core.configuration.hooks.authorizeFile?(action, file, user) ?? true
    }

    /// Returns the state of the file, if this user may see it.
    func seen(_ user: String?) throws -> FileStorage.Found {
        let found = try files.storage.find(id)
        switch found {
        case .nothing: return .nothing
        case .begun(let file, _), .whole(let file): return allows(.read, file: file, user: user) ? found : .nothing
        }
    }
}

// MARK: - Reading

extension FileRequest {
    private func head(_ user: String?) throws -> Response {
        switch try seen(user) {
        case .nothing: return Self.refusal(.notFound)
        case .begun(let file, let offset):
            // A user without permission to send does not interrupt current uploads.
            let isSender = allows(.write, file: file, user: user)
            return begun(file, offset: (isSender ? files.storage.resumeUpload(id) : nil) ?? offset)
        case .whole(let file):
            try checkPreconditions(file)
            return (HTTPResponse(status: .ok, headerFields: fields(of: file, count: file.size)), nil)
        }
    }

    private func get(_ user: String?) throws -> Response {
        guard case .whole(let file) = try seen(user), let (_, content) = try files.storage.open(id) else {
            return Self.refusal(.notFound)
        }
        try checkPreconditions(file)
        var bytes = 0..<file.size
        var status = HTTPResponse.Status.ok
        var range: String?
        if let text = header(.range), header(.ifRange).map({ $0 == file.etag }) ?? true {
            switch ServerRange.asked(text, size: file.size) {
            case .all: break
            case .bytes(let asked):
                (bytes, status) = (asked, .partialContent)
                let size = file.size + faults.sizeError
                range = "bytes \(asked.lowerBound)-\(asked.upperBound - 1 + faults.sizeError)/\(size)"
            case .unsatisfiable:
                var response = Self.refusal(.rangeNotSatisfiable)
                response.head.headerFields[.contentRange] = "bytes */\(file.size)"
                return response
            }
        }
        var fields = fields(of: file, count: Int64(bytes.count))
        if let range { fields[.contentRange] = range }
        let sent = FileContent(content: content, bytes: bytes, faults: faults)
        return (HTTPResponse(status: status, headerFields: fields), sent)
    }

    private func fields(of file: ServerFile, count: Int64) -> HTTPFields {
        var fields: HTTPFields = [
            .eTag: file.etag, .contentType: file.contentType, .contentLength: String(count + faults.sizeError),
            .acceptRanges: "bytes", .contentDisposition: ServerFileName.field(file.name),
            .xContentTypeOptions: "nosniff", .cacheControl: "no-cache",
        ]
        fields[.reprDigest] = ServerDigest.field(file.sha256)
        return fields
    }

    /// Checks `If-Match` and `If-None-Match` before a file is read.
    private func checkPreconditions(_ file: ServerFile) throws {
        if let text = header(.ifMatch), !Self.names(text, etag: file.etag) {
            throw Early(response: Self.refusal(.preconditionFailed))
        }
        if let text = header(.ifNoneMatch), Self.names(text, etag: file.etag, weakly: true) {
            var response = Self.refusal(.notModified)
            response.head.headerFields[.eTag] = file.etag
            throw Early(response: response)
        }
    }

    /// Returns whether a list of ETags contains one, or is `*`.
    static func names(_ list: String, etag: String, weakly: Bool = false) -> Bool {
        list.split(separator: ",").contains { item in
            let item = item.trimmingCharacters(in: .blanks)
            return item == "*" || item == etag || (weakly && item == "W/\(etag)")
        }
    }

    /// Returns the response that describes a partial upload.
    func begun(_ file: ServerFile, offset: Int64, status: HTTPResponse.Status = .noContent) -> Response {
        var response = Self.refusal(status)
        response.head.headerFields[.uploadOffset] = String(offset)
        response.head.headerFields[.uploadLength] = String(file.size)
        response.head.headerFields[.reprDigest] = ServerDigest.field(file.sha256)
        return response
    }
}

// MARK: - Deleting

extension FileRequest {
    private func delete(_ user: String?) throws -> Response {
        switch try seen(user) {
        case .nothing: return Self.refusal(.notFound)
        case .begun(let file, _):
            // A partial upload has no ETag.
            guard header(.ifMatch) == nil else { return Self.refusal(.preconditionFailed) }
            guard allows(.delete, file: file, user: user) else { return Self.refusal(.forbidden) }
        case .whole(let file):
            try checkPreconditions(file)
            guard allows(.delete, file: file, user: user) else { return Self.refusal(.forbidden) }
        }
        try files.storage.remove(id)
        return Self.refusal(.noContent)
    }
}

extension HTTPField.Name {
    static let reprDigest = Self("Repr-Digest")!
    static let uploadOffset = Self("Upload-Offset")!
    static let uploadLength = Self("Upload-Length")!
}
