import DatasyncWire
import Foundation
import HTTPTypes
import TandemSync
import TandemTesting
import TestSupport
import Testing

/// Files at signed URLs, and with closures.
@Suite(.ownThreads) struct SignedURLFilesTests {
    @Test func `an upload is sent to the signed URL, whose signature is not stored`() async throws {
        let storage = FakeStorage()
        let uploaded = try await storage.files.upload(Sample.file(500_000))
        #expect(uploaded.url == "https://storage.example/shop/\(Sample.id)")
        #expect(uploaded.etag?.isEmpty == false)
        #expect(storage.requests == ["PUT /shop/\(Sample.id)?signature=put"])
        let remote = RemoteFile(url: uploaded.url, etag: uploaded.etag, size: 500_000)
        #expect(try await storage.files.fetch(remote, from: 400_000) == Array(Sample.bytes(500_000)[400_000...]))
        try await storage.files.delete(remote)
        #expect(storage.names.isEmpty)
    }

    private func files(
        _ put: SignedRequest, delete: SignedRequest? = nil,
        _ status: @escaping @Sendable (HTTPRequest) -> Int = { _ in 200 },
        _ body: String = ""
    ) -> SignedURLFiles {
        SignedURLFiles(
            over: ScriptedFileTransport { (HTTPResponse(status: .init(code: status($0))), [Array(body.utf8)]) }
        ) { _ in
            SignedUpload(put)
        } download: { _ in
            put
        } delete: { _ in
            delete
        }
    }

    @Test(arguments: [
        "", "storage.example/x", "ftp://storage.example/x", "https://", "https://storage.example/x y",
        "https://storage.example/x#y", "https://storage.example/x\r\nX: y", "https://user:pw@storage.example/x",
    ])
    func `an invalid URL is not requested`(url: String) async {
        let files = files(SignedRequest(url: url)) { _ in
            Issue.record("asked")
            return 200
        }
        #expect(await failure { try await files.upload(Sample.file(10)) } == "notEncodable invalidID")
        #expect(await failure { try await files.fetch(RemoteFile(url: "x")) } == "notEncodable invalidID")
    }

    @Test func `the app's fields and query are sent unchanged`() async throws {
        let asked = Synchronized<[HTTPRequest]>([])
        let url = "http://storage.example:9000/shop%20a/x?X-Amz-Signature=a%2Fb&y=?z"
        let signed = SignedRequest(
            url: url, fields: [.contentType: "text/plain", HTTPField.Name("content-md5")!: "abc=="])
        let files = files(signed) { request in
            asked.change { $0.append(request) }
            return 200
        }
        let uploaded = try await files.upload(Sample.file(10))
        #expect(uploaded.url == "http://storage.example:9000/shop%20a/x")
        #expect(uploaded.etag == nil)
        let request = try #require(asked.value.first)
        #expect(request.authority == "storage.example:9000")
        #expect(request.path == "/shop%20a/x?X-Amz-Signature=a%2Fb&y=?z")
        #expect(request.headerFields[values: .contentType] == ["text/plain"])
        #expect(request.headerFields[HTTPField.Name("content-md5")!] == "abc==")
        #expect(!"\(signed) \(String(reflecting: signed))".contains("Amz"))
        // Without a signature for the delete, the file stays.
        try await files.delete(RemoteFile(url: uploaded.url))
        #expect(asked.value.count == 1)
    }

    @Test(arguments: [
        (400, "BadDigest", "hash"), (400, "EntityTooLarge", "larger"), (400, "RequestTimeout", "later 400"),
        (503, "SlowDown", "later 503"), (403, "AccessDenied", "refused 403: AccessDenied"),
        (401, "", "refused 401"), (404, "NoSuchBucket", "refused 404: NoSuchBucket"),
        (500, "InternalError", "later 500"),
        (412, "PreconditionFailed", "another file"), (307, "", "later 307"), (400, "Other", "refused 400"),
    ])
    func `a rejection is read from the storage's message`(status: Int, code: String, expected: String) async {
        let files = files(
            SignedRequest(url: "https://storage.example/x"), { _ in status }, "<Error><Code>\(code)</Code>")
        #expect(await failure { try await files.upload(Sample.file(10)) }.contains(expected))
    }

    @Test func `an app that does not sign is asked again later`() async {
        struct NoSession: Error {}
        let files = SignedURLFiles(over: FakeStorage()) { _ in
            throw NoSession()
        } download: { _ in
            throw RemoteFailure.notFound
        } delete: { _ in
            throw CancellationError()
        }
        #expect(await failure { try await files.upload(Sample.file(10)) } == "not sent: NoSession")
        #expect(await failure { try await files.fetch(RemoteFile(url: "x")) } == "not found")
        #expect(await failure { try await files.delete(RemoteFile(url: "x")) } == "not sent: CancellationError")
    }

    @Test(arguments: [
        [(0, 5), (5, 6)], [(0, 5)], [(0, 5), (4, 5)], [(0, 5), (6, 4)], [(1, 9)], [(0, 11)], [],
    ])
    func `closures that return too many or too few bytes are detected`(pieces: [(Int, Int)]) async {
        let files = ClosureFiles { _, _ in
            UploadedFile(url: "x", etag: nil)
        } download: { _, _, take in
            let served = ServedFile(size: 10)
            for (offset, count) in pieces {
                try await take(
                    FilePiece(bytes: [UInt8](repeating: 1, count: count), offset: Int64(offset), file: served))
            }
            return served
        } delete: { _ in
        }
        #expect(await failure { try await files.fetch(RemoteFile(url: "x")) } == "bad size")
    }

    @Test func `an error of a closure is a failure`() async {
        struct Odd: Error {}
        let files = ClosureFiles { _, progress in
            progress(5)
            progress(3)
            progress(500)
            return UploadedFile(url: "x", etag: nil)
        } download: { _, _, _ in
            throw Odd()
        } delete: { _ in
            throw RemoteFailure.file(.changed)
        }
        let reported = Synchronized<[Int64]>([])
        #expect(
            await failure { try await files.upload(Sample.file(10)) { sent in reported.change { $0.append(sent) } } }
                == "nothing")
        #expect(reported.value == [5, 10])
        #expect(await failure { try await files.fetch(RemoteFile(url: "x")) } == "lost: Odd")
        #expect(await failure { try await files.delete(RemoteFile(url: "x")) } == "changed")
    }
}
