import Foundation
import HTTPTypes
import Synchronization
import TandemDatasync
import TandemServer
import TandemSync
import TandemTesting
import Testing

/// Uploads and downloads of files over sockets.
extension SocketTests {
    @Suite struct FileRoundTripTests {
        @Test(arguments: [0, 1, 65_536, 1 << 20, (1 << 20) + 1, 20 << 20], [false, true])
        func `a downloaded file equals the uploaded one`(count: Int, isStored: Bool) async throws {
            try await FileSockets.run(isStored: isStored) { files, storage async throws in
                let file = FileSockets.file(count)
                let uploaded = try await files.upload(file)
                #expect(try storage.files().map(\.name) == ["чек № 1.jpg"])
                let remote = RemoteFile(url: uploaded.url, etag: uploaded.etag, size: Int64(count))
                let basket = Basket()
                let served = try await files.download(remote, from: 0) { basket.take($0) }
                #expect(basket.bytes == FileSockets.bytes(count))
                #expect(served.sha256 == file.sha256)
                let again = UploadedFile(url: uploaded.url, etag: uploaded.etag, wasThere: true)
                #expect(try await files.upload(file) == again)
                try await files.delete(remote)
                #expect(await fileFailure { try await files.delete(remote) } == "not found")
                #expect(try storage.files().isEmpty)
            }
        }

        @Test(arguments: [
            "чек\nстраница 2\r\nX-Evil: 1.jpg", String(repeating: "ж", count: 150), "..", "", "ჩეკი \"1\"; 小票",
        ])
        func `a name with any characters is transferred unchanged`(name: String) async throws {
            try await FileSockets.run { files, storage async throws in
                _ = try await files.upload(FileSockets.file(10, name: name))
                #expect(try storage.files().map(\.name) == [name])
            }
        }

        @Test(.enabled(if: TestCertificate.isPossible)) func `files use TLS with the transport's trusted certificates`()
            async throws
        {
            let certificate = try TestCertificate()
            let shown = try ServerCertificate(pem: certificate.pem, privateKeyPEM: certificate.keyPEM)
            try await FileSockets.run(tls: shown, trust: .certificates(pem: certificate.pem)) { files, _ async throws in
                let uploaded = try await files.upload(FileSockets.file(3_000_000))
                let basket = Basket()
                _ = try await files.download(RemoteFile(url: uploaded.url), from: 1_000_000) { basket.take($0) }
                #expect(basket.bytes == Array(FileSockets.bytes(3_000_000)[1_000_000...]))
            }
            try await FileSockets.run(tls: shown) { files, storage async throws in
                let outcome = await fileFailure { try await files.upload(FileSockets.file(3_000_000)) }
                #expect(outcome == "not sent: untrusted")
                #expect(try storage.files().isEmpty)
            }
        }

        @Test(arguments: 1...8) func `an interrupted upload continues where its connection broke`(
            seed: UInt64
        ) async throws {
            var generator = SeededGenerator(seed: seed)
            let count: Int64 = 6_000_000
            let cuts = (0..<4).map { _ in Int64.random(in: 0...1_800_000, using: &generator) }
            // Each attempt first asks for the state, and then sends.
            let faults = ServerFaults.script(cuts.flatMap { [[], [.cutRequest(after: $0)]] })
            let generated = GeneratedFile(count)
            let file = generated.outgoing
            try await FileSockets.run({ $0.faults = faults }) { files, storage async throws in
                var attempts = 1
                while true {
                    let outcome = await fileFailure { try await files.upload(file) }
                    if outcome == "nothing" { break }
                    #expect(outcome == "lost: closed", "cuts: \(cuts)")
                    attempts += 1
                }
                #expect(attempts == cuts.count + 1)
                #expect(try storage.files().map(\.sha256) == [file.sha256])
                // Bytes in flight at a break are sent twice: at most the size of both systems' buffers.
                let waste = generated.read - count
                #expect(waste < Int64(cuts.count) * (6 << 20), "cuts: \(cuts)")
                #expect(try storage.bytes(of: FileSockets.id, count: Int(count))?.count == Int(count))
            }
        }

