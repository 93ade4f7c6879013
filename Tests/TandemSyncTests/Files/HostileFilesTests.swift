import DatasyncWire
import Foundation
import HTTPTypes
import TandemSync
import TestSupport
import Testing

/// Invalid responses of a file server.
@Suite(.ownThreads) struct HostileFilesTests {
    struct Response: Sendable, CustomTestStringConvertible {
        let status: Int
        var fields: [String: String] = [:]
        var pieces: [[UInt8]] = []
        let expected: String
        var testDescription: String { "\(status) \(fields) \(pieces.map(\.count)): \(expected)" }
    }

    private static let file = RemoteFile(url: "http://shop.example/files/x", etag: "e", size: 10)

    private func files(_ response: Response) -> TandemFiles {
        TandemFiles(
            ServerAddress("http://shop.example")!,
            over: ScriptedFileTransport { _ in
                var head = HTTPResponse(status: .init(code: response.status))
                for (name, value) in response.fields { head.headerFields[HTTPField.Name(name)!] = value }
                return (head, response.pieces)
            })
    }

    private static func ten(_ count: Int = 10) -> [UInt8] { [UInt8](repeating: 7, count: count) }

    @Test(arguments: [
        Response(status: 200, fields: ["Content-Length": "10"], pieces: [ten()], expected: "nothing"),
        // In chunks, of a known size.
        Response(status: 200, pieces: [ten(5), ten(5)], expected: "nothing"),
        Response(status: 200, fields: ["Content-Length": "11"], pieces: [ten(11)], expected: "bad size"),
        Response(status: 200, fields: ["Content-Length": "10"], pieces: [ten(11)], expected: "bad size"),
        Response(status: 200, fields: ["Content-Length": "10"], pieces: [ten(9)], expected: "bad size"),
        Response(status: 200, fields: ["Content-Length": "10"], pieces: [], expected: "bad size"),
        Response(status: 200, pieces: [[UInt8]](repeating: ten(), count: 1000), expected: "bad size"),
        Response(status: 200, fields: ["Content-Length": "-1"], pieces: [ten(1)], expected: "bad size"),
        Response(
            status: 200, fields: ["Content-Length": "10", "ETag": "\"other\""], pieces: [ten()], expected: "changed"),
        Response(
            status: 200, fields: ["Content-Length": "10", "Content-Encoding": "gzip"], pieces: [ten()],
            expected: "bad wrongType"),
        Response(status: 204, expected: "bad status"), Response(status: 202, pieces: [ten()], expected: "bad status"),
        Response(status: 206, fields: ["Content-Range": "bytes 1-9/10"], pieces: [ten(9)], expected: "bad size"),
        Response(status: 206, fields: ["Content-Range": "bytes 0-8/10"], pieces: [ten(9)], expected: "bad size"),
        Response(status: 206, fields: ["Content-Range": "bytes 0-9/*"], pieces: [ten()], expected: "bad size"),
        Response(status: 206, pieces: [ten()], expected: "bad size"),
        Response(status: 301, fields: ["Location": "http://evil.example"], expected: "later 301"),
        Response(status: 404, expected: "not found"), Response(status: 410, expected: "gone"),
        Response(status: 412, expected: "changed"), Response(status: 416, expected: "changed"),
        Response(
            status: 400, fields: ["Content-Type": "application/json"], pieces: [Array("{\"error\":\"no\"}".utf8)],
            expected: "refused 400: no"),
        Response(status: 500, pieces: [[UInt8]](repeating: ten(100_000), count: 20), expected: "bad tooLarge"),
    ])
    func `a download rejects bytes that are not the file`(response: Response) async {
        let basket = Basket()
        let outcome = await failure {
            try await files(response).download(Self.file, from: 0) { basket.take($0) }
        }
        #expect(outcome == response.expected)
        #expect(basket.bytes.count <= 10)
        if response.expected == "nothing" { #expect(basket.bytes == Self.ten()) }
    }

    @Test(arguments: [
        // A server without ranges sends all bytes, and the beginning is skipped.
        Response(
            status: 200, fields: ["Content-Length": "10"], pieces: [Array(0..<3), Array(3..<10)], expected: "nothing"),
        Response(status: 206, fields: ["Content-Range": "bytes 4-9/10"], pieces: [Array(4..<10)], expected: "nothing"),
        Response(status: 206, fields: ["Content-Range": "bytes 5-9/10"], pieces: [Array(5..<10)], expected: "bad size"),
        Response(status: 206, fields: ["Content-Range": "bytes 0-9/10"], pieces: [Array(0..<10)], expected: "bad size"),
        Response(
            status: 206, fields: ["Content-Range": "bytes 4-9/10", "Content-Length": "5"], pieces: [Array(4..<10)],
            expected: "bad size"),
        Response(status: 206, fields: ["Content-Range": "bytes 4-8/9"], pieces: [Array(4..<9)], expected: "bad size"),
        Response(status: 206, fields: ["Content-Range": "bytes 4-9/10"], pieces: [Array(4..<11)], expected: "bad size"),
    ])
    func `a download continues only at its offset`(response: Response) async {
        let basket = Basket()
        let outcome = await failure {
            try await files(response).download(Self.file, from: 4) { basket.take($0) }
        }
        #expect(outcome == response.expected)
        if response.expected == "nothing" {
            #expect(basket.bytes == Array(4..<10))
            #expect(basket.all.first?.offset == 4)
        }
    }

    private static let good = ["ETag": "\"e\""]

    @Test(arguments: [
        Response(status: 201, fields: good, expected: "nothing"),
        Response(status: 200, fields: good, expected: "nothing"),
        Response(status: 201, expected: "bad noETag"),
        Response(status: 201, fields: ["ETag": "W/\"e\""], expected: "bad noETag"),
        Response(status: 201, fields: ["ETag": "e"], expected: "bad noETag"),
        Response(
            status: 201, fields: ["ETag": "\"" + String(repeating: "e", count: 5000) + "\""], expected: "bad noETag"),
        Response(
            status: 201, fields: ["ETag": "\"e\"", "Location": "http://evil.example/files/x"],
            expected: "bad foreignLink"),
        Response(status: 201, fields: ["ETag": "\"e\"", "Location": "//evil.example/x"], expected: "bad foreignLink"),
        Response(status: 201, fields: ["ETag": "\"e\"", "Location": "/files/../x"], expected: "bad foreignLink"),
        Response(status: 201, fields: ["ETag": "\"e\"", "Location": "/files/y"], expected: "nothing"),
        Response(status: 204, fields: good, expected: "bad status"),
        Response(status: 202, fields: good, expected: "bad status"),
        Response(status: 409, expected: "later 409"),
        Response(status: 412, expected: "The server has another file under this ID."),
    ])
    func `an upload is complete only if the server names the file`(response: Response) async {
        #expect(await failure { try await files(response).upload(Sample.file(10)) } == response.expected)
    }

    @Test(arguments: [
        Response(status: 200, fields: good, expected: "bad wrongType"),
        Response(status: 204, expected: "bad size"),
        Response(status: 204, fields: ["Upload-Offset": "-5", "Upload-Length": "2000000"], expected: "bad size"),
        Response(status: 204, fields: ["Upload-Offset": "3000000", "Upload-Length": "2000000"], expected: "bad size"),
        Response(status: 206, expected: "bad status"), Response(status: 500, expected: "later 500"),
    ])
    func `the uploaded offset is not guessed`(response: Response) async {
        #expect(await failure { try await files(response).upload(Sample.file(2_000_000)) } == response.expected)
    }

    @Test func `an upload does not continue a partial upload of another file`() async throws {
        let ranges = Synchronized<[String?]>([])
        for fields in [
            ["Upload-Offset": "1000000", "Upload-Length": "2000001"],
            ["Upload-Offset": "1000000", "Upload-Length": "2000000"],
            ["Upload-Offset": "2000000", "Upload-Length": "2000000"],
        ] {
            let files = TandemFiles(
                ServerAddress("http://shop.example")!,
                over: ScriptedFileTransport { request in
                    var response = HTTPResponse(status: .created, headerFields: [.eTag: "\"e\""])
                    if request.method == .head {
                        response.status = .noContent
                        for (name, value) in fields { response.headerFields[HTTPField.Name(name)!] = value }
                    } else {
                        ranges.change { $0.append(request.headerFields[.contentRange]) }
                    }
                    return (response, [])
                })
            _ = try await files.upload(Sample.file(2_000_000))
        }
        #expect(ranges.value == [nil, nil, nil])
    }
}
