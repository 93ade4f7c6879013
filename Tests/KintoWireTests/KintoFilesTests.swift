import HTTPTypes
import KintoWire
import RemoteHTTP
import Synchronization
import Tandem
import TandemSync
import TandemTesting
import TestSupport
import Testing

@Suite(.ownThreads) struct KintoFilesTests {
    private static let url = "https://shop.example/v1/buckets/b/collections/files/records"

    private func makeFile(_ text: String, name: String = "чек.JPG") -> OutgoingFile {
        OutgoingFile(
            id: "0123456789abcdef0123456789abcdef", name: name, contentType: "image/jpeg", bytes: Array(text.utf8))
    }

    private func makeFiles(_ kinto: FakeKinto, authentication: Authentication? = nil) -> KintoFiles {
        KintoFiles(KintoRemote(kinto, creates: true, authentication: authentication), over: kinto)
    }

    /// Returns the downloaded text.
    private func text(_ file: RemoteFile, from offset: Int64 = 0, of files: KintoFiles) async throws -> String {
        let bytes = Mutex<[UInt8]>([])
        _ = try await files.download(file, from: offset) { piece in bytes.withLock { $0 += piece.bytes } }
        return String(decoding: bytes.withLock { $0 }, as: UTF8.self)
    }

    @Test(.timeLimit(.minutes(10)), arguments: RemoteFilesConformance.requirements)
    func `a requirement is met`(requirement: RemoteFilesConformance.Requirement) async throws {
        try await requirement.check(on: makeFiles(FakeKinto("files")))
    }

    @Test func `a file's URL is its record, and the URL of its bytes is in no result`() async throws {
        let kinto = FakeKinto("files")
        let uploaded = try await makeFiles(kinto).upload(makeFile("hello"))
        #expect(uploaded.url == "\(Self.url)/0123456789abcdef0123456789abcdef")
        #expect(kinto.record("0123456789abcdef0123456789abcdef", in: "files") != nil)
        // The hash. The record's version changes with its permissions.
        #expect(uploaded.etag == makeFile("hello").sha256)
    }

    @Test(arguments: [
        ("чек.JPG", ".jpg"), ("a.b.Tar9", ".tar9"), ("a", ""), ("a.", ""), ("a.é", ""), ("a.j\"g", ""),
        ("a.abcdefghijklmnop", ".abcdefghijklmnop"), ("a.abcdefghijklmnopq", ""),
    ])
    func `a file's extension is sent if it has 1 to 16 letters and digits`(name: String, sent: String) async throws {
        let kinto = FakeKinto("files")
        _ = try await makeFiles(kinto).upload(makeFile("hello", name: name))
        let record = try #require(kinto.record("0123456789abcdef0123456789abcdef", in: "files"))
        guard case .object(let members)? = record.members["attachment"] else {
            Issue.record("The record has no attachment.")
            return
        }
        // The extension decides whether the server accepts the file. The name is only in the app's row.
        #expect(members["filename"] == .text("0123456789abcdef0123456789abcdef\(sent)"))
    }

    @Test func `a missing collection of files is created`() async throws {
        let kinto = FakeKinto()
        let uploaded = try await makeFiles(kinto).upload(makeFile("hello"))
        #expect(try await text(RemoteFile(url: uploaded.url), of: makeFiles(kinto)) == "hello")
    }

    /// The deletion run then forgets the file. Kinto answers 403 if the user may not read the whole collection.
    @Test(arguments: [false, true])
    func `a file that is deleted again after a lost response is not found`(isShared: Bool) async throws {
        let kinto = FakeKinto("files")
        let files = makeFiles(kinto)
        let uploaded = try await files.upload(makeFile("hello"))
        let file = RemoteFile(url: uploaded.url, etag: uploaded.etag)
        if isShared {
            let visible: Set = ["0123456789abcdef0123456789abcdef", "other"]
            kinto.state.withLock { $0.shared["files"] = .init(visible: visible) }
        }
        // The record is read first.
        kinto.fail(.fields([:]), .lostResponse)
        for outcome in ["lost Lost", "notFound"] {
            #expect(await line { () async throws(RemoteFailure) in try await files.delete(file) } == outcome)
        }
        #expect(kinto.live(in: "files") == [])
    }