        @Test(arguments: 1...4) func `an interrupted download continues where its connection broke`(
            seed: UInt64
        ) async throws {
            var generator = SeededGenerator(seed: seed)
            let bytes = FileSockets.bytes(5_000_000)
            let cuts = (0..<4).map { _ in Int64.random(in: 0...1_500_000, using: &generator) }
            let faults = ServerFaults.script([[], []] + cuts.map { [.cutResponse(after: $0)] })
            try await FileSockets.run({ $0.faults = faults }) { files, _ async throws in
                let uploaded = try await files.upload(FileSockets.file(5_000_000))
                let file = RemoteFile(url: uploaded.url, etag: uploaded.etag)
                let basket = Basket()
                var lost = 0
                while true {
                    let offset = Int64(basket.bytes.count)
                    let outcome = await fileFailure {
                        try await files.download(file, from: offset) { basket.take($0) }
                    }
                    if outcome == "nothing" { break }
                    #expect(outcome == "lost: closed")
                    // Only the bytes in flight at the break arrive again.
                    let come = Int64(basket.bytes.count) - offset
                    #expect((max(0, cuts[lost] - (2 << 20))...cuts[lost]).contains(come))
                    lost += 1
                }
                #expect(lost == cuts.count)
                #expect(basket.bytes == bytes)
            }
        }

        @Test(arguments: [1000, 3_000_000]) func `a lost response is resolved by the next upload`(
            count: Int
        ) async throws {
            let isLarge = count > 1 << 20
            let faults = ServerFaults.script((isLarge ? [[]] : []) + [[.lostResponse]])
            try await FileSockets.run({ $0.faults = faults }) { files, storage async throws in
                let file = FileSockets.file(count)
                #expect(await fileFailure { try await files.upload(file) } == "lost: closed")
                let uploaded = try await files.upload(file)
                #expect(uploaded.url.hasSuffix("/files/\(FileSockets.id)"))
                #expect(try storage.files().count == 1)
            }
        }

        @Test func `concurrent uploads of one file create one file`() async throws {
            try await FileSockets.run { files, storage async throws in
                let file = FileSockets.file(3_000_000)
                let outcomes = await withTaskGroup(of: String.self) { group in
                    for _ in 0..<6 { group.addTask { await fileFailure { try await files.upload(file) } } }
                    return await group.reduce(into: [String]()) { $0.append($1) }
                }
                // At least one upload succeeds. The replaced ones get a temporary failure.
                #expect(outcomes.contains("nothing"))
                #expect(Set(outcomes).isSubset(of: ["nothing", "later 409", "lost: closed"]), "\(outcomes)")
                _ = try await files.upload(file)
                #expect(try storage.bytes(of: FileSockets.id, count: 3_000_001) == FileSockets.bytes(3_000_000))
            }
        }

        @Test func `many files are transferred concurrently`() async throws {
            try await FileSockets.run { files, storage async throws in
                let ids = (0..<20).map { number in "00112233445566778899aabbccddee" + String(number + 16, radix: 16) }
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for (number, id) in ids.enumerated() {
                        group.addTask {
                            let file = FileSockets.file(200_000 * number, id: id, seed: UInt64(number))
                            let uploaded = try await files.upload(file)
                            let basket = Basket()
                            _ = try await files.download(RemoteFile(url: uploaded.url), from: 0) { basket.take($0) }
                            #expect(basket.bytes == FileSockets.bytes(200_000 * number, seed: UInt64(number)))
                        }
                    }
                    try await group.waitForAll()
                }
                #expect(try storage.files().map(\.id) == ids)
            }
        }

        @Test func `a refusal during an upload is received`() async throws {
            try await FileSockets.run({ $0.files?.limit = 1000 }) { files, storage async throws in
                // HEAD finds nothing, and PUT is refused before its 20 MiB are sent.
                let generated = GeneratedFile(200 << 20)
                let outcome = await fileFailure { try await files.upload(generated.outgoing) }
                #expect(outcome == "file: The file is larger than the server accepts.")
                #expect(generated.read < 60 << 20)
                #expect(try storage.files().isEmpty)
                // The connection is closed, and the next one works.
                _ = try await files.upload(FileSockets.file(1000))
            }
        }

        @Test func `credentials are requested once more after a 401`() async throws {
            let reasons = Mutex<[AuthenticationReason]>([])
            try await FileSockets.run(
                authentication: { reason in
                    reasons.withLock { $0.append(reason) }
                    return .bearer(reason == .first ? "old" : "new")
                },
                { configuration in
                    configuration.user = { $0 == "new" ? "anna" : nil }
                    configuration.files?.isPerUser = true
                },
                { files, storage async throws in
                    _ = try await files.upload(FileSockets.file(700_000))
                    #expect(try storage.files().map(\.owner) == ["anna"])
                })
            #expect(reasons.withLock { $0 } == [.first, .refused(status: 401)])
        }
    }
}
