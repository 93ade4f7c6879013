import DatasyncWire
import Foundation
import HTTPTypes
import Synchronization
import TandemSync

/// A storage that accepts files at signed URLs, as S3 does, without a socket. The signature is a word in the query.
final class FakeStorage: FileTransport {
    private struct State {
        var objects: [String: (bytes: [UInt8], etag: String)] = [:]
        var requests: [String] = []
    }

    private let state = Mutex(State())
    static let checksum = HTTPField.Name("x-amz-checksum-sha256")!

    var requests: [String] { state.withLock { $0.requests } }
    var names: [String] { state.withLock { $0.objects.keys.sorted() } }

    /// Returns files in the storage, signed by an app's server.
    var files: SignedURLFiles {
        SignedURLFiles(over: self) { file in
            SignedUpload(
                SignedRequest(
                    url: "https://storage.example/shop/\(file.id)?signature=put",
                    fields: [Self.checksum: file.sha256Base64]))
        } download: { file in
            SignedRequest(url: file.url + "?signature=get")
        } delete: { file in
            SignedRequest(url: file.url + "?signature=delete")
        }
    }

    func exchange(
        _ request: HTTPRequest, body: FileBody?,
        receive: @escaping @Sendable (HTTPResponse, [UInt8]) async throws -> Void
    ) async throws(TransportFailure) -> HTTPResponse {
        let path = request.path ?? ""
        state.withLock { $0.requests.append("\(request.method) \(path)") }
        do {
            let name = String(path.prefix { $0 != "?" })
            guard path.hasSuffix("?signature=\(request.method.rawValue.lowercased())") else {
                return try await refuse(403, "SignatureDoesNotMatch", receive)
            }
            switch request.method {
            case .put: return try await put(name, request, body, receive)
            case .get: return try await get(name, request, receive)
            default:
                state.withLock { $0.objects[name] = nil }
                return HTTPResponse(status: .noContent)
            }
        } catch {
            throw .lost(error)
        }
    }

    private typealias ChunkHandler = @Sendable (HTTPResponse, [UInt8]) async throws -> Void

    private func refuse(_ status: Int, _ code: String, _ receive: ChunkHandler) async throws -> HTTPResponse {
        let response = HTTPResponse(status: .init(code: status), headerFields: [.contentType: "application/xml"])
        try await receive(response, Array("<?xml version=\"1.0\"?><Error><Code>\(code)</Code></Error>".utf8))
        return response
    }

    private func put(
        _ name: String, _ request: HTTPRequest, _ body: FileBody?, _ receive: ChunkHandler
    ) async throws -> HTTPResponse {
        var bytes: [UInt8] = []
        while let body, Int64(bytes.count) < body.count {
            try Task.checkCancellation()
            bytes += try await body.piece(Int64(bytes.count))
        }
        let file = OutgoingFile(id: "", name: "", contentType: "", bytes: bytes)
        if let checksum = request.headerFields[Self.checksum], checksum != file.sha256Base64 {
            return try await refuse(400, "BadDigest", receive)
        }
        let etag = String(file.sha256.prefix(32))
        state.withLock { $0.objects[name] = (bytes, etag) }
        return HTTPResponse(status: .ok, headerFields: [.eTag: "\"\(etag)\""])
    }

    private func get(_ name: String, _ request: HTTPRequest, _ receive: ChunkHandler) async throws -> HTTPResponse {
        guard let (bytes, etag) = state.withLock({ $0.objects[name] }) else {
            return try await refuse(404, "NoSuchKey", receive)
        }
        if let wanted = request.headerFields[.ifMatch], wanted != "\"\(etag)\"" {
            return try await refuse(412, "PreconditionFailed", receive)
        }
        var response = HTTPResponse(status: .ok, headerFields: [.eTag: "\"\(etag)\""])
        var rest = bytes[...]
        if let range = request.headerFields[.range], let first = Int(range.dropFirst(6).dropLast()) {
            response.status = .partialContent
            response.headerFields[.contentRange] = "bytes \(first)-\(bytes.count - 1)/\(bytes.count)"
            rest = bytes[first...]
        }
        response.headerFields[.contentLength] = String(rest.count)
        while !rest.isEmpty {
            try Task.checkCancellation()
            try await receive(response, Array(rest.prefix(100_000)))
            rest = rest.dropFirst(100_000)
        }
        return response
    }
}