    /// A change of the permissions between the look-up and the delete also causes a 412. The deletion run forgets a
    /// replaced file, so that this one would stay on the server.
    @Test func `a delete is repeated if only the record's version has changed`() async throws {
        let kinto = FakeKinto("files")
        let files = makeFiles(kinto)
        let uploaded = try await files.upload(makeFile("hello"))
        let file = RemoteFile(url: uploaded.url, etag: uploaded.etag)
        // Each attempt reads the record, then deletes it.
        for _ in 0..<4 { kinto.fail(.fields([:]), .response(412)) }
        let outcome = await line { () async throws(RemoteFailure) in try await files.delete(file) }
        #expect(outcome == "later 412 -")
        #expect(kinto.live(in: "files").count == 1)
        kinto.fail(.fields([:]), .response(412))
        try await files.delete(file)
        #expect(kinto.live(in: "files").isEmpty)
    }

    @Test func `a file that is replaced between the look-up and the delete is not deleted`() async throws {
        let kinto = FakeKinto("files")
        let files = makeFiles(kinto)
        let uploaded = try await files.upload(makeFile("hello"))
        let gate = Gate()
        kinto.clearLog()
        kinto.fail(.fields([:]), .wait(gate))
        async let outcome = line { () async throws(RemoteFailure) in
            try await files.delete(RemoteFile(url: uploaded.url, etag: uploaded.etag))
        }
        try await kinto.waitForRequests(2)
        let other = JSONNode.object([("hash", .text("x")), ("location", .text("a")), ("size", .integer(5))])
        kinto.put("0123456789abcdef0123456789abcdef", [("attachment", other)], in: "files")
        gate.open()
        #expect(await outcome == "file")
        #expect(kinto.live(in: "files").count == 1)
        #expect(kinto.requests.map { $0.prefix(3) } == ["GET", "DEL", "GET"])
    }

    @Test func `a user who may only create files uploads one, and does not see another user's`() async throws {
        let kinto = FakeKinto("files")
        kinto.state.withLock { $0.shared["files"] = .init(mayCreate: true) }
        let files = makeFiles(kinto)
        for wasThere in [false, true] {
            let uploaded = try await files.upload(makeFile("hello"))
            #expect(uploaded.wasThere == wasThere)
            #expect(try await text(RemoteFile(url: uploaded.url, etag: uploaded.etag), of: files) == "hello")
        }
        kinto.state.withLock { $0.shared["files"] = .init(mayCreate: true) }
        let hidden = RemoteFile(url: "\(Self.url)/0123456789abcdef0123456789abcdef")
        let outcome = await line { () async throws(RemoteFailure) in
            try await files.download(hidden, from: 0) { _ in }
        }
        #expect(outcome.hasPrefix("refused 403"))
    }

