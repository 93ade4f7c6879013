import DatasyncWire
import Foundation
import HTTPTypes
import Synchronization
import TandemServerCore
import TandemSync
import TandemTesting
import TestSupport
import Testing

/// Files on a server that speaks our protocol, without a socket.
@Suite(.ownThreads) struct TandemFilesTests {
    private static let address = ServerAddress("http://shop.example/api")!
    private static let plain = ServerAddress("http://shop.example")!

    private func files(_ line: InProcessFileTransport, _ authentication: Authentication? = nil) -> TandemFiles {
        TandemFiles(Self.plain, over: line, authentication: authentication)
    }

    @Test(arguments: [0, 1, 262_143, 262_144, 262_145, 1 << 20, (1 << 20) + 1, 5_000_000])
    func `a file is downloaded as it was uploaded`(count: Int) async throws {
        let line = try InProcessFileTransport()
        let files = files(line)
        let file = Sample.file(count)
        let reported = Mutex<[Int64]>([])
        let uploaded = try await files.upload(file) { sent in reported.withLock { $0.append(sent) } }
        #expect(uploaded.url == "http://shop.example/files/\(Sample.id)")
        let progress = reported.withLock { $0 }
        #expect(progress == progress.sorted())
        #expect(progress.last == Int64(count))
        let stored = try #require(try line.fileServer.files().first)
        #expect(stored.name == file.name)
        #expect(stored.contentType == "image/jpeg")
        let remote = RemoteFile(url: uploaded.url, etag: uploaded.etag, size: Int64(count))
        let basket = Basket()
        let served = try await files.download(remote, from: 0) { basket.take($0) }
        #expect(basket.bytes == Sample.bytes(count))
        #expect(served == ServedFile(size: Int64(count), etag: uploaded.etag, sha256: file.sha256))
        #expect(basket.all.allSatisfy { $0.bytes.count <= FilePiece.greatestSize && $0.file == served })
        #expect(
            try await files.upload(file) == UploadedFile(url: uploaded.url, etag: uploaded.etag, wasThere: true))
        // A small file is sent at once. A larger one is first looked up on the server.
        #expect(line.requests.prefix(2) == (count <= 1 << 20 ? ["PUT", "GET"] : ["HEAD", "PUT"]))
        try await files.delete(remote)
        #expect(await failure { try await files.delete(remote) } == "not found")
        #expect(await failure { try await files.fetch(remote) } == "not found")
    }

    @Test(arguments: 1...20) func `an upload continues after an interruption`(seed: UInt64) async throws {
        var generator = SeededGenerator(seed: seed)
        let count = 3_000_000
        // Offsets within each attempt, with HEADs between them.
        let cuts = (0..<3).map { _ in Int64.random(in: 0...1_200_000, using: &generator) }
        let line = try InProcessFileTransport { configuration in
            configuration.faults = .script(cuts.flatMap { [[], [.cutRequest(after: $0)]] })
        }
        let files = files(line)
        let file = Sample.file(count, seed: seed)
        var attempts = 0
        while true {
            attempts += 1
            let outcome = await failure { try await files.upload(file) }
            if outcome == "nothing" { break }
            #expect(outcome == "lost: Broken", "cuts: \(cuts)")
        }
        let stored = try line.fileServer.bytes(of: Sample.id, count: count)
        #expect(stored == Sample.bytes(count, seed: seed), "cuts: \(cuts)")
        // Only the pieces under way are sent twice: one for each interruption.
        #expect(line.sent <= Int64(count + attempts * (256 << 10)), "cuts: \(cuts)")
    }

    @Test(arguments: [1000, 2_000_000]) func `a lost response has no effect`(count: Int) async throws {
        let isLarge = count > 1 << 20
        let line = try InProcessFileTransport { $0.faults = .script((isLarge ? [[]] : []) + [[.lostResponse]]) }
        let files = files(line)
        #expect(await failure { try await files.upload(Sample.file(count)) } == "lost: Broken")
        let sent = line.sent
        let uploaded = try await files.upload(Sample.file(count))
        #expect(try await files.fetch(RemoteFile(url: uploaded.url)) == Sample.bytes(count))
        // No byte of a large file is sent twice.
        if isLarge { #expect(line.sent == sent) }
    }

    @Test func `a download continues from an offset`() async throws {
        let line = try InProcessFileTransport { $0.faults = .script([[], [], [.cutResponse(after: 1_000_001)]]) }
        let files = files(line)
        let bytes = Sample.bytes(3_000_000)
        let uploaded = try await files.upload(Sample.file(3_000_000))
        let file = RemoteFile(url: uploaded.url, etag: uploaded.etag)
        let basket = Basket()
        #expect(await failure { try await files.download(file, from: 0) { basket.take($0) } } == "lost: Cut")
        let offset = basket.bytes.count
        #expect(offset == 1_000_001)
        _ = try await files.download(file, from: Int64(offset)) { basket.take($0) }
        #expect(basket.bytes == bytes)
        #expect(basket.all.map(\.offset) == basket.all.map(\.offset).sorted())
        #expect(await failure { try await files.fetch(file, from: 3_000_000) } == "changed")
        #expect(await failure { try await files.fetch(file, from: 9_000_000) } == "changed")
    }

    @Test func `a changed file is reported`() async throws {
        let line = try InProcessFileTransport()
        let files = files(line)
        let uploaded = try await files.upload(Sample.file(1000))
        for count in [1000, 2_000_000] {
            #expect(await failure { try await files.upload(Sample.file(count, seed: 2)) }.contains("another file"))
        }
        let other = RemoteFile(url: uploaded.url, etag: "other")
        #expect(await failure { try await files.fetch(other) } == "changed")
        #expect(await failure { try await files.delete(other) } == "changed")
        #expect(await failure { try await files.fetch(RemoteFile(url: uploaded.url, size: 999)) } == "bad size")
        #expect(try await files.fetch(RemoteFile(url: uploaded.url)) == Sample.bytes(1000))
    }

    @Test func `rejections of the server are reported`() async throws {
        let line = try InProcessFileTransport { configuration in
            configuration.files?.limit = 1500
            configuration.faults = .script([[], [.wrongHash], [.status(507)], [.status(503)], [.status(403)]])
        }
        let files = files(line)
        #expect(await failure { try await files.upload(Sample.file(1501)) }.contains("larger"))
        #expect(await failure { try await files.upload(Sample.file(1000)) }.contains("hash"))
        #expect(await failure { try await files.upload(Sample.file(1000)) }.contains("no space"))
        #expect(await failure { try await files.upload(Sample.file(1000)) } == "later 503")
        #expect(await failure { try await files.upload(Sample.file(1000)) } == "refused 403: ")
        var lying = Sample.file(1000)
        lying.sha256 = Sample.file(1000, seed: 2).sha256
        let wrong = lying
        #expect(await failure { try await files.upload(wrong) }.contains("hash"))
        #expect(try line.fileServer.files().isEmpty)
    }

    private struct Ending: FileBytes {
        let count: Int
        func read(at offset: Int64, count: Int) throws -> [UInt8] {
            if offset >= 600_000 { throw CocoaError(.fileReadNoSuchFile) }
            return [UInt8](repeating: 1, count: max(0, min(count, self.count - Int(offset))))
        }
    }

    @Test func `unreadable bytes end the upload`() async throws {
        let line = try InProcessFileTransport()
        let files = files(line)
        var file = Sample.file(900_000)
        file.bytes = Ending(count: 300_000)
        let short = file
        #expect(
            await failure { try await files.upload(short) }
                == "unreadable: The file ends after 300000 bytes, and was said to have 900000.")
        file.bytes = Ending(count: 900_000)
        let broken = file
        #expect(await failure { try await files.upload(broken) }.hasPrefix("unreadable: "))
        // The partial upload stays, and is removed when the correct bytes arrive.
        #expect(try line.fileServer.offset(of: Sample.id) != nil)
        _ = try await files.upload(Sample.file(900_000))
        #expect(try line.fileServer.bytes(of: Sample.id, count: 900_000) == Sample.bytes(900_000))
    }

    @Test func `an error of the receiver ends the download`() async throws {
        struct Full: Error {}
        let files = files(try InProcessFileTransport())
        let uploaded = try await files.upload(Sample.file(900_000))
        let calls = Synchronized(0)
        let outcome = await failure {
            try await files.download(RemoteFile(url: uploaded.url), from: 0) { _ in
                calls.change { $0 += 1 }
                throw Full()
            }
        }
        #expect(outcome == "not taken: Full()")
        #expect(calls.value == 1)
    }

    @Test func `new credentials are requested once after a 401`() async throws {
        let line = try InProcessFileTransport { configuration in
            configuration.user = { $0 == "new" ? "anna" : nil }
            configuration.files?.isPerUser = true
        }
        let reasons = Synchronized<[AuthenticationReason]>([])
        let files = files(line) { reason in
            reasons.change { $0.append(reason) }
            return .bearer(reason == .first ? "old" : "new")
        }
        let reported = Synchronized<[Int64]>([])
        let uploaded = try await files.upload(Sample.file(600_000)) { sent in reported.change { $0.append(sent) } }
        #expect(reasons.value == [.first, .refused(status: 401)])
        #expect(reported.value == reported.value.sorted())
        #expect(try await files.fetch(RemoteFile(url: uploaded.url)) == Sample.bytes(600_000))
        let refused = self.files(line) { _ in .bearer("old") }
        #expect(await failure { try await refused.upload(Sample.file(2_000_000)) } == "unauthenticated")
        #expect(await failure { try await refused.fetch(RemoteFile(url: uploaded.url)) } == "unauthenticated")
        #expect(line.requests == ["PUT", "PUT", "GET", "HEAD", "HEAD", "GET", "GET"])
    }

    @Test(arguments: [
        "https://evil.example/files/x", "http://shop.example.evil/api/files/x", "http://shop.example/files/x",
        "http://shop.example/api/tables/card/x", "http://shop.example/api/files/", "http://shop.example/api/files/..",
        "http://shop.example/api/files/a/b", "http://shop.example/api/files/x?y", "http://shop.example/api/files/x#y",
        "http://shop.example/api/files/x\r\nX: y", "http://user@shop.example/api/files/x", "/api/files/x", "",
        "file:///etc/passwd", "http://shop.example/api/files/%2e%2e%2ftables",
    ])
    func `a URL of another server is never requested`(url: String) async {
        let files = TandemFiles(
            Self.address,
            over: ScriptedFileTransport { request in
                Issue.record("asked for \(request.path ?? "")")
                return (HTTPResponse(status: .ok), [])
            })
        #expect(await failure { try await files.fetch(RemoteFile(url: url)) } == "notEncodable invalidID")
        #expect(await failure { try await files.delete(RemoteFile(url: url)) } == "notEncodable invalidID")
    }

    @Test func `a file with a former address of the server is requested at the present one`() async throws {
        let line = try InProcessFileTransport()
        let uploaded = try await files(line).upload(Sample.file(1000))
        let moved = TandemFiles(
            ServerAddress("https://cards.example")!, formerAddresses: [Self.plain], over: line)
        let remote = RemoteFile(url: uploaded.url, etag: uploaded.etag)
        #expect(try await moved.fetch(remote) == Sample.bytes(1000))
        // Another row may have the file's present URL.
        #expect(await failure { try await moved.delete(remote) } == "notEncodable invalidID")
        #expect(try line.fileServer.files().count == 1)
        let unknown = RemoteFile(url: "https://evil.example/files/\(Sample.id)")
        #expect(await failure { try await moved.fetch(unknown) } == "notEncodable invalidID")
        // A new file gets the present address.
        #expect(try await moved.upload(Sample.file(1000)).url == "https://cards.example/files/\(Sample.id)")
    }

    @Test func `host, port and path of a former address are replaced`() async throws {
        let requested = Synchronized<[String]>([])
        let files = TandemFiles(
            Self.address, formerAddresses: [ServerAddress("https://old.example:8443/v1")!],
            over: ScriptedFileTransport { request in
                let place = "\(request.scheme ?? "-")://\(request.authority ?? "-")\(request.path ?? "-")"
                requested.change { $0.append(place) }
                return (HTTPResponse(status: .noContent), [])
            })
        _ = await failure { try await files.fetch(RemoteFile(url: "https://old.example:8443/v1/files/x")) }
        #expect(requested.value == ["http://shop.example/api/files/x"])
    }

    @Test func `a path that is not a file is not sent`() async {
        let files = TandemFiles(
            Self.address,
            over: ScriptedFileTransport { _ in
                Issue.record("asked")
                return (HTTPResponse(status: .ok), [])
            })
        let changes: [@Sendable (inout OutgoingFile) -> Void] = [
            { $0.id = "../../etc/passwd" }, { $0.id = "00112233445566778899AABBCCDDEEFF" }, { $0.sha256 = "" },
            { $0.size = -1 }, { $0.contentType = "a\r\nX: y" }, { $0.contentType = "фото" },
            { $0.name = String(repeating: "ж", count: 513) },
        ]
        for change in changes {
            var file = Sample.file(10)
            change(&file)
            let changed = file
            #expect(await failure { try await files.upload(changed) }.hasPrefix("notEncodable"))
        }
        let quoted = RemoteFile(url: "http://shop.example/api/files/x", etag: "a\"b")
        #expect(await failure { try await files.fetch(quoted) } == "notEncodable invalidVersion")
    }
}
