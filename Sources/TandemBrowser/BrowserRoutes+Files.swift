import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import PageServer
import Tandem

/// The files of attachments, which browsers save and never show.
extension BrowserRoutes {
    func addFiles(to router: Router<WebContext>) {
        router.get("/data/file") { request, _ in
            let parameters = QueryParameters(request)
            let (model, id) = (try parameters.require("model"), try parameters.require("id"))
            let index = try parameters.number("index") ?? 0
            return try await file(at: index, ofModel: model, id: id)
        }
    }

    private func file(at index: Int, ofModel model: String, id: String) async throws -> Response {
        let store = site.store
        let found = try await store.read { _ in
            try store.object(named: model, localID: LocalID(id), includingDeleted: true)
        }
        guard let files = found?.attachments, files.indices.contains(index) else {
            throw WebFailure(.notFound, message: "This object has no such file.")
        }
        let file = files[index].attachment
        let bytes = try store.attachments.stream(of: file)
        // The file comes from anywhere. No browser may interpret it.
        var headers: HTTPFields = [.contentType: "application/octet-stream"]
        headers[.contentSecurityPolicy] = SecurityHeaders.filePolicy
        headers[.contentDisposition] = "attachment; filename*=UTF-8''\(Self.encoded(file.name))"
        let body = ResponseBody(contentLength: file.size.map { Int($0) }) { writer in
            for try await piece in bytes { try await writer.write(ByteBuffer(bytes: piece)) }
            try await writer.finish(nil)
        }
        return Response(status: .ok, headers: headers, body: body)
    }

    /// Returns a name with all bytes encoded that a header could misread.
    private static func encoded(_ name: String) -> String {
        let last = name.split(whereSeparator: { $0 == "/" || $0 == "\\" }).last.map(String.init) ?? "file"
        return last.prefix(120).utf8.map { byte in
            let isPlain = 0x30...0x39 ~= byte || 0x41...0x5A ~= byte || 0x61...0x7A ~= byte || byte == 0x2E
            return isPlain ? String(UnicodeScalar(byte)) : "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }.joined()
    }
}