    @Test func `a file that is shared keeps its ETag`() async throws {
        let kinto = FakeKinto("files")
        let (files, server) = (makeFiles(kinto), makeFiles(kinto))
        let uploaded = try await files.upload(makeFile("hello"))
        let photo = Attachment(atServerURL: uploaded.url)
        try await server.share(photo, with: .account("maria"))
        #expect(
            kinto.state.withLock { $0.permissions["0123456789abcdef0123456789abcdef"]?["read"] } == ["account:maria"])
        let file = RemoteFile(url: uploaded.url, etag: uploaded.etag)
        #expect(try await text(file, of: files) == "hello")
        try await server.unshare(photo, from: .account("maria"))
        #expect(kinto.state.withLock { $0.permissions["0123456789abcdef0123456789abcdef"]?["read"] } == [])
        try await files.delete(file)
        #expect(kinto.live(in: "files").isEmpty)
    }

    @Test func `a file of another server is not shared`() async {
        let kinto = FakeKinto("files")
        let photo = Attachment(atServerURL: "https://elsewhere.example/a")
        let error = await #expect(throws: SyncError.self) {
            try await makeFiles(kinto).share(photo, with: .everyone)
        }
        #expect(error?.code == .notEncodable)
        #expect(kinto.requests.isEmpty)
    }

    /// Stores of earlier builds have the version.
    @Test func `a file's ETag may be the version of its record`() async throws {
        let kinto = FakeKinto("files")
        let files = makeFiles(kinto)
        let uploaded = try await files.upload(makeFile("hello"))
        let version = try #require(kinto.record("0123456789abcdef0123456789abcdef", in: "files")).time
        let file = RemoteFile(url: uploaded.url, etag: String(version))
        #expect(try await text(file, of: files) == "hello")
        try await files.delete(file)
        #expect(kinto.live(in: "files").isEmpty)
    }

    @Test func `a download from an offset drops the bytes before it`() async throws {
        let kinto = FakeKinto("files")
        let uploaded = try await makeFiles(kinto).upload(makeFile("hello"))
        #expect(try await text(RemoteFile(url: uploaded.url), from: 3, of: makeFiles(kinto)) == "lo")
        #expect(kinto.heads.last?.headerFields[.range] == nil)
    }

    @Test func `a file with another content under the same ID is refused`() async throws {
        let kinto = FakeKinto("files")
        _ = try await makeFiles(kinto).upload(makeFile("hello"))
        let outcome = await line { () async throws(RemoteFailure) in
            try await makeFiles(kinto).upload(makeFile("other"))
        }
        #expect(outcome == "file")
    }

    @Test func `an upload whose response is lost is found by the next one`() async throws {
        let kinto = FakeKinto("files")
        let files = makeFiles(kinto)
        // The look-up of the record, then the form.
        kinto.fail(.fields([:]), .lostResponse)
        let outcome = await line { () async throws(RemoteFailure) in try await files.upload(makeFile("hello")) }
        #expect(outcome == "lost Lost")
        #expect(try await files.upload(makeFile("hello")).wasThere)
    }

    @Test func `credentials are sent to Kinto, renewed once, and never sent to the server of the bytes`() async throws {
        let kinto = FakeKinto("files")
        kinto.state.withLock { $0.accepted = ["Bearer t2"] }
        let count = Mutex(0)
        let files = makeFiles(kinto) { _ in
            let number = count.withLock { count in
                count += 1
                return count
            }
            return .bearer("t\(number)")
        }
        let uploaded = try await files.upload(makeFile("hello"))
        #expect(try await text(RemoteFile(url: uploaded.url), of: files) == "hello")
        kinto.state.withLock { $0.accepted = ["Bearer t3"] }
        try await files.delete(RemoteFile(url: uploaded.url, etag: uploaded.etag))
        for (request, head) in zip(kinto.requests, kinto.heads) where request.contains("files.example") {
            #expect(head.headerFields[.authorization] == nil)
        }
        #expect(kinto.requests.contains { $0.contains("files.example") })
    }

    @Test func `a form that the server refuses for its credentials is sent again with new ones`() async throws {
        let kinto = FakeKinto("files")
        kinto.fail(.fields([:]), .response(401))
        let count = Mutex(0)
        let files = makeFiles(kinto) { _ in
            count.withLock { $0 += 1 }
            return .bearer("t")
        }
        _ = try await files.upload(makeFile("hello"))
        #expect(count.withLock { $0 } == 2)
    }

    @Test(arguments: [
        "https://evil.example/v1/buckets/b/collections/files/records/a", "\(url)/../../Card/records/a", "\(url)/",
        "\(url)/a/b", "\(url)/a?x=1", "https://shop.example/v1/buckets/b/collections/Card/records/a", "",
    ])
    func `a URL outside of the collection of files is refused before it is requested`(url: String) async {
        let kinto = FakeKinto("files", "Card")
        let files = makeFiles(kinto)
        let download = await line { () async throws(RemoteFailure) in
            try await files.download(RemoteFile(url: url), from: 0) { _ in }
        }
        let delete = await line { () async throws(RemoteFailure) in try await files.delete(RemoteFile(url: url)) }
        #expect(download == "notEncodable invalidID" && delete == "notEncodable invalidID")
        #expect(kinto.requests.isEmpty)
    }

    @Test(arguments: [
        "https://evil.example/secret", "https://files.example/other/secret", "//evil.example/secret",
        "https://files.example/files/../secret", "https://files.example.evil/files/secret", "file:///secret",
    ])
    func `bytes outside of the announced folder are not requested, and no error names their URL`(
        location: String
    ) async {
        let kinto = FakeKinto("files")
        let attachment = JSONNode.object([
            ("hash", .text("x")), ("location", .text(location)), ("size", .integer(5)),
        ])
        kinto.put("a", [("attachment", attachment)], in: "files")
        let files = makeFiles(kinto)
        do throws(RemoteFailure) {
            _ = try await files.download(RemoteFile(url: "\(Self.url)/a"), from: 0) { _ in }
            Issue.record("The download succeeded.")
        } catch {
            #expect(error.line == "invalidResponse foreignLink" || error.line == "notFound")
            #expect(!"\(error)".contains("secret"))
        }
        #expect(!kinto.requests.contains { $0.contains("evil") || $0.contains("secret") && !$0.contains("/files/") })
    }

    @Test func `an error of the server of the bytes names the record only`() async throws {
        let kinto = FakeKinto("files")
        let files = makeFiles(kinto)
        let uploaded = try await files.upload(makeFile("hello"))
        for status in [200, 206, 403, 500] {
            // The record, then the bytes. The folder is requested before the first of them.
            kinto.fail(.fields([:]))
            if status == 200 { kinto.fail(.fields([:])) }
            kinto.fail(.response(status, [.contentLength: "9"], "123456789"))
            do throws(RemoteFailure) {
                _ = try await files.download(RemoteFile(url: uploaded.url), from: 0) { _ in }
                Issue.record("The download succeeded.")
            } catch {
                var dumped = "\(error)"
                dump(error, to: &dumped)
                #expect(!dumped.contains("files.example"))
            }
        }
    }

    @Test func `a server without the plugin says so`() async throws {
        let kinto = FakeKinto("files")
        kinto.state.withLock { $0.attachments = nil }
        kinto.fail(.fields([:]), .response(404, [.contentType: "text/html"], "<p>"))
        let files = makeFiles(kinto)
        let upload = await line { () async throws(RemoteFailure) in try await files.upload(makeFile("hello")) }
        #expect(upload == "refused 404 The server has no plugin kinto-attachment.")
        let attachment = JSONNode.object([("hash", .text("x")), ("location", .text("a")), ("size", .integer(5))])
        kinto.put("a", [("attachment", attachment)], in: "files")
        let download = await line { () async throws(RemoteFailure) in
            try await files.download(RemoteFile(url: "\(Self.url)/a"), from: 0) { _ in }
        }
        #expect(download == "refused 404 The server has no plugin kinto-attachment.")
    }

    @Test(arguments: [
        (400, #"{"message":"File size (9 bytes) exceeds the limit (5 bytes)."}"#, "file"),
        (413, "", "file"),
        (400, #"{"message":"File extension is not allowed."}"#, "refused 400 File extension is not allowed."),
        (403, #"{"message":"No."}"#, "refused 403 No."), (503, "", "later 503 -"),
        (201, "{}", "invalidResponse noETag"),
    ])
    func `a refused upload has its reason`(status: Int, body: String, expected: String) async {
        let kinto = FakeKinto("files")
        kinto.fail(.fields([:]), .response(status, [.contentType: "application/json"], body))
        let files = makeFiles(kinto)
        let outcome = await line { () async throws(RemoteFailure) in try await files.upload(makeFile("hello")) }
        #expect(outcome == expected)
    }
}
