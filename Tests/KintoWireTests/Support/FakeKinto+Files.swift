import Foundation
import HTTPTypes
import RemoteHTTP
import Tandem
import TandemSync

/// The plugin for attachments, and the web server of the stored bytes. Neither knows ranges.
extension FakeKinto: FileTransport {
    static let folder = "https://files.example/files/"

    func exchange(
        _ request: HTTPRequest, body: FileBody?,
        receive: @escaping @Sendable (HTTPResponse, [UInt8]) async throws -> Void
    ) async throws(TransportFailure) -> HTTPResponse {
        let url = "\(request.scheme ?? "")://\(request.authority ?? "")\(request.path ?? "")"
        let fault = state.withLock { state -> Fault? in
            state.requests.append("\(request.method.rawValue) \(url)")
            state.heads.append(request)
            return state.faults.isEmpty ? nil : state.faults.removeFirst()
        }
        do {
            var bytes: [UInt8] = []
            while let body, Int64(bytes.count) < body.count {
                try Task.checkCancellation()
                bytes += try await body.piece(Int64(bytes.count))
            }
            if case .response(let status, let fields, let text)? = fault {
                let response = HTTPResponse(status: .init(code: status), headerFields: fields)
                try await receive(response, Array(text.utf8))
                return response
            }
            guard request.method == .post else { return try await download(url, request, receive: receive) }
            let (response, text) = attach(request, form: bytes)
            if case .lostResponse? = fault { throw Lost() }
            try await receive(response, text)
            return response
        } catch {
            throw .lost(error)
        }
    }

    private func download(
        _ url: String, _ request: HTTPRequest, receive: @Sendable (HTTPResponse, [UInt8]) async throws -> Void
    ) async throws -> HTTPResponse {
        // Credentials and conditions are for Kinto, not for another server.
        let isPlain = request.headerFields[.authorization] == nil && request.headerFields[.ifMatch] == nil
        guard isPlain, let bytes = state.withLock({ $0.files[url] }) else {
            let response = HTTPResponse(status: .init(code: isPlain ? 404 : 400))
            try await receive(response, [])
            return response
        }
        let response = HTTPResponse(
            status: .ok, headerFields: [.contentLength: String(bytes.count), .eTag: "\"storage\""])
        var rest = bytes[...]
        while !rest.isEmpty {
            try Task.checkCancellation()
            try await receive(response, Array(rest.prefix(100_000)))
            rest = rest.dropFirst(100_000)
        }
        return response
    }

    /// Stores the file of a form, and writes its record.
    private func attach(_ request: HTTPRequest, form: [UInt8]) -> (HTTPResponse, [UInt8]) {
        let parts = (request.path ?? "").split(separator: "/").map(String.init)
        guard parts.count == 8, parts[7] == "attachment", let (name, bytes) = Self.file(in: form, of: request) else {
            let response = Self.response(to: Refusal(status: 400, message: "Attachment missing."))
            return Self.encoded(response, now: state.withLock { $0.now })
        }
        let sha256 = OutgoingFile(id: "", name: "", contentType: "", bytes: bytes).sha256
        return state.withLock { state in
            guard state.accepted.map({ $0.contains(request.headerFields[.authorization] ?? "") }) ?? true else {
                return Self.encoded(Self.response(to: Refusal(status: 401, errno: 104)), now: state.now)
            }
            let (bucket, collection, id) = (parts[2], parts[4], parts[6])
            guard state.buckets[bucket]?[collection] != nil else {
                return Self.encoded(Self.response(to: Self.missing("collection", collection)), now: state.now)
            }
            let location = Self.folder + UUID().uuidString.lowercased()
            state.files[location] = bytes
            let attachment = JSONNode.object([
                ("filename", .text(name)), ("hash", .text(sha256)), ("location", .text(location)),
                ("mimetype", .text("x")), ("size", .integer(Int64(bytes.count))),
            ])
            let time = state.tick(bucket, collection)
            state.buckets[bucket]?[collection]?.records[id] = Record(
                members: [("attachment", attachment)], time: time)
            state.shared[collection]?.visible.insert(id)
            return Self.encoded(
                Response(status: 201, fields: [.eTag: "\"\(time)\""], body: attachment), now: state.now)
        }
    }

    private static func encoded(_ response: Response, now: Int64) -> (HTTPResponse, [UInt8]) {
        var head = HTTPResponse(status: .init(code: response.status), headerFields: response.fields)
        head.headerFields[.date] = httpDate(now)
        head.headerFields[.contentType] = "application/json"
        var bytes: [UInt8] = []
        if let body = response.body { try? ExactJSON.writeForeign(body, to: &bytes) }
        return (head, bytes)
    }

    /// Returns the name and the bytes of the form's only file.
    private static func file(in form: [UInt8], of request: HTTPRequest) -> (String, [UInt8])? {
        let type = request.headerFields[.contentType] ?? ""
        let data = Data(form)
        guard type.hasPrefix("multipart/form-data; boundary=") else { return nil }
        let boundary = type.dropFirst("multipart/form-data; boundary=".count)
        guard data.starts(with: Data("--\(boundary)\r\n".utf8)),
            let end = data.range(of: Data("\r\n--\(boundary)--\r\n".utf8)), end.upperBound == data.endIndex,
            let start = data.range(of: Data("\r\n\r\n".utf8))
        else { return nil }
        let head = String(decoding: data[..<start.lowerBound], as: UTF8.self)
        guard let name = head.firstMatch(of: /form-data; name="attachment"; filename="([^"]+)"/)?.1 else { return nil }
        return (String(name), Array(data[start.upperBound..<end.lowerBound]))
    }
}
